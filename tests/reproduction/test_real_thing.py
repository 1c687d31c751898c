"""A real experiment, killed twice with SIGKILL and resumed, equals one left in peace."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
import xarray

from tacit.reproduction import find_experiment
from tacit.store import Store

EXPERIMENT = "connectivity/figs4"  # in NumPy: what is killed computes, and does not compile
SIZES = {"target": (2.0, 4.0), "g": (0.0, 0.8), "seed": (0, 1)}
KILLS = 2
ENDED = (0, 3)  # two seeds do not decide every claim


# Python and its packages are loaded once; every run is a process of its own, which can be killed.
SERVER = f"""
import json, os, sys
import matplotlib.figure, xarray, zarr
from tacit.cli import run
from tacit.reproduction import find_experiment
find_experiment({EXPERIMENT!r})
for line in sys.stdin:
    asked = json.loads(line)
    if isinstance(asked, int):
        answer = os.waitstatus_to_exitcode(os.waitpid(asked, 0)[1])
    elif not (answer := os.fork()):
        quiet = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(quiet, number)
        os._exit(run(asked))
    print(answer, flush=True)
"""


@pytest.fixture
def ask(tmp_path):
    """Starts `tacit` with a list of arguments and tells its process, or waits for a process."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")},
    ) as server:

        def asked(what):
            server.stdin.write(json.dumps(what) + "\n")
            server.stdin.flush()
            return int(server.stdout.readline())

        yield asked
        server.stdin.close()


def arguments(folder):
    sizes = [
        word
        for name, values in SIZES.items()
        for word in ("--set", f"{name}={','.join(map(str, values))}")
    ]
    return ["reproduce", EXPERIMENT, "--preset", "smoke", *sizes, "--results", str(folder)]


def test_killed_twice_it_equals_the_undisturbed_run(ask, tmp_path):
    batches = find_experiment(EXPERIMENT).from_preset("smoke", **SIZES).grid().batch_count()
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert ask(ask(arguments(whole))) in ENDED

    rng = random.Random(5)
    store = killed / EXPERIMENT / "store"
    kills = 0
    for number in range(KILLS):
        child = ask(arguments(killed))
        # In the middle of a batch, each time further on in the grid.
        while not (_at_work(store, child) and _parts(store) >= number * batches // KILLS):
            assert _parts(store) < batches, "it ended before it was killed"
            time.sleep(0.03)
        time.sleep(rng.uniform(0.0, 0.3))
        os.kill(child, signal.SIGKILL)
        kills += ask(child) == -signal.SIGKILL
    assert kills >= KILLS - 1  # the last may come too late
    assert ask(ask(arguments(killed))) in ENDED

    folders = [folder / EXPERIMENT for folder in (whole, killed)]
    undisturbed, resumed = (xarray.open_zarr(f / "store" / "results.zarr").load() for f in folders)
    assert resumed.equals(undisturbed)
    assert resumed["present"].values.all()
    assert json.loads((folders[0] / "claims.json").read_text())["claims"]
    assert len({(folder / "claims.json").read_bytes() for folder in folders}) == 1
    resumed_store = Store.existing(store)
    assert resumed_store.warnings == []
    assert len(resumed_store.parts()) == batches  # each batch was stored once


def _parts(store):
    return len(list((store / "parts").glob("*.safetensors")))


def _at_work(store, pid):
    """Whether the process has reserved a batch, which is to say that it computes one."""
    for path in (store / "reserved").glob("*"):
        with contextlib.suppress(FileNotFoundError):
            if path.read_text().strip() == str(pid):
                return True
    return False
