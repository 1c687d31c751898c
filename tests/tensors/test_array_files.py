"""Arrays by name: what is written comes back, the public package reads it, damage is noticed."""

import hashlib
import io
import json
import struct

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from tacit._tensors import ArrayFile, TensorFile, blocks, encoded


class RefusedError(Exception):
    """What the tests ask to be raised."""


def read(data, **options):
    with ArrayFile(io.BytesIO(data), RefusedError, **options) as found:
        return found.arrays(), found.metadata


KINDS = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float16", "float32", "float64", "longdouble", "complex64", "complex128", "clongdouble",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 3, 4)])
def test_every_kind_comes_back(kind, shape):
    rng = np.random.default_rng(0)
    array = (8 * rng.normal(size=shape) + 2j * rng.normal(size=shape)).real.astype(kind)
    if kind.startswith("c"):
        array = array + np.asarray(1j, kind) * rng.normal(size=shape).astype(kind)
    found, _ = read(encoded({"x": array}, {}))
    assert found["x"].dtype == array.dtype
    assert found["x"].shape == shape
    np.testing.assert_array_equal(found["x"], array)
    assert found["x"].flags.writeable
    assert found["x"].flags.c_contiguous


@pytest.mark.parametrize("words", [["gul", "blåvit", "", "𝄞"], [], [["a"], ["bc"]], "one", ""])
def test_words_come_back(words):
    array = np.array(words, dtype=str)
    found, _ = read(encoded({"x": array}, {}))
    assert found["x"].dtype == array.dtype
    assert found["x"].shape == array.shape
    np.testing.assert_array_equal(found["x"], array)


def test_other_orders_and_other_dtypes_come_back():
    whole = np.arange(24.0).reshape(2, 3, 4)
    content = {
        "fortran": np.asfortranarray(whole),
        "reversed": whole[::-1, :, ::2],
        "turned": np.array([["a", "bc"], ["d", "e"]]).T,
        "pairs": np.asfortranarray(whole + 1j),
        "big": whole.astype(">f8"),
        "big words": np.array(["a", "bc"], dtype=">U2"),
        "brain": whole.astype(ml_dtypes.bfloat16),
        "small": whole.astype(ml_dtypes.float8_e4m3fn),
    }
    found, _ = read(encoded(content, {}))
    for name, array in content.items():
        assert found[name].dtype == array.dtype.newbyteorder("=")
        np.testing.assert_array_equal(found[name], array)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.text("abc.-/ é", min_size=1, max_size=4),
        arrays_of.arrays(
            st.sampled_from(
                [np.dtype(word) for word in ("f8", "c8", "U3", "?", "i4", "c16", "u1")]
            ),
            arrays_of.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3),
        ),
        max_size=4,
    )
)
def test_whatever_is_written_comes_back(content):
    try:
        data = encoded(content, {"owner": 'it is "me"\n'})
    except ValueError:  # halves of characters, which hypothesis likes
        assert any(array.dtype.kind == "U" for array in content.values())
        return
    found, texts = read(data)
    assert texts["owner"] == 'it is "me"\n'
    assert found.keys() == content.keys()
    for name, array in content.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()


def test_the_public_package_reads_it(tmp_path):
    """As the docstring of `tacit._tensors` says: words are codes, complex numbers are pairs."""
    path = tmp_path / "x.safetensors"
    words, pairs = np.array(["gul", "blåvit"]), np.array([1 + 2j, 3 - 4j])
    content = {"x": np.asfortranarray(np.eye(2, 3)), "words": words, "pairs": pairs}
    path.write_bytes(encoded(content, {"owner": "me"}))
    found = safetensors.numpy.load_file(path)
    np.testing.assert_array_equal(found["x"], content["x"])
    np.testing.assert_array_equal(found["pairs"], [[1, 2], [3, -4]])
    assert ["".join(map(chr, row)).rstrip("\0") for row in found["words"]] == [*words]
    with safetensors.safe_open(path, "np") as file:
        texts = file.metadata()
    assert texts["owner"] == "me"
    assert json.loads(texts["dtypes"]) == {"words": "<U6", "pairs": "<c16"}
    assert len(texts["digest"]) == 64


def test_every_changed_bit_and_every_cut_is_noticed():
    data = encoded({"x": np.arange(3.0), "w": np.array(["ab"])}, {"owner": "me"})
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        with pytest.raises(RefusedError):
            read(bytes(changed))
        with pytest.raises(RefusedError):
            read(data[:place])


def test_a_plain_file_is_not_taken_for_one_under_a_digest():
    plain = safetensors.numpy.save({"x": np.zeros(2)}, {"digest": "0" * 64})
    with pytest.raises(RefusedError, match=r"does not begin with a digest|does not match"):
        read(plain)
    with pytest.raises(RefusedError, match="does not begin with a digest"):
        read(safetensors.numpy.save({"x": np.zeros(2)}))


def test_it_takes_no_more_than_it_is_told():
    data = encoded({"x": np.zeros(100)}, {})
    assert read(data, most=len(data))
    with pytest.raises(RefusedError, match=f"{len(data):,} bytes, at most {len(data) - 1:,}"):
        read(data, most=len(data) - 1)


def test_what_cannot_be_kept_is_said_before_it_is_written():
    for array in (np.array([None]), np.array([b"a"]), np.zeros(2, "M8[D]"), np.zeros(2, "f8,f8")):
        with pytest.raises(ValueError, match=r"'x' has dtype .* not storable"):
            encoded({"x": array}, {})
    with pytest.raises(ValueError, match="'x' has words with characters that are none"):
        encoded({"x": np.array(["a", "\ud800"])}, {})
    with pytest.raises(ValueError, match=r"a header of .* is too long"):
        encoded({}, {"text": "x" * (17 << 20)})


def test_a_refused_file_is_closed():
    for data in (b"", struct.pack("<Q", 2) + b"{}", encoded({}, {}).replace(b"digest", b"digesT")):
        file = io.BytesIO(data)
        with pytest.raises(RefusedError):
            ArrayFile(file, RefusedError)
        assert file.closed


def test_a_file_that_becomes_shorter_is_noticed():
    file = io.BytesIO(encoded({"x": np.arange(4.0)}, {}))
    with TensorFile(file, RefusedError) as found:
        file.truncate(file.seek(0, 2) - 1)
        np.testing.assert_array_equal(found.numbers("x", 1, 3), [1, 2])
        with pytest.raises(RefusedError, match="became shorter"):
            found.numbers("x", 0, 4)


def test_a_hundred_thousand_arrays_are_read():
    names = [f"n{place}" for place in range(100_000)]
    found, _ = read(encoded(dict.fromkeys(names, np.zeros(0)), {}))
    assert [*found] == names


@pytest.mark.parametrize("length", range(1, 10))
def test_numbers_begin_at_a_multiple_of_eight_bytes(length):
    """So that they can be mapped where they lie."""
    data = encoded({"x" * length: np.zeros(1, np.uint8)}, {})
    assert struct.unpack("<Q", data[:8])[0] % 8 == 0
    assert len(data) % 8 == 1


def test_a_range_is_cut_into_pieces_of_rows():
    assert [*blocks(10, 3, most=12)] == [(0, 4), (4, 8), (8, 10)]
    assert [*blocks(3, 100, most=12)] == [(0, 1), (1, 2), (2, 3)]
    assert [*blocks(24, most=12)] == [(0, 12), (12, 24)]
    assert [*blocks(0)] == []


def digested(data):
    """The bytes with the digest that belongs to them, as the docstring of the room says it."""
    begin = data.index(b'"digest":"') + 10
    before, after = data[:begin], data[begin + 64 :]
    return before + hashlib.blake2b(before + after, digest_size=32).hexdigest().encode() + after


@pytest.mark.parametrize(
    ("array", "place", "byte", "words"),
    [
        (np.array([True, False]), -8, 1, None),
        (np.array([True, False]), -8, 2, "holds truth values that are none"),
        (np.array([True, False]), -7, 255, "holds truth values that are none"),
        (np.array(["a"]), -8, 98, None),
        (np.array(["aé"]), -7, 0xD7, None),  # the last before the halves
        (np.array(["aé"]), -7, 0xD8, "holds words with characters that are none"),
        (np.array(["aé"]), -7, 0xDF, "holds words with characters that are none"),
        (np.array(["aé"]), -7, 0xE0, None),  # the first behind them
        (np.array(["aé"]), -6, 0x10, None),  # the last plane
        (np.array(["aé"]), -6, 0x11, "holds words with characters that are none"),
    ],
)
def test_what_is_no_truth_and_no_character_is_refused_under_a_valid_digest(
    array, place, byte, words
):
    data = bytearray(encoded({"x": array, "y": np.zeros(0)}, {}))
    at = len(data) - array.view(np.uint8).size + (place + 8)
    data[at] = byte
    changed = digested(bytes(data))
    if words is None:
        assert read(changed)[0]["x"].shape == array.shape
    else:
        with pytest.raises(RefusedError, match=words):
            read(changed)


@pytest.mark.parametrize(
    ("said", "there"),
    [
        ('{\\"x\\": \\"<U2\\"}', '{\\"x\\": \\"<U1\\"}'),
        ('{\\"x\\": \\"<U2\\"}', '{\\"x\\": \\"<U3\\"}'),
        ('{\\"x\\": \\"<U2\\"}', '{\\"x\\": \\"<c8\\"}'),
        ('{\\"x\\": \\"<U2\\"}', '{\\"y\\": \\"<U2\\"}'),
        ('{\\"x\\": \\"<U2\\"}', '{\\"x\\": \\"|O8\\"}'),
        ('{\\"x\\": \\"<U2\\"}', '[\\"x\\", \\"<U2\\"]'),
    ],
)
def test_dtypes_that_do_not_fit_are_refused_under_a_valid_digest(said, there):
    data = encoded({"x": np.array(["ab"])}, {})
    assert data.count(said.encode()) == 1
    with pytest.raises(RefusedError, match=r"cannot have the dtype|not those of its arrays"):
        read(digested(data.replace(said.encode(), there.encode())))
    assert read(digested(data))[0]["x"].tolist() == ["ab"]
