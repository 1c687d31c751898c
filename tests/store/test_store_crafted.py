"""Crafted parts: each is named, set aside and computed again; none hangs or fills the memory."""

import errno
import importlib.util
import io
import json
import os
import shutil
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tacit._files import FileKindError, parsed_json, read_regular
from tacit.store import Plan, Store, StoreError, Variable

_spec = importlib.util.spec_from_file_location("crafted", Path(__file__).with_name("crafted.py"))
crafted = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(crafted)

PLAN = Plan(
    axes={"seed": (0, 1, 5, 6)},
    fixed={"steps": 3},
    variables={
        "error": Variable("error"),
        "curve": Variable("a curve", "lag"),
        "outcome": Variable("how it ended", dtype="str"),
    },
    coords={"lag": np.arange(3)},
)
GOOD = [{"seed": 0, "steps": 3}, {"seed": 1, "steps": 3}]
OLD, NAME = "000002-crafted.npz", "000002-crafted.safetensors"


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "store", experiment="toy/one", version=1)
    arrays = crafted.members()
    made.add(GOOD, {n: a for n, a in arrays.items() if n[0] != "_"}, crafted.ORIGIN)
    return made


def place(store, craft, name=OLD):
    path = store.path / "parts" / name
    craft(path)
    return path


def everything(path, *, read_only=False):
    """What a run and a look at a store read of it."""
    store = Store.existing(path, read_only=read_only)
    store.fit(PLAN)
    store.status(PLAN)
    runs = store.dataset(PLAN.axes, PLAN.fixed, PLAN.variables, PLAN.coords)
    store.seconds_by_cell()
    store.rounding(PLAN)
    return store, runs


@pytest.mark.parametrize("name", [OLD, NAME])
def test_a_whole_part_is_taken(store, name):
    place(store, lambda path: path.write_bytes(crafted.valid(path.suffix)), name)
    again, runs = everything(store.path)
    assert again.warnings == []
    assert runs["present"].values.all()
    np.testing.assert_array_equal(runs["curve"].values[2:], np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize(
    ("file", "wrong", "count"), [(OLD, crafted.wrong, 170), (NAME, crafted.of_now, 140)]
)
def test_every_crafted_part_is_named_set_aside_and_missing(store, file, wrong, count):
    cases = list(wrong())
    assert len(cases) >= count
    assert len({name for name, _ in cases}) == len(cases)
    for name, craft in cases:
        path = place(store, craft, file)
        looked = Store.existing(store.path, read_only=True)
        looked.fit(PLAN)
        assert [file in warning for warning in looked.warnings] == [True], name
        assert len(looked) == 2, name
        again = Store.existing(store.path)
        again.fit(PLAN)
        again.status(PLAN)
        assert len(again.warnings) == 1, (name, again.warnings)
        assert file in again.warnings[0], name
        assert again.warnings[0].isprintable()
        assert again.missing_keys(again.keys_of(crafted.CELLS)) == [0, 1], name
        assert not os.path.lexists(path), name
        shutil.rmtree(store.path / "parts" / "aside")
    _, runs = everything(store.path)
    assert runs["present"].values.tolist() == [True, True, False, False]


@pytest.mark.parametrize("dtype", ["BF16", "F8_E4M3"])
def test_a_dtype_that_parts_do_not_hold_is_named_before_anything_is_declared(store, dtype):
    sizes = {"BF16": 4, "F8_E4M3": 2}
    place(store, crafted._new({"more": (dtype, [2], bytes(sizes[dtype]))}), NAME)
    looked = Store.existing(store.path, read_only=True)
    assert len(looked) == 2
    assert "it has the array 'more' of" in looked.warnings[0]


def test_crafted_parts_take_little_memory(store):
    heavy = ("40 GB", "bomb", "everything", "all memory", "wide words", "deep", "without end")
    cases = [
        (name, craft, file)
        for file, wrong in ((OLD, crafted.wrong), (NAME, crafted.of_now))
        for name, craft in wrong()
        if any(word in name for word in heavy)
    ]
    assert len(cases) >= 20
    tracemalloc.start()
    try:
        for _, craft, file in cases:
            path = place(store, craft, file)
            assert len(Store.existing(store.path, read_only=True)) == 2
            path.unlink()
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("file", "ones"), [(OLD, crafted.random_ones), (NAME, crafted.random_ones_of_now)]
)
def test_random_changes_end_in_a_part_or_in_words(store, file, ones):
    for name, craft in ones(150):
        path = place(store, craft, file)
        again, runs = everything(store.path)
        assert runs["present"].values[:2].all(), name
        assert bool(again.warnings) != runs["present"].values.all(), (name, again.warnings)
        path.unlink(missing_ok=True)


def test_parts_that_all_differ_from_the_declaration_are_refused_not_moved(store):
    place(store, crafted._Members(curve=np.zeros((2, 4))))
    other = Plan(PLAN.axes, PLAN.fixed, PLAN.variables, {"lag": np.arange(7)})
    again = Store.existing(store.path)
    with pytest.raises(StoreError, match=r"'curve'.*raise the experiment's version"):
        again.fit(other)
    assert len(again.parts()) == 2


def test_a_digit_in_the_manifest_moves_nothing(store):
    manifest = store.path / "store.json"
    manifest.write_text(manifest.read_text().replace('"version": 1', '"version": 2'))
    with pytest.raises(StoreError, match=r"its only part belongs to .*version 1"):
        Store.existing(store.path)
    assert len(list((store.path / "parts").glob("*.safetensors"))) == 1


def test_a_bad_part_is_not_merged(store, tmp_path):
    for name, craft in (
        ("compressed", lambda p: p.write_bytes(crafted.digested(crafted.zipped([])))),
        ("other shape", crafted._Members(curve=np.zeros((2, 9)))),
    ):
        path = place(store, craft)
        mine = Store(tmp_path / name, experiment="toy/one", version=1)
        theirs = Store.existing(store.path, read_only=True)
        assert mine.merge(theirs, plan=PLAN) == 1
        assert [OLD in warning for warning in mine.warnings] == [True]
        assert len(mine) == 2
        path.unlink()


def plans():
    """What `plan.json` may say, and must not."""
    base = json.loads(PLAN.to_json())
    error = base["variables"]["error"]
    lag = base["coords"]["lag"]
    for changes in (
        {"axes": {}},
        {"axes": {"seed": []}},
        {"axes": {"seed": [0, 0]}},
        {"axes": {"seed": [[0]]}},
        {"axes": {"seed": [None]}},
        {"axes": {"seed": 3}},
        {"axes": {"../seed": [1]}},
        {"axes": {f"a{i}": list(range(1000)) for i in range(3)}},
        {"axes": {f"a{i}": list(range(10)) for i in range(60)}},
        {"axes": {f"a{i}": [0] for i in range(70)}},
        {"axes": {"seed": [0, 10**30]}},
        {"fixed": 3},
        {"fixed": {"steps": float("nan")}},
        {"variables": {"error": 3}},
        {"variables": {"error": {**error, "dims": ["nowhere"]}}},
        {"variables": {"error": {**error, "dtype": "O"}}},
        {"variables": {"error": {**error, "dtype": "V1000000000"}}},
        {"variables": {"error": {**error, "dtype": "no such"}}},
        {"variables": {"error": {**error, "dtype": None}}, "coords": []},
        {"variables": {"seed": error}},
        {"variables": {"a b": error}},
        {"variables": {"a" * 5000: error}},
        {"variables": {"present": error}},
        {"variables": {"provenance": error}},
        {"variables": {"error": {**error, "dtype": "f16"}}},
        {"coords": {"lag": {**lag, "dtype": "V1000000000"}}},
        {"coords": {"lag": {**lag, "dtype": "O"}}},
        {"coords": {"lag": {**lag, "dtype": "<c16"}}},
        {"coords": {"lag": {**lag, "dtype": "<f16"}}},
        {"coords": {"lag": {**lag, "values": [[1], [2]]}}},
        {"coords": {"lag": {**lag, "values": ["a"]}}},
        {"coords": {"lag": {**lag, "values": 3}}},
        {"coords": {"lag": {**lag, "values": [10**30]}}},
        {"attrs": 3},
        {"attrs": {"seed": 3}},
        {"name": 3},
        {"name": "\x1b[2Jquick"},
        {"not_asked": [99]},
        {"not_asked": [-1]},
        {"not_asked": ["a"]},
        {"not_asked": 3},
        {"not_asked": [[1]]},
    ):
        yield json.dumps(base | changes).encode()
    yield b"[" * 90_000  # too deep
    yield b"[" * 200_000
    yield b"\xff"
    yield b"3"


def test_a_crafted_plan_is_passed_over_in_words(store):
    for number, data in enumerate(plans()):
        (store.path / "plan.json").write_bytes(data)
        again = Store.existing(store.path, read_only=True)
        assert again.plan() is None, (number, data[:300])
        assert "plan.json is not readable" in again.warnings[0]
        assert again.warnings[0].isprintable()
    wide = json.loads(PLAN.to_json())
    wide["variables"]["outcome"]["dtype"] = "<U100000000"
    wide["coords"]["lag"] = {"dtype": "<U100000000", "values": ["a", "b", "c"]}
    (store.path / "plan.json").write_text(json.dumps(wide))
    assert Store.existing(store.path).status(Store.existing(store.path).plan()).done == 2


def test_a_plan_of_many_lists_is_refused_before_they_are_made():
    with pytest.raises(ValueError, match="too many lists"):
        Plan.from_json(b"[" + b"[]," * 100_000 + b"[]]")


def test_acceptances_that_are_no_words_are_passed_over(store):
    (store.path / "accepted.json").write_text(json.dumps({"a": [[1], {}, 3, "b"], "c": 3}))
    assert store.accepted("a") == {"b"}
    assert store.accepted("c") == frozenset()


def test_a_small_file_is_read_where_a_large_one_is_allowed(tmp_path):
    (tmp_path / "small").write_bytes(b"small")
    assert read_regular(tmp_path / "small", most=2**50) == b"small"
    with pytest.raises(FileKindError, match="more than 4 bytes"):
        read_regular(tmp_path / "small", most=4)


@pytest.mark.parametrize("reason", [errno.EACCES, errno.EIO, errno.EMFILE, errno.ESTALE])
def test_a_part_that_cannot_be_read_now_stays_where_it_is(store, monkeypatch, reason):
    def fails(*_):
        raise OSError(reason, os.strerror(reason))

    (name,) = store.parts()
    monkeypatch.setattr("tacit.store._part.open_regular", fails)
    for read_only in (False, True):
        with pytest.raises(StoreError, match=f"{name} cannot be read: {os.strerror(reason)}"):
            Store.existing(store.path, read_only=read_only)
    monkeypatch.undo()
    assert Store.existing(store.path).parts() == [name]


def test_a_version_that_is_too_high_is_told_the_highest(tmp_path):
    with pytest.raises(StoreError, match="allowed is an integer from 1 to 1,000,000,000"):
        Store(tmp_path / "store", experiment="toy/one", version=202611161751)


@pytest.mark.parametrize(
    "text", [b"[" + b"[]," * 500_000 + b"0]", b"[" * 90_000, b"1," * 5_000_000]
)
def test_lists_without_bounds_are_not_read(text):
    with pytest.raises(ValueError, match=r"too many lists|too deep"):
        parsed_json(text)


def test_a_whole_number_that_no_float_holds_is_not_read():
    assert parsed_json(b"[1" + b"0" * 99 + b"]") == [10**99]
    with pytest.raises(ValueError, match="a whole number of 101 digits"):
        parsed_json(b"[1" + b"0" * 100 + b"]")


def test_members_that_lie_inside_each_other_are_not_read(store):
    """Each is whole and within the file; together they are larger than it."""
    inner = crafted.zipped([("inner.npy", np.ones(2000))])
    alone = inner[: inner.index(b"PK\x01\x02")]  # without the directory
    outer = crafted.zipped([("outer.npy", np.frombuffer(alone, np.uint8))])
    content = io.BytesIO(outer)
    with zipfile.ZipFile(io.BytesIO(inner)) as archive:
        (info,) = archive.infolist()
    info.header_offset = outer.index(alone[:64])
    with zipfile.ZipFile(content, "a") as archive:
        archive.filelist.append(info)
        archive.comment = b""  # so that the directory is written anew
    place(store, lambda path: path.write_bytes(crafted.digested(content.getvalue())))
    again = Store.existing(store.path)
    assert len(again.parts()) == 1
    assert "its members are larger than the file" in " ".join(again.warnings)
