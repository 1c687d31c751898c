"""Small photographs in ten or a hundred classes: CIFAR-10 and CIFAR-100, in their binary form."""

import io
import os
import tarfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tacit._doors import ANY, door, instance, path, whole
from tacit.data._source import DataMissingError, Source

_CREDIT = "Krizhevsky, 2009 (https://www.cs.toronto.edu/~kriz/cifar.html)"
_ADDRESS = "https://www.cs.toronto.edu/~kriz"
SIDE = 32

CIFAR10 = Source(
    name="cifar10",
    files={
        "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
        "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
        "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
        "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
        "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
        "test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
    },
    address=f"{_ADDRESS}/cifar-10-binary.tar.gz",
    credit=_CREDIT,
)
"""The unpacked files: a byte for the class, then 32 × 32 bytes of red, of green and of blue."""

CIFAR10_ARCHIVE = Source(
    name="cifar10",
    files={
        "cifar-10-binary.tar.gz": "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
    },
    address=_ADDRESS,
    credit=_CREDIT,
)
"""The archive that they come in, 170 MB."""

CIFAR100 = Source(
    name="cifar100",
    files={
        "train.bin": "f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29",
        "test.bin": "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a",
    },
    address=f"{_ADDRESS}/cifar-100-binary.tar.gz",
    credit=_CREDIT,
)
"""Two bytes for the class, the second the finer one, then the image as in CIFAR-10."""

CIFAR100_ARCHIVE = Source(
    name="cifar100",
    files={
        "cifar-100-binary.tar.gz": (
            "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"
        )
    },
    address=_ADDRESS,
    credit=_CREDIT,
)

_SOURCES = {10: (CIFAR10, CIFAR10_ARCHIVE), 100: (CIFAR100, CIFAR100_ARCHIVE)}


class LabelledImages(NamedTuple):
    """Bytes (images, 32, 32, 3), red, green and blue, and the class of each image."""

    pixels: np.ndarray
    labels: np.ndarray


def cifar(classes: int, path: str | os.PathLike[str] | None = None) -> dict[str, LabelledImages]:
    """CIFAR-10 or CIFAR-100: 50,000 images to train on and 10,000 for the test.

    From `path`, or from `TACIT_DATA`: the unpacked `.bin` files, else the archive.
    """
    sentence = cifar_missing(classes, path)
    if sentence is not None:
        raise DataMissingError(sentence)
    files, archive = _SOURCES[classes]
    if files.missing(path) is None:
        contents = {name: (files.folder(path) / name).read_bytes() for name in files.files}
    else:
        (packed,) = archive.files
        contents = unpacked(archive.folder(path) / packed, tuple(files.files))
    last = list(contents)[-1]
    train = b"".join(content for name, content in contents.items() if name != last)
    label_bytes = 1 if classes == 10 else 2
    return {
        "train": read_cifar(train, label_bytes=label_bytes),
        "test": read_cifar(contents[last], label_bytes=label_bytes),
    }


@door(classes=ANY, path=path)
def cifar_missing(classes: int, path: str | os.PathLike[str] | None = None) -> str | None:
    """Why `cifar` has nothing to read, in a sentence; None if it has."""
    if classes not in _SOURCES:
        raise ValueError(f"classes: received {classes!r}, it must be 10 or 100")
    files, archive = _SOURCES[classes]
    sentence = files.missing(path)
    return sentence if sentence is None or archive.missing(path) is not None else None


def unpacked(archive: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    """The named files of an archive, in whichever folder of it they are."""
    with tarfile.open(archive) as packed:
        members = {Path(member.name).name: member for member in packed if member.isfile()}
        lacking = [name for name in names if name not in members]
        if lacking:
            raise DataMissingError(f"{archive} lacks {', '.join(lacking)}")
        found = {name: packed.extractfile(members[name]) for name in names}
        return {name: (file or io.BytesIO()).read() for name, file in found.items()}


@door(content=instance(bytes), label_bytes=whole(1, 100))
def read_cifar(content: bytes, *, label_bytes: int) -> LabelledImages:
    """Images in CIFAR's binary form; of several label bytes the last is the class."""
    row = label_bytes + 3 * SIDE * SIDE
    if not content or len(content) % row:
        raise DataMissingError(
            f"a file of images has {len(content)} bytes, {row} belong to each image"
        )
    rows = np.frombuffer(content, np.uint8).reshape(-1, row)
    planes = rows[:, label_bytes:].reshape(-1, 3, SIDE, SIDE)
    return LabelledImages(
        np.ascontiguousarray(planes.transpose(0, 2, 3, 1)),
        rows[:, label_bytes - 1].astype(np.int64),
    )
