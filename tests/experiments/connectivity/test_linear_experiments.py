"""The linear experiments at their smallest preset, and their analysis on stored curves."""

import numpy as np
import pytest
import xarray

from tacit.experiments.connectivity.fig3 import Fig3
from tacit.experiments.connectivity.fig4 import QUANTITIES
from tacit.experiments.connectivity.figs4 import FigS4
from tacit.experiments.connectivity.linear import LinearExperiment, paper_rate
from tacit.reproduction import find_experiment, reproduce
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
    claims = {claim.name: claim for claim in run.claims}
    data = run.dataset
    if name != "connectivity/exact":
        paper = run.paper_figure()
        labels = [mark.label or "" for panel in paper.panels for mark in panel.marks]
        assert len(paper.panels) == len(run.figure().panels)
        assert not [label for label in labels if "ours" in label or "exact" in label]
    if name == "connectivity/fig3":
        both = ("conservation laws", "functional rank, ẑ = 0.5, g = 0", "trial, ẑ = 2, g = 0")
        assert [claims[each].satisfied for each in both] == [2, 2, 2]  # of two seeds
        # The input begins at t = 1, and the output moves half a step later.
        assert (data["output"].sel(moment=slice(0, 1)) == 0).all()
        assert (data["output"].sel(moment=2.0) != 0).all()
        # A network's own flow is nearer to it than the limit of large ones.
        own, limit = (np.abs(data["loss"] - data[kind]) for kind in ("flow_loss", "limit_loss"))
        assert float(own.mean()) < 0.2 * float(limit.mean())
    if name in ("connectivity/fig3", "connectivity/figs3", "connectivity/exact"):
        # Third order stands still from where its output is the target.
        late = data["time"] >= data["series_end"]
        assert late.any("step").all()
        np.testing.assert_allclose(data["series_loss"].where(late, 0.0), 0, atol=1e-12)
        held = data["series_singular"].where(late)
        np.testing.assert_allclose(held.max("step"), held.min("step"))
        assert (data["series_loss"].where(~late).diff("step").fillna(-1) < 0).all()
    if name == "connectivity/figs3":
        assert claims["rank two, ẑ = 2, g = 0"].satisfied == 2
    if name == "connectivity/exact":
        radii = [claim.verdict for claim in run.claims if claim.name.startswith("radius")]
        assert radii == ["holds"] * 8  # before learning ends, and before third order does
        assert claims["divergence without connectivity"].verdict == "holds"
    if name == "connectivity/fig4":
        weak, strong = (data["shuffled_loss"].sel({"g": g}).mean() for g in (0.0, 0.5))
        assert float(weak) < 1e-4 < float(strong)
        for each in QUANTITIES:
            own, limit = (abs(data[each] / data[kind + each] - 1) for kind in ("flow_", "limit_"))
            assert float(own.max()) < 0.05 < float(limit.max())
        without = data["removed_loss"].sel({"g": 0.0})
        np.testing.assert_allclose(without, 0, atol=1e-3)


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


def test_third_order_is_judged_until_its_end():
    """A network that keeps 0.3 of L₀ away from third order, and is anywhere beyond its end."""
    fig3 = Fig3(target=2.0, g=0.0, seed=range(2))
    time = np.array([0.0, 0.1, 0.2, 0.3, 0.4])
    series = np.array([1.0, 0.8, 0.5, 0.2, 0.0])
    loss = np.array([1.0, 0.75, 0.48, 0.5, 9.0])
    data = xarray.Dataset(
        {
            "outcome": ("seed", ["converged", "diverged"]),
            "time": (("seed", "step"), np.tile(time, (2, 1))),
            "series_end": ("seed", [0.35, 0.35]),
            "series_loss": (("seed", "step"), np.tile(series, (2, 1))),
            "loss": (("seed", "step"), np.tile(2 * loss, (2, 1))),  # in a unit of its own
        }
    )
    half, whole = fig3.series_gaps(data.isel(step=slice(0, 3)), "loss")
    np.testing.assert_allclose(half, [0.05, np.nan])
    np.testing.assert_allclose(whole, [0.05, np.nan])
    np.testing.assert_allclose(fig3.series_gaps(data, "loss")[1], [0.3, np.nan])


def test_the_papers_rates():
    assert [paper_rate(z, 0.0) for z in (0.5, 1.0, 2.0)] == pytest.approx([0.015, 0.009, 0.003])
    assert paper_rate(0.5, 0.6) == pytest.approx(0.015 * 0.64**2)
    assert paper_rate(4.0, 0.0) == pytest.approx(0.003 / 4)


def test_the_papers_strengths_of_figure_s4():
    paper = FigS4.from_preset("paper")
    assert (paper.target, paper.g, paper.width, paper.duration) == (
        (2.0, 4.0),
        (0.6, 0.8),
        256,
        201,
    )
    assert [paper.rate / target for target in paper.target] == [0.002, 0.001]


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
    zero = data["real_parts"].sel({"g": 0.0}).dropna("step")
    np.testing.assert_allclose(zero.isel(step=0), 0, atol=1e-6)
    np.testing.assert_allclose(zero.isel(mode=slice(2, None)), 0, atol=1e-3)
    claims = {claim.name: claim for claim in run.claims}
    without = (~np.isfinite(data["crossing"])).all(["target", "g"]).sum()
    assert claims["explosion at the crossing"].left_out == without
    crossed = np.isfinite(data["crossing"].values)
    highest = data["real_parts"].isel(mode=0).max("step").values
    np.testing.assert_array_equal(crossed, highest > 1)
    assert (run.path / "figure.png").stat().st_size > 10_000
    targets, strengths = run.experiment.target, run.experiment.g
    assert len(run.paper_figure().panels) == len(targets) * (1 + len(strengths))


def test_a_crossing_is_the_first_real_part_above_one(results):
    """Found by the sign of det(I − W); such a network's eigenvalues are known at every epoch."""
    hard = FigS4(target=4.0, g=0.8, width=32, rate=0.02, epochs=100, duration=61, seed=range(6))
    data = reproduce(hard, results=results).dataset.isel(target=0, g=0)
    leading, crossing = data["real_parts"].isel(mode=0), data["crossing"]
    crossed = np.isfinite(crossing)
    assert bool(crossed.any())
    first = leading["step"].where(leading > 1).min("step").fillna(np.inf)
    np.testing.assert_array_equal(first, crossing)
    looked = np.isfinite(leading) | ~np.isfinite(data["loss"])
    assert bool(looked.where(crossed, True).all())
