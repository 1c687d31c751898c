"""The linear experiments at their smallest preset, and their analysis on stored curves."""

import numpy as np
import pytest

from tacit.experiments import find_experiment, reproduce
from tacit.experiments.connectivity.figs4 import FigS4
from tacit.experiments.connectivity.linear import LinearExperiment, paper_rate
from tacit.theory.connectivity import DescentCurve

IDS = ("connectivity/fig3", "connectivity/figs3", "connectivity/fig4", "connectivity/exact")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


def ended(losses, *, diverged=False):
    """A run with these losses."""
    return DescentCurve(np.asarray(losses, float), np.ones(len(losses)), [], diverged)


@pytest.mark.parametrize("name", IDS)
def test_smoke(name, results):
    run = reproduce(name, preset="smoke", results=results)
    assert set(np.unique(run.dataset["outcome"].values)) == {"converged"}
    assert len({claim.name for claim in run.claims}) == len(run.claims)
    assert (run.path / "figure.png").stat().st_size > 10_000
    verdicts = {claim.name: claim.verdict for claim in run.claims}
    if name == "connectivity/fig3":
        assert verdicts["conservation laws"] == "holds"
        assert verdicts["exact flow, ẑ = 0.5, g = 0"] == "holds"
        gap, _ = run.experiment.series_gap(run.dataset, "limit_loss", 2.0, 0.6)
        assert gap > 0.1
        # A network's own flow is nearer to it than the limit of large ones.
        data = run.dataset
        own, limit = (np.abs(data["loss"] - data[kind]) for kind in ("flow_loss", "limit_loss"))
        assert float(own.mean()) < 0.2 * float(limit.mean())
    if name == "connectivity/figs3":
        assert verdicts["rank two, ẑ = 2, g = 0"] == "holds"
    if name == "connectivity/exact":
        assert all(v == "holds" for k, v in verdicts.items() if k.startswith("radius"))
        assert verdicts["divergence without connectivity"] == "holds"
    if name == "connectivity/fig4":
        weak, strong = (run.dataset["shuffled_loss"].sel({"g": g}).mean() for g in (0.0, 0.5))
        assert float(weak) < 1e-4 < float(strong)


@pytest.mark.parametrize("name", IDS)
def test_the_papers_networks_have_1024_units(name):
    kind = find_experiment(name)
    assert issubclass(kind, LinearExperiment)
    assert {"smoke", "quick", "paper"} <= kind.presets.keys()
    assert kind.from_preset("paper").width == 1024


def test_the_learning_time_is_between_the_epochs():
    experiment = find_experiment("connectivity/fig3")(fraction=0.05)
    losses = np.exp(-0.1 * np.arange(100))
    assert experiment.learning_time(ended(losses), 0.5) == pytest.approx(0.5 * 10 * np.log(20))
    assert experiment.learning_time(ended(np.ones(5)), 1.0) == np.inf


def test_the_papers_rates():
    assert [paper_rate(z, 0.0) for z in (0.5, 1.0, 2.0)] == pytest.approx([0.015, 0.009, 0.003])
    assert paper_rate(0.5, 0.6) == pytest.approx(0.015 * 0.64**2)
    assert paper_rate(4.0, 0.0) == pytest.approx(0.003 / 4)


def test_fates():
    smooth = 0.9 ** np.arange(80)
    jumped = smooth.copy()
    jumped[40] = 0.5
    figs4 = FigS4(fraction=0.05)
    assert figs4.fate(ended(smooth)) == "smooth"
    assert figs4.fate(ended(jumped)) == "recovered"
    assert figs4.fate(ended(np.maximum(smooth, 0.06))) == "stuck"
    assert figs4.fate(ended(smooth, diverged=True)) == "diverged"


def test_smoke_of_the_explosion(results):
    run = reproduce("connectivity/figs4", preset="smoke", results=results)
    data = run.dataset
    assert set(np.unique(data["fate"].values)) <= {"smooth", "recovered", "stuck", "diverged"}
    np.testing.assert_array_equal(data["loss"].isel(step=0), 1.0)
    # Without initial connectivity all eigenvalues but one are small, and none is there at first.
    zero = data["real_parts"].sel({"g": 0.0})
    np.testing.assert_allclose(zero.isel(step=0), 0, atol=1e-6)
    np.testing.assert_allclose(zero.isel(mode=slice(2, None)), 0, atol=1e-3)
    crossed = np.isfinite(data["crossing"].values)
    highest = data["real_parts"].isel(mode=0).max("step").values
    np.testing.assert_array_equal(crossed, highest > 1)
    assert (run.path / "figure.png").stat().st_size > 10_000
