"""A power cut at every moment: what was not synced is gone, and what was promised is there."""

import contextlib
import errno
import os
import stat
import sys

import numpy as np
import pytest

from tacit._files import WriteError, is_temporary, write_atomically
from tacit.store import Plan, Store, StoreError, Variable

PLAN = Plan(
    {"width": (40, 100), "seed": (0, 1)},
    {"steps": 3},
    {"error": Variable("error", "lag"), "outcome": Variable("outcome", dtype="str")},
    {"lag": np.arange(3, dtype=np.int32)},
    {},
    "quick",
)
CELLS = [{**PLAN.fixed, **cell} for cell in PLAN.cells()]


def make(path):
    return Store(path, experiment="toy/one", version=1)


def arrays_of(cells):
    errors = [cell["width"] + cell["seed"] + np.arange(3) / 7 for cell in cells]
    return {"error": np.array(errors), "outcome": np.full(len(cells), "converged")}


def add(store, cells):
    return store.add(cells, arrays_of(cells), {"seconds": 1.0})


class Disk:
    """What a folder may hold if the power fails after each of the file operations in it.

    A name is on the disk once its folder was synced, a file's bytes once the file was. Two kinds
    of file systems: `strict` ones lose every other name, `ordered` ones keep names and lose bytes.
    """

    def __init__(self, root, patch):
        self._root, self._pins = root, []
        self._bytes, self._names = {}, {}
        self.images = []
        self._synced(os.open(root, os.O_RDONLY))
        patch.setattr(os, "fsync", self._synced)
        for name in ("rename", "replace", "unlink", "remove", "mkdir", "rmdir", "link"):
            patch.setattr(os, name, self._followed(getattr(os, name)))

    def _synced(self, handle):
        # A second handle keeps the inode's number from being given to another file.
        self._pins.append(os.dup(handle))
        state = os.fstat(handle)
        if stat.S_ISDIR(state.st_mode):
            found = {e.name: (e.inode(), e.is_dir()) for e in os.scandir(handle)}
            self._names[state.st_ino] = found
        else:
            with open(f"/proc/self/fd/{handle}", "rb") as file:
                self._bytes[state.st_ino] = file.read()
        self._look()

    def _followed(self, operation):
        def followed(*arguments, **options):
            operation(*arguments, **options)
            self._look()

        return followed

    def _look(self):
        """Keep both images of this moment: path → bytes, None for a folder."""
        strict, ordered = {}, {}

        def by_sync(folder, inode):
            for name, (inner, is_folder) in self._names.get(inode, {}).items():
                path = os.path.join(folder, name)
                strict[path] = None if is_folder else self._bytes.get(inner, b"")
                if is_folder:
                    by_sync(path, inner)

        by_sync("", os.stat(self._root).st_ino)
        for place, folders, names in os.walk(self._root):
            for name in (*folders, *names):
                path = os.path.join(place, name)
                with contextlib.suppress(FileNotFoundError):  # a thread of zarr's was faster
                    known = self._bytes.get(os.lstat(path).st_ino, b"")
                    ordered[os.path.relpath(path, self._root)] = None if name in folders else known
        self.images += [strict, ordered]

    def close(self):
        for pin in self._pins:
            os.close(pin)


def lay_out(image, folder):
    for path, content in image.items():
        if content is None:
            (folder / path).mkdir(parents=True, exist_ok=True)
    for path, content in image.items():
        if content is not None:
            (folder / path).write_bytes(content)


@pytest.fixture
def disk(tmp_path):
    (tmp_path / "disk").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        watched = Disk(tmp_path / "disk", patch)
        yield watched
        watched.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks into /proc")
def test_what_was_stored_is_there_after_a_power_cut_at_any_moment(disk, tmp_path):
    path, promised = tmp_path / "disk" / "results" / "toy" / "store", []
    store = make(path)
    for step in (
        lambda: add(store, CELLS[:2]),
        lambda: store.add_failure(CELLS[2:3], "RuntimeError: no luck", ""),
        lambda: store.keep_plan(PLAN),
        lambda: add(store, CELLS[2:3]),
        lambda: store.consolidate(PLAN),
        lambda: add(store, CELLS[3:]),
        lambda: store.consolidate(PLAN),
    ):
        step()
        promised.append((len(disk.images), store.keys()))
    images = list(disk.images)
    assert sum(b"" in image.values() for image in images) > 5  # some files lost all they had
    whole = make(path).dataset(PLAN.axes, PLAN.fixed, PLAN.variables, PLAN.coords)
    tried = []
    for number, image in enumerate(images):
        kept = set().union(*(keys for moment, keys in promised if moment <= number))
        seen = {p: b for p, b in image.items() if not any(map(is_temporary, p.split("/")))}
        if (seen, kept) in tried:
            continue
        tried.append((seen, kept))
        folder = tmp_path / f"after{number}"
        folder.mkdir()
        lay_out(image, folder)
        again = make(folder / "results" / "toy" / "store")
        assert kept <= again.keys(), number
        assert again.warnings == []
        missing = again.missing(CELLS)
        if missing:
            add(again, [CELLS[i] for i in missing])
        found = again.dataset(PLAN.axes, PLAN.fixed, PLAN.variables, PLAN.coords)
        assert found.equals(whole)
        if len(tried) % 5 == 0:
            again.consolidate(PLAN)
    assert len(tried) > 15


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks into /proc")
@pytest.mark.parametrize("lost", ["file", "folder"])
def test_the_disk_tells_what_a_write_without_a_sync_loses(disk, tmp_path, monkeypatch, lost):
    """The test above can fail: without either sync a file that was written is lost."""
    synced = os.fsync

    def forgetful(handle):
        if (lost == "folder") != stat.S_ISDIR(os.fstat(handle).st_mode):
            synced(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", forgetful)
        write_atomically(tmp_path / "disk" / "kept", b"content")
    assert {image.get("kept") for image in disk.images[-2:]} != {b"content"}
    write_atomically(tmp_path / "disk" / "kept", b"content")
    assert {image.get("kept") for image in disk.images[-2:]} == {b"content"}


def fail(*_, **__):
    raise OSError(errno.EIO, "Input/output error")


def test_a_sync_that_fails_is_an_error_and_leaves_what_was_there(tmp_path, monkeypatch):
    store = make(tmp_path / "store")
    add(store, CELLS[:2])
    before = sorted(os.listdir(store.path / "parts"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(WriteError, match=r"could not be written: Input/output error"):
            add(store, CELLS[2:])
    assert sorted(os.listdir(store.path / "parts")) == before
    assert store.missing(CELLS) == [2, 3]
    add(store, CELLS[2:])
    assert make(store.path).missing(CELLS) == []


@pytest.mark.parametrize("kind", ["parts", "failures"])
def test_a_disk_that_cannot_be_read_now_moves_nothing(tmp_path, monkeypatch, kind):
    store = make(tmp_path / "store")
    add(store, CELLS[:2])
    store.add_failure(CELLS[2:], "RuntimeError: no luck", "")
    (name,) = (n for n in os.listdir(store.path / kind) if n.startswith("0"))
    opened = os.open

    def broken(path, *arguments, **options):
        return fail() if str(path).endswith(name) else opened(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", broken)
        with pytest.raises(StoreError, match=rf"{name} cannot be read: Input/output error"):
            make(store.path).failures()
    assert name in os.listdir(store.path / kind)
    again = make(store.path)
    assert (again.missing(CELLS), len(again.failures()), again.warnings) == ([2, 3], 2, [])
