"""memoryless/fig4: its start, its smallest preset, its claims on known data."""

import numpy as np
import pytest
import xarray

from tacit.experiments import UsageError
from tacit.experiments.memoryless.fig4 import NORMS, Fig4
from tacit.reproduction import reproduce


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """One run for all tests of this file."""
    return reproduce("memoryless/fig4", preset="smoke", results=tmp_path_factory.mktemp("results"))


def test_the_start_is_a_multiple_of_the_identity_with_small_free_maps():
    student, alpha = Fig4(width=400, variance=1e-5).student(0)
    assert 0 <= alpha <= 1
    np.testing.assert_array_equal(np.asarray(student.transition.matrix()), alpha * np.eye(400))
    for entries in (student.B, student.C):
        assert np.asarray(entries).var() == pytest.approx(1e-5, rel=0.2)
    assert np.max(np.abs(np.asarray(student.B).T - np.asarray(student.C))) > 1e-3


def test_the_smallest_preset_follows_the_norms(smoke):
    data, experiment = smoke.dataset, smoke.experiment
    first = data.isel(step=0)
    for seed in experiment.seed:
        student, alpha = experiment.student(seed)
        here = first.sel(seed=seed).isel(rate=0)
        B, C = np.asarray(student.B), np.asarray(student.C)
        assert float(here["norm_A"]) == pytest.approx(alpha * np.sqrt(experiment.width))
        assert float(here["norm_B"]) == pytest.approx(np.linalg.norm(B))
        assert float(here["asymmetry_BC"]) == pytest.approx(np.linalg.norm(B - C.T))
        assert float(here["asymmetry_A"]) == 0
        assert float(here["loss"]) == pytest.approx(0.5, rel=0.01)  # ½ w*²: hardly anything yet
    last = data.isel(step=-1)
    assert (last["loss"] < 1e-6).all()
    np.testing.assert_allclose(last["norm_B"].values, 1.0, rtol=0.01)
    assert (data["tail"] < 1e-3).all()
    assert (smoke.path / "figure.png").stat().st_size > 10_000


def made_up(experiment, asymmetry):
    """B and C grow from where the start puts them to √w*, with the asymmetry given at the end."""
    steps = experiment.coordinates()["step"]
    shape = len(experiment.rate), len(experiment.seed), steps.size
    first = np.sqrt(experiment.variance * experiment.width)
    rising = np.broadcast_to(np.linspace(first, 1.0, steps.size), shape)
    data = {name: rising.copy() for name in NORMS}
    share = np.array(experiment.rate)[:, None, None] * np.linspace(0, 1, steps.size)
    data["norm_C"] = np.sqrt(rising**2 - 1e-4 * first**2 * (1 + share))  # drifts with the rate
    data["norm_A"] = np.ones(shape)
    data["asymmetry_A"] = np.full(shape, asymmetry)
    data["asymmetry_BC"] = asymmetry * (2 - rising)
    data["loss"] = 0.5 * (1 - rising)
    labels = {"rate": list(experiment.rate), "seed": list(experiment.seed), "step": steps}
    return xarray.Dataset({n: (("rate", "seed", "step"), a) for n, a in data.items()}, labels)


def test_claims_tell_symmetry_from_its_absence():
    experiment = Fig4()
    claims = experiment.claims(made_up(experiment, 3e-4))
    assert len(claims) == 12
    assert {claim.verdict for claim in claims} == {"holds"}
    found = {c.name: c.verdict for c in experiment.claims(made_up(experiment, 0.5))}
    assert found["rate 0.01: A near Aᵀ"] == "fails"
    assert found["rate 0.1: B near Cᵀ"] == "fails"
    assert found["rate 0.1: B − Cᵀ shrinks as B + Cᵀ grows: not more"] == "fails"
    assert found["rate 0.1: B grows"] == "holds"


def test_the_drift_must_go_with_the_rate():
    experiment = Fig4()

    def verdicts(data):
        found = {c.name: c.verdict for c in experiment.claims(data)}
        name = "the drift of ‖B‖² − ‖C‖² goes with the rate"
        return found[f"{name}: not less"], found[f"{name}: not more"]

    data = made_up(experiment, 3e-4)
    assert verdicts(data) == ("holds", "holds")
    same = data.copy(deep=True)
    same["norm_C"].loc[{"rate": 0.01}] = same["norm_C"].sel(rate=0.1)
    assert verdicts(same) == ("fails", "holds")  # no discretisation error
    steep = data.copy(deep=True)
    gap = (data["norm_B"] ** 2 - data["norm_C"] ** 2).sel(rate=0.1)
    drifted = gap.isel(step=0) * (1 + 100 * (gap / gap.isel(step=0) - 1))
    steep["norm_C"].loc[{"rate": 0.1}] = (data["norm_B"].sel(rate=0.1) ** 2 - drifted) ** 0.5
    assert verdicts(steep) == ("holds", "fails")
    assert not any("drift" in c.name for c in Fig4(rate=0.1).claims(made_up(Fig4(rate=0.1), 3e-4)))


@pytest.mark.parametrize(("variance", "expected"), [(1e-3, "holds"), (1e-2, "fails")])
def test_bounds_follow_the_start(variance, expected):
    experiment = Fig4(variance=variance)
    small = variance * experiment.width
    found = {c.name: c for c in experiment.claims(made_up(experiment, small))}
    assert found["rate 0.1: B grows"].verdict == "holds"  # less than tenfold in both
    assert found["rate 0.1: B near Cᵀ"].verdict == expected == found["rate 0.1: B near Cᵀ"].expected


def test_runs_that_did_not_train_are_left_out():
    experiment = Fig4()
    data = made_up(experiment, 1e-3)
    data["loss"][...] = 0.1
    assert {claim.samples for claim in experiment.claims(data)} == {0}


def test_a_horizon_within_the_length_is_refused():
    with pytest.raises(UsageError, match="horizon"):
        Fig4(length=10, horizon=10)
