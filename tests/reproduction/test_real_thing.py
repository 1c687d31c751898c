"""A real experiment, killed five times with SIGKILL and resumed, equals one left in peace."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time

import xarray

from tacit.reproduction import find_experiment
from tacit.store import Store

EXPERIMENT = "connectivity/figs4"  # in NumPy: what is killed computes, and does not compile
SIZES = {"target": (2.0, 4.0), "g": (0.0, 0.4, 0.6, 0.8), "seed": (0, 1, 2, 3)}
KILLS = 5
ENDED = (0, 3)  # four seeds do not decide every claim


def start(folder, cache):
    sizes = [
        word
        for name, values in SIZES.items()
        for word in ("--set", f"{name}={','.join(map(str, values))}")
    ]
    return subprocess.Popen(
        [sys.executable, "-m", "tacit", "reproduce", EXPERIMENT, "--preset", "smoke", *sizes,
         "--results", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"XDG_CACHE_HOME": str(cache)},
    )  # fmt: skip


def test_killed_five_times_it_equals_the_undisturbed_run(tmp_path):
    batches = find_experiment(EXPERIMENT).from_preset("smoke", **SIZES).grid().batch_count()
    cache, whole, killed = tmp_path / "cache", tmp_path / "whole", tmp_path / "killed"
    assert start(whole, cache).wait(600) in ENDED

    rng = random.Random(5)
    store = killed / EXPERIMENT / "store"
    kills = 0
    for number in range(KILLS):
        child = start(killed, cache)
        # In the middle of a batch, each time further on in the grid.
        while not (_at_work(store, child.pid) and _parts(store) >= number * batches // KILLS):
            assert child.poll() is None, "it ended before it was killed"
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.3))
        child.send_signal(signal.SIGKILL)
        kills += child.wait(60) == -signal.SIGKILL
    assert kills >= KILLS - 1  # the last may come too late
    assert start(killed, cache).wait(600) in ENDED

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
    return len(list((store / "parts").glob("*.npz")))


def _at_work(store, pid):
    """Whether the process has reserved a batch, which is to say that it computes one."""
    for path in (store / "reserved").glob("*"):
        with contextlib.suppress(FileNotFoundError):
            if path.read_text().strip() == str(pid):
                return True
    return False
