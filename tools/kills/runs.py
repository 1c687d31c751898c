"""One run of `tacit reproduce` in a process of its own, and the comparison of two runs' bits."""

import contextlib
import os
import random
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.store import Plan, Store

PATIENCE = 60  # seconds for the processes of a killed run to end by themselves


def preload(experiments: Iterable[str]) -> None:
    """Import what every run needs: runs are forks, and JAX starts nothing before its first use."""
    import dask.array
    import dask.distributed  # noqa: F401
    import diffrax  # noqa: F401
    import fontTools.subset  # noqa: F401
    import matplotlib.figure  # noqa: F401
    import PIL.Image  # noqa: F401
    import xarray  # noqa: F401
    import zarr  # noqa: F401

    import tacit.cli  # noqa: F401
    from tacit.reproduction import find_experiment

    for experiment in experiments:
        find_experiment(experiment)


class Run:
    """A command at work, in a session of its own, so that its processes are known."""

    def __init__(self, experiment: str, results: Path, options: tuple[str, ...]) -> None:
        results.mkdir(parents=True, exist_ok=True)
        self.log = results / "log.txt"
        self.code: int | None = None
        arguments = ("reproduce", experiment, "--preset", "smoke", "--results", str(results))
        self.pid = _forked([*arguments, *options], self.log)

    def kill(self) -> bool:
        """Kill the command itself; False if it has ended."""
        if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return False
        os.kill(self.pid, signal.SIGKILL)
        return True

    def kill_a_child(self, rng: random.Random) -> bool:
        """Kill one of its processes, or itself as long as it has none; False if it has ended."""
        children = sorted(pid for pid in _session(self.pid) if pid != self.pid)
        if not children:
            return self.kill()
        with contextlib.suppress(ProcessLookupError):
            os.kill(rng.choice(children), signal.SIGKILL)
        return True

    def end(self) -> int:
        """Wait until all its processes are gone; how many had to be ended."""
        _, status = os.waitpid(self.pid, 0)
        self.code = os.waitstatus_to_exitcode(status)
        until = time.monotonic() + PATIENCE
        while (left := _session(self.pid)) and time.monotonic() < until:
            time.sleep(0.05)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(left)

    def words(self) -> str:
        """The end of what it printed."""
        return " ".join(self.log.read_text(errors="replace").split())[-400:]


def _forked(arguments: list[str], log: Path) -> int:
    child = os.fork()
    if child:
        return child
    os.setsid()
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    code = 99
    try:
        from tacit.cli import main

        sys.argv = ["tacit", *arguments]
        main()
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    finally:
        sys.stdout.flush()
        os._exit(code)


def _session(leader: int) -> list[int]:
    """The processes of a session that have not ended."""
    return [pid for pid, session, state in _processes() if session == leader and state not in "ZX"]


def _processes() -> Iterator[tuple[int, int, str]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                yield int(entry.name), int(fields[3]), fields[0]


def differences(experiment: str, peace: Path, other: Path, *, quick: bool = False) -> list[str]:
    """In what two runs' results differ; `quick` looks only for cells that are missing."""
    from tacit.store import Store, StoreError, findings

    try:
        known, found = (
            Store.existing(place / experiment / "store", read_only=True) for place in (peace, other)
        )
    except (StoreError, OSError) as error:
        return [f"no store: {error}"]
    plan = known.plan()
    if plan is None:
        return ["the undisturbed run has no plan"]
    missing = sum(place is None for place in found.places(plan))
    if missing:
        return [f"{missing} cells are missing"]
    if quick:
        return []
    # What a killed process was writing is removed after a day, when surely nobody writes it.
    harm = (one.what for one in findings(found) if "a run that was killed" not in one.what)
    return [*_other_bits(known, found, plan), *(f"tacit check says: {what}" for what in harm)]


def _other_bits(known: "Store", found: "Store", plan: "Plan") -> Iterator[str]:
    import xarray

    grid = (plan.axes, plan.fixed, plan.variables, plan.coords)
    expected = known.dataset(*grid)
    images = {"parts": found.dataset(*grid)}
    with xarray.open_zarr(found.path / "results.zarr") as opened:
        images["results.zarr"] = opened.load()
    for where, image in images.items():
        for name in expected.data_vars:
            if image[name].values.tobytes() != expected[name].values.tobytes():
                yield f"{name} has other bits in {where}"
    yield from (f"a warning: {words}" for words in found.warnings)
