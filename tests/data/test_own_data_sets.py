"""DaISy and Jester: files made in their formats, and the real ones where they are at hand."""

import dataclasses
import gzip
import hashlib
import struct

import numpy as np
import pytest

import tacit.data._daisy as daisy_file
import tacit.data._jester as jester_file
from tacit.data import DAISY, JESTER, DataMissingError, daisy, jester
from tacit.data._r_file import read_r


def symbol(name):
    return struct.pack(">ii", 1, 9) + struct.pack(">i", len(name)) + name.encode()


def pairs(*named):
    items = b"".join(struct.pack(">i", 0x402) + symbol(name) + value for name, value in named)
    return items + struct.pack(">i", 254)


def vector(values):
    values = np.asarray(values)
    kind, form = (13, ">i4") if values.dtype.kind == "i" else (14, ">f8")
    return struct.pack(">ii", kind, len(values)) + values.astype(form).tobytes()


def r_object(*slots):
    return struct.pack(">i", 25 | 0x200) + pairs(*slots)


def r_file(*named):
    head = b"RDX3\nX\n" + struct.pack(">iiii", 3, 0, 0, 5) + b"UTF-8"
    return gzip.compress(head + pairs(*named))


RATINGS = [("i", vector([1, 0, 1])), ("p", vector([0, 1, 3])), ("x", vector([-1.5, 5e-324, 9.9]))]


def test_ratings_come_out_of_a_file_of_r_and_are_checked(tmp_path, monkeypatch):
    content = r_file(("Jester5k", r_object(("data", r_object(*RATINGS)))))
    lines = b"user,item,rating\n0,1,0\n1,0,-1.5\n1,1,9.9\n"
    there = tmp_path / "there"
    there.mkdir()
    (there / "Jester5k.rda").write_bytes(content)
    own = dataclasses.replace(
        JESTER,
        files={"ratings.csv": hashlib.sha256(lines).hexdigest()},
        address=there.as_uri(),
    )
    assert (own.fetch(tmp_path / "here") / "ratings.csv").read_bytes() == lines
    monkeypatch.setattr(jester_file, "JESTER", own)
    found = jester(tmp_path / "here")
    assert found.shape == (5000, 100)
    assert np.isnan(found[0, 0])
    assert (found[0, 1], found[1, 0]) == (0.0, -1.5)
    (there / "Jester5k.rda").write_bytes(r_file(("other", vector([1.0]))))
    with pytest.raises(DataMissingError, match="not recommenderlab's file"):
        own.fetch(tmp_path / "again")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"RDX3\nX\n",
        gzip.compress(b"RDA2 text"),
        r_file(("f", struct.pack(">i", 3))),  # a function
        r_file(("x", struct.pack(">ii", 14, 1000))),  # cut off
    ],
    ids=["nothing", "another form", "another version", "a function", "cut off"],
)
def test_what_is_no_data_of_r_is_refused(content):
    with pytest.raises(ValueError, match=r"it |longer than the file"):
        read_r(content)


def test_a_measured_system_by_name(tmp_path, monkeypatch):
    lines = b" 1.0 2.0\n 3.0 4.0\n"
    there = tmp_path / "there" / "mechanical"
    there.mkdir(parents=True)
    (there / "dryer.dat.gz").write_bytes(gzip.compress(lines))
    own = dataclasses.replace(
        DAISY,
        files={"dryer.dat": hashlib.sha256(lines).hexdigest()},
        address=(tmp_path / "there").as_uri(),
    )
    monkeypatch.setattr(daisy_file, "DAISY", own)
    found = daisy("dryer", own.fetch(tmp_path / "here"))
    np.testing.assert_array_equal(found.inputs, [[1], [3]])
    np.testing.assert_array_equal(found.outputs, [[2], [4]])
    assert found.step == 0.08
    (there / "dryer.dat.gz").write_bytes(lines)
    with pytest.raises(DataMissingError, match="not packed"):
        own.fetch(tmp_path / "again")
    with pytest.raises(ValueError, match="did you mean 'dryer'"):
        daisy("drier")


@pytest.mark.parametrize("name", ["CD_player_arm", "ballbeam", "dryer", "exchanger"])
def test_the_real_systems(name):
    if (sentence := DAISY.missing()) is not None:
        pytest.skip(sentence)
    found = daisy(name)
    assert found.inputs.shape == (len(found.outputs), len(found.input_names))
    assert np.isfinite(found.inputs).all()
    assert np.isfinite(found.outputs).all()


def test_the_real_ratings():
    if (sentence := JESTER.missing()) is not None:
        pytest.skip(sentence)
    found = jester()
    assert (~np.isnan(found)).sum() == 363_209
    assert (np.nanmin(found), np.nanmax(found)) == (-9.95, 9.9)


def test_names_that_come_again_are_references():
    def again(rank):
        return struct.pack(">ii", 0x402, 255 | rank << 8)

    named = [
        struct.pack(">i", 0x402) + symbol("first") + vector([1.0]),
        struct.pack(">i", 0x402) + symbol("second") + vector([2.0]),
        struct.pack(">i", 254),
    ]
    inner = again(2) + vector([3.0]) + again(1) + vector([4.0]) + struct.pack(">i", 254)
    head = b"RDX3\nX\n" + struct.pack(">iiii", 3, 0, 0, 5) + b"UTF-8"
    third = struct.pack(">i", 0x402) + symbol("third") + inner
    found = read_r(head + b"".join([*named[:2], third, named[2]]))
    assert {name: values.tolist() for name, values in found["third"].items()} == {
        "second": [3.0],
        "first": [4.0],
    }
