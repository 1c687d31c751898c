"""Several experiments at once, each in a process of its own."""

import json
import os
import re

import pytest
import xarray

MORE = """
class Dim(Lamp):
    id = "mine/dim"


class Deadly(Lamp):
    id = "mine/deadly"

    def cell(self, batch):
        os.kill(os.getpid(), 9)


class Slow(Lamp):
    id = "mine/slow"
    pause: float = fixed(1.0, "how long a batch takes", low=0.0, high=100.0)

    def cell(self, batch):
        while os.path.exists("after dim") and not os.path.exists("results/mine/dim/claims.json"):
            time.sleep(0.02)
        return Lamp.cell(self, batch)


class Other(Lamp):
    id = "mine/other"
"""
FOUR = [f"lamp.py:{name}" for name in ("Slow", "Lamp", "Dim", "Other")]


@pytest.fixture
def lamps(tacit):
    with (tacit.folder / "lamp.py").open("a") as file:
        file.write(MORE)
    return tacit


def test_results_are_those_of_one_after_another_beside_a_process_that_dies(lamps):
    (lamps.folder / "after dim").touch()  # the slow one waits for it
    together = lamps("reproduce", "lamp.py:Deadly", *FOUR[:3], "--workers", "2", "--json")
    (lamps.folder / "after dim").unlink()
    assert together.returncode == 1  # it costs its own experiment, and no other
    assert "tacit: mine/deadly: its process died" in together.stderr
    dead, *records = json.loads(together.stdout)["experiments"]
    assert list(dead)[2] == "error"
    processes = {line.split()[1] for line in lamps.log.read_text().splitlines()}
    assert len(processes) == 2
    assert str(os.getpid()) not in processes
    (lamps.folder / "results").rename(lamps.folder / "together")
    alone = lamps("reproduce", *FOUR[:3], "--json")
    assert alone.returncode == 0

    names = ["mine/slow", "mine/lamp", "mine/dim"]  # as they were asked for
    assert [record["experiment"] for record in records] == names
    assert [record["experiment"] for record in json.loads(alone.stdout)["experiments"]] == names
    for name in names:
        one, other = (lamps.folder / place / name for place in ("together", "results"))
        assert (one / "claims.json").read_bytes() == (other / "claims.json").read_bytes()
        stores = (xarray.open_zarr(each / "store" / "results.zarr") for each in (one, other))
        assert next(stores).equals(next(stores))
        assert (one / "figure.png").read_bytes().startswith(b"\x89PNG")
    # Told as they end: the slow one last, though it was begun before the other two.
    told = re.findall(r"^(mine/\w+) ·", together.stderr, re.MULTILINE)
    assert sorted(told) == sorted(names)
    assert told[-1] == "mine/slow"


def test_an_interrupt_tells_how_many_are_done(lamps):
    process = lamps.start("reproduce", *FOUR, "--workers", "2", "--fresh")
    lamps.wait_for_parts(2, process)
    done = lamps.interrupt(process)
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    words = r"tacit: interrupted: [0-3] of 4 experiments are done; to go on from there: tacit (.*)"
    found = re.fullmatch(words, last)
    assert found is not None, done.stderr
    assert found[1].split() == ["reproduce", *FOUR, "--workers", "2"]
    assert lamps("reproduce", *FOUR).returncode == 0  # goes on


def test_wrong_use_is_found_before_anything_runs(lamps):
    done = lamps("reproduce", *FOUR, "--workers", "2", "--set", "power=0")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "power" in done.stderr
    assert not (lamps.folder / "results").exists()
