"""Files of weights: as the safetensors package has them, and hostile ones in one sentence."""

import json
import os
import sys
import time
import tracemalloc
import types

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError

from tacit._tensors._header import MOST_HEADER, parsed_header
from tacit.checkpoints import CheckpointError, delta, inspect, open_checkpoint, save_checkpoint
from tacit.checkpoints._matrices import gate_counts

KINDS = ("float64", "float32", "float16", "int64", "uint8", "bool")


def read(path):
    with open_checkpoint(path) as found:
        return {name: found.tensor(name) for name in found.specs}


def test_files_are_those_of_the_safetensors_package(tmp_path):
    rng = np.random.default_rng(0)
    arrays = {kind: (4 * rng.normal(size=(3, 5))).astype(kind) for kind in KINDS}
    arrays |= {"bf16": rng.normal(size=7).astype(ml_dtypes.bfloat16), "number": np.float32(2)}
    arrays |= {"empty": np.zeros((0, 4), np.float32)}
    ours, theirs = tmp_path / "ours.safetensors", tmp_path / "theirs.safetensors"
    size = save_checkpoint(ours, arrays)
    assert size == ours.stat().st_size
    safetensors.numpy.save_file({n: np.asarray(a) for n, a in arrays.items()}, theirs)
    for path in (ours, theirs):
        for found in (read(path), safetensors.numpy.load_file(path)):
            assert set(found) == set(arrays)
            for name, array in arrays.items():
                assert found[name].dtype == np.asarray(array).dtype
                np.testing.assert_array_equal(found[name], array)


def test_a_sharded_checkpoint_is_one(tmp_path, tensors):
    _, after = tensors
    names = list(after)
    shards = {"one.safetensors": names[:2], "two.safetensors": names[2:]}
    for shard, part in shards.items():
        save_checkpoint(tmp_path / shard, {name: after[name] for name in part})
    index = tmp_path / "model.safetensors.index.json"
    weight_map = {name: shard for shard, part in shards.items() for name in part}
    index.write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    for source in (index, tmp_path):  # the folder has one index
        found = read(source)
        assert all(np.array_equal(found[name], after[name]) for name in after)


def test_what_an_index_does_not_name_is_no_part_of_the_checkpoint(tmp_path):
    save_checkpoint(tmp_path / "one.safetensors", {"w": np.zeros(2), "v": np.ones(2)})
    save_checkpoint(tmp_path / "two.safetensors", {"u": np.zeros(2)})
    index = tmp_path / "m.safetensors.index.json"
    for weight_map, extra in (
        ({"w": "one.safetensors", "u": "two.safetensors"}, "v"),
        ({"w": "one.safetensors", "v": "one.safetensors"}, None),
    ):
        index.write_text(json.dumps({"weight_map": weight_map}))
        if extra is None:  # a file that no name leads to is not looked at
            assert set(read(index)) == {"w", "v"}
            continue
        with pytest.raises(CheckpointError, match=f"tensor '{extra}' is not in the index"):
            open_checkpoint(index)


@pytest.mark.parametrize(
    ("index", "words"),
    [
        ({"weight_map": {"w": "../secret.safetensors"}}, "not beside it"),
        ({"weight_map": {"w": "/etc/passwd"}}, "not beside it"),
        ({"weight_map": {"w": 3}}, "not beside it"),
        ({"weight_map": {"w": "a\0b"}}, "not beside it"),
        ({"weight_map": {}}, "weight_map is empty"),
        ({"weight_map": {"w": "gone.safetensors"}}, "is not there"),
        ({"weight_map": {"other": "one.safetensors"}}, "has no tensor 'other'"),
        ({}, "no weight_map"),
        ([1], "no weight_map"),
    ],
)
def test_an_index_that_is_not_one(tmp_path, index, words):
    save_checkpoint(tmp_path / "one.safetensors", {"w": np.zeros(2)})
    path = tmp_path / "m.safetensors.index.json"
    path.write_text(json.dumps(index))
    with pytest.raises(CheckpointError, match=words):
        open_checkpoint(path)


def entry(shape=(2,), offsets=(0, 8), dtype="F32"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"w": entry()}, None),
        ({"w": entry(shape=[2**20, 2**20])}, "other than the 8 bytes"),
        ({"w": entry(shape=[2**61, 0], offsets=(0, 0))}, "has the shape"),
        ({"w": entry(shape=[2**61, 2**61, 0], offsets=(0, 0))}, "has the shape"),
        ({"w": entry(shape=[3])}, "other than the 8 bytes"),
        ({"w": entry(shape=[1])}, "other than the 8 bytes"),
        ({"w": entry(shape=[-2])}, "has the shape"),
        ({"w": entry(shape=[2.0])}, "has the shape"),
        ({"w": entry(shape=[True, 2])}, "has the shape"),
        ({"w": entry(shape=[1] * 33)}, "has the shape"),
        ({"w": entry(offsets=[0, 80])}, "lies at"),
        ({"w": entry(offsets=[8, 0])}, "lies at"),
        ({"w": entry(offsets=[-8, 0])}, "lies at"),
        ({"w": entry(offsets=[0])}, "lies at"),
        ({"w": entry(dtype="F31")}, "unknown dtype 'F31'"),
        ({"w": entry(dtype=["F32"])}, "unknown dtype"),
        ({"w": [1]}, "must have dtype"),
        ({"w": entry() | {"code": 1}}, "must have dtype"),
        ({"": entry()}, "with the name ''"),
        ({"a\x1b[31m": entry()}, "with the name"),
        ({"n" * 501: entry()}, "with the name"),
        ({"a": entry(), "b": entry()}, "overlap"),
        ({"a": entry([1], [0, 4]), "b": entry([1], [2, 6])}, "overlap"),
        ({"b": entry([1], [4, 8])}, "leave a hole"),
        ({"a": entry([1], [0, 4])}, "4 bytes, but 8 follow"),
        ({}, "0 bytes, but 8 follow"),
        ({"__metadata__": {"a": 1}, "w": entry()}, "must be texts"),
        ({"__metadata__": [], "w": entry()}, "must be texts"),
        ([], "no JSON object"),
        (b"{]", "no JSON object"),
        (b"\xff\xfe{}", "no JSON object"),
        (b"[" * 3000, "no JSON object"),
        (b'{"w":' + json.dumps(entry()).encode() + b',"w":' + json.dumps(entry()).encode() + b"}",
         "twice"),
        (b'{"w":{"dtype":"F32","shape":[' + b"9" * 5000 + b'],"data_offsets":[0,8]}}',
         "cannot be read"),
    ],
)  # fmt: skip
def test_a_header_that_lies_is_one_sentence(tmp_path, raw_file, header, words):
    path = raw_file(tmp_path / "w.safetensors", header, bytes(8))
    if words is None:
        assert read(path)["w"].shape == (2,)
        return
    with pytest.raises(CheckpointError, match=words) as error:
        open_checkpoint(path)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "too few"),
        (b"1234567", "too few"),
        (b"\x80\x02}q\x00.xxxxxxxxxxxx", "no safetensors file"),
        (bytes([200, 0, 0, 0, 0, 0, 0, 0]) + b"{}", "cut off"),
        (bytes([3, 0, 0, 0, 0, 0, 0, 0]) + b"{}", "should have 3 bytes, but the file has 10"),
        (bytes([1, 0, 0, 0, 0, 0, 0, 0]) + b"{}", "should have 1 bytes"),
        (bytes([255] * 8) + b"{}", f"at most {MOST_HEADER:,}"),
    ],
)
def test_what_is_no_safetensors_file(tmp_path, content, words):
    path = tmp_path / "w.safetensors"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=words):
        open_checkpoint(path)


def test_every_cut_of_a_file_is_noticed(tmp_path):
    whole = tmp_path / "w.safetensors"
    save_checkpoint(whole, {"w": np.arange(6.0), "v": np.arange(4, dtype=np.float32)})
    data = whole.read_bytes()
    for size in range(len(data)):
        whole.write_bytes(data[:size])
        with pytest.raises(CheckpointError):
            open_checkpoint(whole)
    whole.write_bytes(data + b"!")
    with pytest.raises(CheckpointError, match="something after its end"):
        open_checkpoint(whole)


_NUMBERS = st.one_of(st.integers(-2, 40), st.sampled_from([2**31, 2**62, 2**64, 10**30]))
_ENTRY = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["F32", "BF16", "F64", "I8", "BOOL", "X", ""]),
        "shape": st.lists(_NUMBERS, max_size=3),
        "data_offsets": st.lists(_NUMBERS, min_size=1, max_size=3),
    }
)
_JUNK = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=4) | _NUMBERS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
_HEADERS = st.dictionaries(st.text(max_size=4) | st.just("__metadata__"), _ENTRY | _JUNK)


@settings(max_examples=150, deadline=None)
@given(header=_HEADERS, size=st.integers(0, 200))
def test_no_header_does_anything_but_be_taken_or_refused(header, size):
    """What is taken is what the safetensors package takes too, with the same shapes."""
    text = json.dumps(header).encode()
    try:
        specs, _ = parsed_header(text, size, CheckpointError)
    except CheckpointError:
        return
    assert sum(spec.bytes for spec in specs.values()) == size
    whole = len(text).to_bytes(8, "little") + text + bytes(size)
    theirs = dict(safetensors.deserialize(whole))
    assert {name: tuple(one["shape"]) for name, one in theirs.items()} == {
        name: spec.shape for name, spec in specs.items()
    }


@settings(max_examples=60, deadline=None)
@given(place=st.integers(0, 400), byte=st.integers(0, 255))
def test_no_changed_byte_of_a_header_breaks_anything(place, byte, tmp_path_factory):
    folder = tmp_path_factory.mktemp("changed", numbered=True)
    path = folder / "w.safetensors"
    save_checkpoint(path, {"layer.weight": np.ones((3, 4), np.float32), "b": np.ones(5)})
    data = bytearray(path.read_bytes())
    place %= len(data) - 5 * 8 - 12 * 4  # in the header
    data[place] = byte
    path.write_bytes(data)
    try:
        found = read(path)
    except CheckpointError:
        return
    try:
        theirs = safetensors.numpy.load_file(path)
    except SafetensorError:  # it refuses a few names and metadata that do no harm
        return
    assert {n: a.shape for n, a in found.items()} == {n: a.shape for n, a in theirs.items()}


def test_hostile_headers_take_little_memory(tmp_path, raw_file):
    long = {f"w{n}": entry([0], [0, 0]) for n in range(3000)}
    files = [
        raw_file(tmp_path / "a.safetensors", {"w": entry([2**20, 2**20], [0, 2**42])}, bytes(8)),
        raw_file(tmp_path / "b.safetensors", b"{}", length=MOST_HEADER),
        raw_file(tmp_path / "c.safetensors", long, bytes(8)),
        raw_file(tmp_path / "d.safetensors", b"[" * (1 << 20)),
    ]
    tracemalloc.start()
    for path in files:
        with pytest.raises(CheckpointError):
            open_checkpoint(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 << 20


@pytest.mark.parametrize(
    "shape", [[2**61, 0], [2**61, 2**61, 0], [0, 2**49], [2**20, 0, 2**20, 2**20]]
)
def test_a_shape_that_no_array_can_have_is_one_sentence(tmp_path, raw_file, shape):
    """Its product is zero, as is that of its offsets: only the lengths tell."""
    path = raw_file(tmp_path / "w.safetensors", {"w": entry(shape, [0, 0])})
    with pytest.raises(CheckpointError, match=r"tensor 'w' has the shape") as error:
        inspect(path, path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("dtype", "shape", "name"),
    [("F32", [0], "layer.{}.w"), ("I32", [0], "n{}"), ("F32", [4, 1], "rnn{}.weight_hh"),
     ("F32", [4, 1], "rnn.weight_hh{}")],
    ids=["floats", "whole numbers", "gates", "gates of one stem"],
)  # fmt: skip
def test_twenty_thousand_tensors_are_inspected_in_linear_time(
    tmp_path, raw_file, dtype, shape, name
):
    """Where each name is sought among all others, five times as many take 25 times as long."""
    size, times = 4 * int(np.prod(shape)), []
    for count in (4_000, 20_000):
        header = {
            name.format(n): entry(shape, [n * size, (n + 1) * size], dtype) for n in range(count)
        }
        path = raw_file(tmp_path / f"{count}.safetensors", header, bytes(size * count))
        began = time.process_time()
        with delta(path, path) as pair:
            assert len([*pair, *pair.others]) == count
            assert len(gate_counts(pair.specs, None)) in (0, count)
            assert not any(other in pair for other in pair.others)
        times.append(time.process_time() - began)
    assert times[1] < 12 * times[0] + 0.5


def test_whether_a_change_is_there_is_told_without_computing_it(tensors):
    pair = delta(*tensors)
    pair._part = None  # whatever computes a change calls it
    assert "up.weight" in pair
    assert "steps" not in pair
    assert "gone" not in pair


def test_what_is_not_a_regular_file(tmp_path):
    fifo = tmp_path / "w.safetensors"
    os.mkfifo(fifo)
    with pytest.raises(CheckpointError, match="not a regular file"):
        open_checkpoint(fifo)
    with pytest.raises(CheckpointError, match="is not there"):
        open_checkpoint(tmp_path / "gone.safetensors")
    with pytest.raises(CheckpointError, match="without exactly one"):
        open_checkpoint(tmp_path / "..")
    with pytest.raises(ValueError, match="source: received 3"):
        open_checkpoint(3)
    with pytest.raises(ValueError, match="dtype complex128"):
        open_checkpoint({"w": np.ones(2, complex)})


def test_a_file_of_pytorch_says_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # as where it is not installed
    path = tmp_path / "w.pt"
    path.write_bytes(b"\x80\x02cos\nsystem\n(S'touch pwned'\ntR.")
    with pytest.raises(CheckpointError, match="of PyTorch's, which is not installed") as error:
        open_checkpoint(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("version", ["2.5.1", "2.5.1+cu121", "1.13.0", "2.0", "2.6.0", "2.10.0"])
def test_an_older_pytorch_reads_no_file(tmp_path, monkeypatch, version):
    """Before 2.6 a file could run code in spite of weights_only; 2.10 is not older than 2.6."""

    def load(*args, **kwargs):
        raise ValueError("it was asked to load")

    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(__version__=version, load=load))
    path = tmp_path / "w.pt"
    path.write_bytes(b"weights")
    taken = version in ("2.6.0", "2.10.0")
    words = "it was asked to load" if taken else r"PyTorch .* cannot be relied on: install 2\.6"
    with pytest.raises(CheckpointError, match=words) as error:
        open_checkpoint(path)
    assert "\n" not in str(error.value)


def test_an_output_is_kept_unless_it_is_forced(tmp_path):
    path = tmp_path / "w.safetensors"
    save_checkpoint(path, {"w": np.zeros(2)})
    with pytest.raises(ValueError, match="is there already"):
        save_checkpoint(path, {"w": np.ones(2)})
    np.testing.assert_array_equal(read(path)["w"], 0)
    save_checkpoint(path, {"w": np.ones(2)}, force=True)
    np.testing.assert_array_equal(read(path)["w"], 1)
    link = tmp_path / "link.safetensors"
    link.symlink_to(path)
    with pytest.raises(ValueError, match="is a link"):
        save_checkpoint(link, {"w": np.zeros(2)}, force=True)
    np.testing.assert_array_equal(read(link)["w"], 1)  # a link may be read


def test_mismatches_are_listed(tensors):
    before, after = dict(tensors[0]), dict(tensors[1])
    before["gone"] = np.zeros(2, np.float32)
    after["new"] = np.zeros(2, np.float32)
    before["up.bias"] = np.zeros(61, np.float32)
    before["up.weight"] = before["up.weight"].astype(np.float64)
    words = inspect(before, after).mismatches
    assert words == (
        "'up.weight' has the dtypes F64 and F32",
        "'up.bias' has the shapes [61] and [60]",
        "'gone' is in the first only",
        "'new' is in the second only",
    )
    with delta(before, after) as pair:
        assert set(pair.specs) == {"rnn.weight_hh_l0", "conv.weight", "steps"}


def test_a_folder_of_two_files_names_neither(tmp_path):
    for name in ("one", "two"):
        save_checkpoint(tmp_path / f"{name}.safetensors", {"w": np.zeros(2)})
    with pytest.raises(CheckpointError, match="without exactly one index or safetensors file"):
        open_checkpoint(tmp_path)
    (tmp_path / "two.safetensors").unlink()
    assert set(read(tmp_path)) == {"w"}
