"""What is not as it should be in a store, and what has gathered there; nothing is changed."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tacit._doors import door, having, path
from tacit._files import is_temporary
from tacit.store import _results
from tacit.store._files import ASIDE, names_in
from tacit.store._reservation import is_held

if TYPE_CHECKING:
    from tacit.store._store import Store

_OLD = re.compile(r".+\.old-[0-9]+")


@dataclass(frozen=True)
class Finding:
    """Something in a store that is not whole, and what mends it."""

    what: str
    repair: str


@door(store=having("plan", "path", "warnings"))
def findings(store: "Store") -> Iterator[Finding]:
    """What is wrong in a store that was opened to be read only."""
    plan = store.plan()
    if plan is not None:
        store.fit(plan)
    list(store.failures())
    for warning in store.warnings:
        plain = warning.removesuffix(" and is passed over")
        repair = "the next run writes it anew" if "plan.json" in warning else "set it aside"
        yield Finding(plain, repair)
    if plan is not None:
        state = _results.state(store, plan, store.path / "results.zarr")
        if state is not None:
            yield Finding(f"results.zarr {state}", "make it again from the parts")
    for folder in (store.path, store.path / "parts", store.path / "failures"):
        for name in names_in(folder, "", hidden=True):
            if is_temporary(name):
                yield Finding(
                    f"{name} is of a run that was killed, or writes it", "remove it after a day"
                )
    for name in names_in(store.path / "reserved", ""):
        if not is_held(store.path / "reserved" / name):
            yield Finding(f"reserved/{name} is held by nobody", "remove it")


@dataclass(frozen=True)
class Leftover:
    """A folder that nothing reads any more: an old store, or files that were set aside."""

    path: Path
    kind: str
    files: int
    bytes: int


@door(folder=path)
def leftovers(folder: str | os.PathLike[str]) -> list[Leftover]:
    """The stores that `--fresh` has moved aside below a folder, and what was set aside in stores.

    No link is followed, and only what tacit itself has named so is taken.
    """
    found = []
    for place, folders, names in os.walk(os.path.expanduser(folder)):
        folders[:] = sorted(name for name in folders if not Path(place, name).is_symlink())
        for name in list(folders):
            path = Path(place, name)
            if _OLD.fullmatch(name) and (path / "store.json").is_file():
                found.append(_measured(path, "an old store"))
                folders.remove(name)
            elif name == ASIDE and path.parent.name in ("parts", "failures"):
                if (path.parents[1] / "store.json").is_file():
                    found.append(_measured(path, "set aside"))
                folders.remove(name)
            elif name == "results.zarr" and "store.json" in names:
                folders.remove(name)
    return found


def _measured(path: Path, kind: str) -> Leftover:
    sizes = [
        os.lstat(os.path.join(place, name)).st_size
        for place, _, names in os.walk(path)
        for name in names
    ]
    return Leftover(path, kind, len(sizes), sum(sizes))
