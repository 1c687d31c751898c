"""memoryless/fig4: its start, its smallest preset, its claims on known data."""

import numpy as np
import pytest
import xarray

from tacit.experiments import UsageError, reproduce
from tacit.experiments.memoryless._symmetry import started
from tacit.experiments.memoryless.fig4 import NORMS, Fig4, Fig4Config
from tacit.store import RATE, SEED, STEP


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """One run for all tests of this file."""
    return reproduce("memoryless/fig4", preset="smoke", results=tmp_path_factory.mktemp("results"))


def test_the_start_is_a_multiple_of_the_identity_with_small_free_maps():
    student, alpha = started(400, 1e-5, seed=0)
    assert 0 <= alpha <= 1
    np.testing.assert_array_equal(np.asarray(student.transition.matrix()), alpha * np.eye(400))
    for entries in (student.B, student.C):
        assert np.asarray(entries).var() == pytest.approx(1e-5, rel=0.2)
    assert np.max(np.abs(np.asarray(student.B).T - np.asarray(student.C))) > 1e-3


def test_the_smallest_preset_follows_the_norms(smoke):
    data = smoke.dataset
    first = data.isel({STEP: 0})
    for seed in smoke.config.seed:
        student, alpha = started(smoke.config.width, smoke.config.variance, seed)
        here = first.sel({SEED: seed}).isel({RATE: 0})
        B, C = np.asarray(student.B), np.asarray(student.C)
        assert float(here["norm_A"]) == pytest.approx(alpha * np.sqrt(smoke.config.width))
        assert float(here["norm_B"]) == pytest.approx(np.linalg.norm(B))
        assert float(here["asymmetry_BC"]) == pytest.approx(np.linalg.norm(B - C.T))
        assert float(here["asymmetry_A"]) == 0
        assert float(here["loss"]) == pytest.approx(0.5, rel=0.01)  # ½ w*²: hardly anything yet
    last = data.isel({STEP: -1})
    assert (last["loss"] < 1e-6).all()
    np.testing.assert_allclose(last["norm_B"].values, 1.0, rtol=0.01)
    assert (data["tail"] < 1e-3).all()
    assert (smoke.path / "figure.png").stat().st_size > 10_000


def made_up(config, asymmetry):
    steps = Fig4().coordinates(config)[STEP]
    shape = len(config.rate), len(config.seed), steps.size
    rising = np.broadcast_to(np.linspace(0.02, 1.0, steps.size), shape)
    data = {name: ((RATE, SEED, STEP), rising.copy()) for name in NORMS}
    data["asymmetry_A"] = ((RATE, SEED, STEP), np.full(shape, asymmetry))
    data["asymmetry_BC"] = ((RATE, SEED, STEP), asymmetry * (2 - rising))
    data["loss"] = ((RATE, SEED, STEP), 0.5 * (1 - rising))
    return xarray.Dataset(data, {RATE: list(config.rate), SEED: list(config.seed), STEP: steps})


def test_claims_tell_symmetry_from_its_absence():
    config = Fig4Config()
    claims = Fig4().claims(made_up(config, 1e-3), config)
    assert {claim.verdict for claim in claims} == {"holds"}
    found = {c.name: c.verdict for c in Fig4().claims(made_up(config, 0.5), config)}
    assert found["rate 0.01: A near Aᵀ"] == "fails"
    assert found["rate 0.1: B near Cᵀ"] == "fails"
    assert found["rate 0.1: B grows"] == "holds"


def test_runs_that_did_not_train_are_left_out():
    config = Fig4Config()
    data = made_up(config, 1e-3)
    data["loss"][...] = 0.1
    assert {claim.samples for claim in Fig4().claims(data, config)} == {0}


def test_a_horizon_within_the_length_is_refused():
    with pytest.raises(UsageError, match="horizon"):
        Fig4Config(length=10, horizon=10)
