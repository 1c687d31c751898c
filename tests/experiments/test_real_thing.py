"""A real experiment, killed five times with SIGKILL and resumed, equals one left in peace."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import xarray

from tacit.experiments import find_experiment, parse_settings
from tacit.store import Store

EXPERIMENT = "lowdim/fig1a"
PRESET = "smoke"
SETTINGS = ["steps=40", "polish_steps=5", "width=8", "length=10,11", "method=adam,gd"]
KILLS = 5


def start(folder, cache):
    settings = [word for setting in SETTINGS for word in ("--set", setting)]
    return subprocess.Popen(
        [sys.executable, "-m", "tacit", "reproduce", EXPERIMENT, "--preset", PRESET, *settings,
         "--results", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"XDG_CACHE_HOME": str(cache)},
    )  # fmt: skip


def test_killed_five_times_it_equals_the_undisturbed_run(tmp_path):
    experiment = find_experiment(EXPERIMENT)
    config = experiment.presets[PRESET].with_overrides(parse_settings(experiment, SETTINGS))
    batches = experiment.grid(config).batch_count()
    cache, whole, killed = tmp_path / "cache", tmp_path / "whole", tmp_path / "killed"
    assert start(whole, cache).wait(600) in (0, 1)

    rng = random.Random(5)
    parts = killed / EXPERIMENT / "store" / "parts"
    kills = 0
    for number in range(KILLS):
        child = start(killed, cache)
        while len(list(parts.glob("*.npz"))) <= number * batches // (KILLS + 1):
            assert child.poll() is None, "it ended before it was killed"
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.2))
        child.send_signal(signal.SIGKILL)
        kills += child.wait(60) == -signal.SIGKILL
    assert kills >= KILLS - 1  # the last may come too late
    assert start(killed, cache).wait(600) in (0, 1)

    folders = [folder / EXPERIMENT for folder in (whole, killed)]
    undisturbed, resumed = (xarray.open_zarr(f / "store" / "results.zarr").load() for f in folders)
    assert resumed.equals(undisturbed)
    assert resumed["present"].values.all()
    claims = [json.loads((f / "claims.json").read_text())["claims"] for f in folders]
    assert claims[0] == claims[1]
    store = Store.existing(folders[1] / "store")
    assert store.warnings == []
    assert len(store.parts()) == batches  # each batch was stored once
