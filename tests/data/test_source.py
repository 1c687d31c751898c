"""Data sets: found, refused in one sentence, fetched from an address and checked."""

import dataclasses
import hashlib
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from tacit.data import M1_FLINT, SOURCES, DataMissingError, Source, motor_cortex

TEXT = b"1,2\n3,4\n"


@pytest.fixture
def source(tmp_path):
    there = tmp_path / "there"
    there.mkdir()
    (there / "a.csv").write_bytes(TEXT)
    checksum = hashlib.sha256(TEXT).hexdigest()
    return Source("numbers", {"a.csv": checksum}, there.as_uri(), "nobody")


def test_a_copy_at_hand(source, tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    assert "there is no" in source.missing()
    (tmp_path / "numbers").mkdir()
    (tmp_path / "numbers" / "a.csv").write_bytes(TEXT)
    assert source.missing() is None
    assert source.folder() == tmp_path / "numbers"
    assert source.folder(tmp_path / "there") == tmp_path / "there"


def test_what_is_not_at_hand_is_one_sentence(source, tmp_path, monkeypatch):
    monkeypatch.delenv("TACIT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    sentence = source.missing()
    assert "set TACIT_DATA to the folder that holds numbers/ (a.csv" in sentence
    assert "\n" not in sentence
    with pytest.raises(DataMissingError, match="numbers is not at hand"):
        source.folder()
    (tmp_path / "a.csv").write_bytes(b"5,6\n")
    with pytest.raises(DataMissingError, match="is not the file that is meant"):
        source.folder(tmp_path)


def test_fetching_checks_what_came(source, tmp_path, monkeypatch):
    monkeypatch.delenv("TACIT_DATA", raising=False)
    folder = source.fetch(tmp_path / "new" / "numbers")
    assert (folder / "a.csv").read_bytes() == TEXT
    assert [path.name for path in folder.iterdir()] == ["a.csv"]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert source.missing() is not None
    assert source.fetch() == tmp_path / "cache" / "tacit" / "data" / "numbers"
    assert source.missing() is None  # what was fetched is found
    (tmp_path / "there" / "a.csv").write_bytes(b"changed")
    with pytest.raises(DataMissingError, match="has changed"):
        source.fetch(tmp_path / "other")
    (tmp_path / "there" / "a.csv").unlink()
    with pytest.raises(DataMissingError, match="could not be fetched"):
        source.fetch(tmp_path / "other")


def test_fetching_over_http_is_checked_too(source, tmp_path):
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(tmp_path / "there"))

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        there = dataclasses.replace(source, address=f"http://127.0.0.1:{server.server_port}")
        assert (there.fetch(tmp_path / "new") / "a.csv").read_bytes() == TEXT
        lost = dataclasses.replace(there, remote={"a.csv": "b.csv"})
        with pytest.raises(
            DataMissingError, match=r"b\.csv could not be fetched: the server says 404$"
        ):
            lost.fetch(tmp_path / "other")
        server.shutdown()
    with pytest.raises(DataMissingError) as gone:  # nobody listens there any more
        there.fetch(tmp_path / "other")
    words = str(gone.value).removeprefix(f"{there.address}/a.csv could not be fetched: ")
    assert words == "there is no network, or no answer"


def test_a_full_disk_is_not_called_a_lack_of_network(source, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pooch.retrieve", full)
    there = dataclasses.replace(source, address="http://127.0.0.1:1")
    with pytest.raises(DataMissingError, match=r"could not be fetched: .*No space left on device"):
        there.fetch(tmp_path / "new")


@pytest.mark.parametrize("rubbish", [b"\xff\xfe", b"", b"<html>", b"a\tb\n\x80"])
@pytest.mark.parametrize("made_from", SOURCES.values(), ids=list(SOURCES))
def test_what_a_server_sends_in_place_of_a_file_is_one_sentence(made_from, rubbish, tmp_path):
    for file in made_from.files:
        there = tmp_path / made_from.remote.get(file, file)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(rubbish)
    source = dataclasses.replace(made_from, address=tmp_path.as_uri())
    with pytest.raises(
        DataMissingError, match=r"has changed|is not known|is not recomm|is not packed"
    ) as told:
        source.fetch(tmp_path / "fetched")
    assert "\n" not in str(told.value)
    assert not (tmp_path / "fetched").exists()


@pytest.mark.skipif(not os.environ.get("TACIT_DATA"), reason="TACIT_DATA is not set")
def test_the_recording_is_what_it_is_said_to_be():
    if (sentence := M1_FLINT.missing()) is not None:
        pytest.skip(sentence)
    recording = motor_cortex()
    assert recording.activity.shape == (7792, 10)
    assert recording.velocity.shape == (7792, 2)
    assert abs(len(recording.activity) * recording.seconds / 60 - 13) < 0.1
    np.testing.assert_allclose(recording.activity.std(axis=0), 1, atol=0.01)


def test_a_kill_leaves_no_part_of_a_file_under_its_name(source, tmp_path, monkeypatch):
    monkeypatch.delenv("TACIT_DATA", raising=False)
    written = Path.write_bytes

    def half(path, data):
        written(path, data[:3])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", half)
        with pytest.raises(KeyboardInterrupt):
            source.fetch(tmp_path / "new")
    assert not (tmp_path / "new" / "a.csv").exists()
    assert (source.fetch(tmp_path / "new") / "a.csv").read_bytes() == TEXT
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.csv"]
