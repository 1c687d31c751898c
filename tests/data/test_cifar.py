"""CIFAR: files made in its format, and the real ones where they are at hand."""

import hashlib
import io
import os
import tarfile

import numpy as np
import pytest

import tacit.data._cifar as cifar_file
from tacit.data import (
    CIFAR10,
    CIFAR10_ARCHIVE,
    CIFAR100,
    CIFAR100_ARCHIVE,
    DataMissingError,
    Source,
    cifar,
    cifar_missing,
    image_set,
    image_set_missing,
    read_cifar,
    synthetic_images,
)


def content(count, label_bytes, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (count, label_bytes + 3072)).astype(np.uint8).tobytes()


@pytest.mark.parametrize("label_bytes", [1, 2])
def test_a_file_of_images(label_bytes):
    data = content(3, label_bytes)
    found = read_cifar(data, label_bytes=label_bytes)
    row = np.frombuffer(data, np.uint8).reshape(3, -1)[1]
    assert found.labels[1] == row[label_bytes - 1]
    planes = row[label_bytes:].reshape(3, 32, 32)
    for colour in range(3):
        np.testing.assert_array_equal(found.pixels[1, :, :, colour], planes[colour])


@pytest.mark.parametrize("data", [b"", b"x" * 3074])
def test_other_lengths_are_named(data):
    with pytest.raises(DataMissingError, match=f"has {len(data)} bytes, 3073 belong"):
        read_cifar(data, label_bytes=1)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("classes", [10, 100])
def test_both_sets_unpacked_or_not(classes, packed, tmp_path, monkeypatch):
    files, archive = (CIFAR10, CIFAR10_ARCHIVE) if classes == 10 else (CIFAR100, CIFAR100_ARCHIVE)
    contents = {
        name: content(4, 1 + (classes == 100), place) for place, name in enumerate(files.files)
    }
    folder = tmp_path / files.name
    folder.mkdir()

    def like(source, sums):
        return Source(source.name, sums, source.address, source.credit)

    (name,) = archive.files
    with tarfile.open(tmp_path / name, "w:gz") as made:
        for file, data in contents.items():
            member = tarfile.TarInfo(f"cifar-binary/{file}")
            member.size = len(data)
            made.addfile(member, io.BytesIO(data))
    if packed:
        (tmp_path / name).rename(folder / name)
    else:
        for file, data in contents.items():
            (folder / file).write_bytes(data)
    sums = {file: hashlib.sha256(data).hexdigest() for file, data in contents.items()}
    own = like(files, sums), like(archive, dict.fromkeys(archive.files))
    monkeypatch.setitem(cifar_file._SOURCES, classes, own)
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    found = cifar(classes)
    assert len(found["train"].labels) == 4 * (len(contents) - 1)
    last = list(contents.values())[-1]
    wanted = read_cifar(last, label_bytes=1 + (classes == 100))
    np.testing.assert_array_equal(found["test"].pixels, wanted.pixels)


def test_without_it_there_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    assert "cifar10 is not at hand" in cifar_missing(10)
    with pytest.raises(DataMissingError, match="cifar100 is not at hand"):
        cifar(100)
    with pytest.raises(ValueError, match="classes: received 11"):
        cifar(11)
    (tmp_path / "cifar100").mkdir()
    with tarfile.open(tmp_path / "cifar100" / "a.tar.gz", "w:gz"):
        pass
    with pytest.raises(DataMissingError, match=r"lacks train\.bin"):
        cifar_file.unpacked(tmp_path / "cifar100" / "a.tar.gz", ("train.bin",))


def test_made_up_images_are_always_at_hand_in_any_size():
    assert image_set_missing("waves") is None
    whole = image_set("waves", train=30, test=20)
    assert whole.train.pixels.shape == (30, 32, 32, 3)
    assert len(whole.test.labels) == 20
    small = image_set("waves", train=30, test=20, side=8).train.pixels
    block = whole.train.pixels[3, 4:8, 8:12, 1].mean()
    assert abs(small[3, 1, 2, 1] - block) <= 0.5
    np.testing.assert_array_equal(synthetic_images(5).pixels, synthetic_images(5).pixels)
    # The test has images of its own, of the same classes; numbers of channels lie from 0 to 1.
    equal = image_set("waves", train=20, test=20)
    assert np.mean(equal.test.pixels == equal.train.pixels) < 0.1
    np.testing.assert_array_equal(equal.test.labels, equal.train.labels)
    for numbers in (whole.mean, whole.deviation):
        assert ((numbers > 0.1) & (numbers < 0.9)).all()
    with pytest.raises(ValueError, match="side: received 5"):
        image_set("waves", train=1, test=1, side=5)
    with pytest.raises(ValueError, match="name: received 'mnist'"):
        image_set_missing("mnist")
    with pytest.raises(ValueError, match="count: received 0"):
        synthetic_images(0)


@pytest.mark.skipif(not os.environ.get("TACIT_DATA"), reason="TACIT_DATA is not set")
def test_the_real_one():
    if (sentence := cifar_missing(10)) is not None:
        pytest.skip(sentence)
    found = cifar(10)
    assert found["train"].labels[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
    assert np.bincount(found["test"].labels).tolist() == [1000] * 10
