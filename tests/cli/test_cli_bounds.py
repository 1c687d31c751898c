"""Work without bounds is refused before anything is laid out, with the count."""

import time

import numpy as np
import pytest

from tacit import reproduce
from tacit.claims import median_interval
from tacit.experiments import UsageError
from tacit.store import MOST_CELLS
from tacit.sweep import Grid

RANGES = ",".join(f"{i}00000..{i}99999" for i in range(1, 10))
REPRODUCE = ["reproduce", "lamp.py"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*REPRODUCE, "--set", "seed=0..99999", "--set", "power=1..10000"], "1,000,000,000 cells"),
        ([*REPRODUCE, "--set", f"seed={RANGES}", "--set", "power=1..9"], "at most 100000"),
        ([*REPRODUCE, "--seeds", "1" + "0" * 23], "allowed is an integer from 1 to 100000"),
        ([*REPRODUCE, "--seeds", "0..99999999999999999999999"], "at most 100000"),
        ([*REPRODUCE, "--set", f"seed={2**63}"], f"from 0 to {2**63 - 1}"),
        ([*REPRODUCE, "--set", "power=1" + "0" * 400], f"from 1 to {2**63 - 1}"),
        ([*REPRODUCE, "--set", "power=" + "9" * 5000], "allowed is an integer"),
        (["status", "lamp.py", "--seeds", "99999", "--set", "power=1..9999"], "999,890,001 cells"),
        (["verify", "--instances", "1" + "0" * 23], "instances: received"),
        (["verify", "--instances", "9" * 5000], "instances"),
        (["reproduce", "x" * 5000], "is not known"),
        (["status", "x" * 5000], "is too long a name"),
        (["merge", "x" * 5000], "at most 255 characters"),
        (["reproduce", "lamp.py", "--results", "x" * 5000], "at most 255 characters"),
        (["reproduce", "lamp.py", "--preset", "x" * 5000], "has no preset"),
    ],
)
def test_too_much_is_one_sentence_at_once(tacit, arguments, words):
    start = time.process_time()
    done = tacit(*arguments)
    assert done.returncode == 2, done
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < 1200
    assert time.process_time() - start < 10
    assert not (tacit.folder / "results").exists()


def test_in_python_too(tacit):
    for overrides in (
        {"seed": range(10**9)},
        {"seeds": range(10**30)},
        {"seeds": 10**30},
        {"power": range(1, 10**15)},
    ):
        with pytest.raises(UsageError, match=r"at most|allowed"):
            reproduce("lamp.py", **overrides)
    with pytest.raises(ValueError, match=r"1,000,000,000 cells.*at most 2,000,000"):
        Grid({name: tuple(range(1000)) for name in "abc"})
    assert MOST_CELLS == 2_000_000


def test_the_median_of_many_samples_has_its_interval_at_once():
    samples = np.random.default_rng(0).normal(size=16_000)
    start = time.process_time()
    low, high = median_interval(samples)
    assert time.process_time() - start < 2  # it took 13.6 s
    assert low < np.median(samples) < high
    assert np.mean((samples > low) & (samples < high)) == pytest.approx(0.0184, abs=5e-4)
