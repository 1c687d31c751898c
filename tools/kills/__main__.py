"""Runs killed with SIGKILL at random moments, gone on with, and compared with one left in peace.

    python tools/kills                    200 kills over five experiments, one after another
    python tools/kills --kills 12         fewer
    python tools/kills --modes here       in one process only; also workers, dask

A round is a fresh folder, a few kills, each of the same command, and then the command once more to
its end: every array must have the bits of the run that was left in peace, `results.zarr` too, and
`tacit check` must find nothing but temporary files of the killed. With workers it is the command or
one of its processes that is killed, as chance has it. Exit code 1 if anything differs.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from runs import Run, differences, preload

EXPERIMENTS = (
    "lowdim/threshold", "memoryless/fig4", "depth/fig2", "connectivity/exact", "connectivity/figs3",
)  # fmt: skip
MODES = {"here": (), "workers": ("--workers", "2"), "dask": ("--scheduler", "local")}
SHARES = {"here": 0.7, "workers": 0.15, "dask": 0.15}  # of the kills
A_ROUND = 5  # kills


def main() -> int:
    """Parse, kill, tell."""
    parser = argparse.ArgumentParser(prog="tools/kills")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--modes", nargs="*", default=list(MODES), choices=list(MODES))
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    preload(EXPERIMENTS)
    folder = Path(tempfile.mkdtemp(prefix="kills"))
    rng = random.Random(asked.seed)
    whole = sum(SHARES[mode] for mode in asked.modes)
    found, wrong = Counter[str](), []
    for mode in asked.modes:
        left = round(asked.kills * SHARES[mode] / whole)
        while left > 0:
            experiment = EXPERIMENTS[found["rounds"] % len(EXPERIMENTS)]
            killed, bad = _round(folder, experiment, mode, min(left, A_ROUND), rng, found)
            left -= killed
            wrong += bad
    print(
        f"{found['kills']} kills of {len(EXPERIMENTS)} experiments in {found['rounds']} rounds: "
        + ", ".join(f"{found[mode]} {mode}" for mode in asked.modes)
        + f"; {found['processes']} of a process of workers; {found['at work']} with batches still "
        f"to compute; {found['left over']} processes left over; {len(wrong)} findings"
    )
    return bool(wrong)


_PEACE: dict[str, Path] = {}
_TIMES: dict[tuple[str, str], float] = {}


def _round(
    folder: Path, experiment: str, mode: str, kills: int, rng: random.Random, found: Counter[str]
) -> tuple[int, list[str]]:
    """How many kills there were, and what is wrong at the end."""
    peace = _undisturbed(folder, experiment, mode)
    place = folder / f"{mode}-{found['rounds']}"
    found["rounds"] += 1
    killed = 0
    for _ in range(4 * kills):
        if killed == kills:
            break
        run = Run(experiment, place, MODES[mode])
        time.sleep(_TIMES[experiment, mode] * rng.random() ** 2)  # more while it computes
        of_a_worker = mode != "here" and rng.random() < 0.5
        if not (run.kill_a_child(rng) if of_a_worker else run.kill()):
            run.end()
            break  # it was done; killing it again would find nothing to do
        killed += 1
        found["processes"] += of_a_worker
        found["left over"] += run.end()
        found["at work"] += bool(differences(experiment, peace, place, quick=True))
    run = Run(experiment, place, MODES[mode])
    run.end()
    wrong = [f"{experiment} {mode}: {words}" for words in differences(experiment, peace, place)]
    if run.code not in (0, 1, 3):  # the verdicts of so small a preset are their own affair
        wrong.append(f"{experiment} {mode}: exit code {run.code}: {run.words()}")
    found["kills"] += killed
    found[mode] += killed
    print(f"{experiment} {mode}: {killed} kills; {'; '.join(wrong) or 'the same bits'}", flush=True)
    return killed, wrong


def _undisturbed(folder: Path, experiment: str, mode: str) -> Path:
    """The folder of a run in one process that nobody kills; each mode is timed once."""
    for timed in dict.fromkeys(("here", mode)):
        if (experiment, timed) in _TIMES:
            continue
        place = folder / f"peace-{timed}" / experiment.replace("/", "-")
        start = time.monotonic()
        run = Run(experiment, place, MODES[timed])
        run.end()
        _TIMES[experiment, timed] = time.monotonic() - start
        if run.code not in (0, 1, 3):
            raise SystemExit(f"{experiment} {timed} fails when left in peace: {run.words()}")
        print(f"{experiment} {timed}: {_TIMES[experiment, timed]:.1f} s in peace", flush=True)
        _PEACE.setdefault(experiment, place)
    return _PEACE[experiment]


if __name__ == "__main__":
    sys.exit(main())
