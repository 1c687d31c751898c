"""depth/fig3, fig31 to fig33 and plasticity at their smallest presets, against other numbers."""

import jax
import numpy as np
import pytest
import scipy.integrate

from tacit.experiments import UsageError
from tacit.experiments.depth.fig3 import Fig3
from tacit.experiments.depth.fig31to33 import Fig32, Fig33
from tacit.measures import effective_rank, stable_rank
from tacit.reproduction import reproduce
from tacit.theory.depth import lazy_bound, plasticity_bound


def two_factor_flow(A, B, target, mask, until, tolerance=1e-10):
    """The end of ½ Σ_Ω (AB − w)² from (A, B) by SciPy's DOP853."""
    d = len(A)

    def velocity(_, flat):
        A, B = flat.reshape(2, d, d)
        error = np.where(mask, A @ B - target, 0.0)
        return -np.stack([error @ B.T, A.T @ error]).ravel()

    path = scipy.integrate.solve_ivp(
        velocity,
        (0, until),
        np.stack([A, B]).ravel(),
        method="DOP853",
        rtol=tolerance,
        atol=1e-12,
        t_eval=[until],
    )
    return path.y[:, -1].reshape(2, d, d)


@pytest.fixture(scope="module")
def fig3(tmp_path_factory):
    """One run for all tests of it."""
    return reproduce("depth/fig3", preset="smoke", results=tmp_path_factory.mktemp("results"))


def test_every_stage_of_fig3_ends_at_the_goal(fig3):
    data = fig3.dataset
    assert list(data["stage"].values) == ["pre", "warm", "cold"]
    assert (data["stage_outcome"] == "converged").all()
    assert (data["outcome"] == "converged").all()
    assert float(data["loss"].max()) <= 0.5 * fig3.experiment.goal * fig3.experiment.size**2
    # More entries, a smaller error; and a warm start carries along what the first fit had.
    error = data["error"].mean("seed").sel(scale=0.01)
    assert (error.sel(stage="cold") < error.sel(stage="pre")).all()
    rank = data["effective_rank"].sel(scale=0.01, depth=2)
    assert (rank.sel(stage="warm") > rank.sel(stage="cold")).all()


def test_pre_training_of_fig3_is_gradient_flow(fig3):
    """Depth 2: the same numbers, integrated by SciPy to the time that the flow reports."""
    with jax.enable_x64(True):
        target, start, patterns = fig3.experiment.draw_trial(0, 0.01, 2)
    target = np.asarray(target)
    assert patterns[0] <= patterns[1]
    assert patterns[0].count == fig3.experiment.few
    assert abs(target.std() / np.sqrt(2) - 1) < 0.3  # of rank two, N(0, 1)·N(0, 1)ᵀ
    assert np.array_equal(*start.factors)  # the public code's start
    run = fig3.dataset.sel(depth=2, seed=0, scale=0.01, stage="pre")
    A, B = np.asarray(start.factors[1]), np.asarray(start.factors[0])
    A, B = two_factor_flow(A, B, target, patterns[0].mask, float(run["time"]), 1e-7)
    assert float(run["effective_rank"]) == pytest.approx(effective_rank(A @ B), rel=5e-3)
    off = np.linalg.norm(A @ B - target) / np.linalg.norm(target)
    assert float(run["error"]) == pytest.approx(off, rel=5e-3)


def test_every_scale_of_fig3_is_claimed_and_drawn(fig3):
    assert len(fig3.experiment.scale) == 2
    assert len(fig3.figure().panels) == 4
    names = [claim.name for claim in fig3.claims]
    assert sum(name.endswith("αᴸ = 0.01") for name in names) == 4
    assert sum(name.endswith("αᴸ = 0.0001") for name in names) == 4


def test_the_texts_start_of_fig3_has_a_draw_for_each_factor():
    with jax.enable_x64(True):
        text, code = (
            np.stack(Fig3(protocol=name).draw_trial(0, 0.01, 3)[1].factors)
            for name in ("text", "code")
        )
    assert len(np.unique(text[:, 0, 0])) == 3
    assert len(np.unique(code[:, 0, 0])) == 1
    assert text.std() == pytest.approx(0.01 ** (1 / 3) / 10, rel=0.05)


def test_fig3_says_what_cannot_be():
    with pytest.raises(UsageError, match="more: received 10"):
        Fig3(few=20, more=10)
    with pytest.raises(UsageError, match="rank: received 50"):
        Fig3(size=30, rank=50, few=10, more=20)


@pytest.fixture(scope="module")
def fig31(tmp_path_factory):
    """One run for all tests of it."""
    return reproduce("depth/fig31", preset="smoke", results=tmp_path_factory.mktemp("results"))


def test_fig31_shows_both_values_of_the_paper(fig31):
    data, claims = fig31.dataset, {claim.name: claim for claim in fig31.claims}
    assert list(data["added"].values) == [0.5, 0.1]
    assert claims["the text's 1.8 with the text's w₁₂"].verdict == "holds"
    assert claims["the text's 1.8 with the caption's w₁₂"].verdict == "fails"
    assert all(claim.verdict == claim.expected for claim in fig31.claims)
    assert len(fig31.figure().panels) == 6
    titles = [panel.title for panel in fig31.paper_figure().panels]
    assert len(titles) == 3
    assert all(title.startswith("w₁₂ = 0.5") for title in titles)


@pytest.mark.parametrize("added", [0.5, 0.1])
def test_the_warm_start_of_fig31_is_that_of_theorem_4_2(fig31, added):
    target = np.array([[1.0, added], [1 / added, 1.0]])
    mask = np.array([[True, True], [False, True]])
    A, B = two_factor_flow(np.eye(2), np.eye(2), target, mask, 60.0)
    run = fig31.dataset.sel(added=added, ratio=np.inf, stage="warm")
    assert float(run["stable_rank"]) == pytest.approx(stable_rank(A @ B), rel=1e-6)
    assert float(run["hidden_entry"]) == pytest.approx((A @ B)[1, 0], rel=1e-3)
    assert float(run["stable_rank"]) >= plasticity_bound(1.0, added).stable_rank


def test_fig32_and_fig33_differ_from_it_in_what_they_say():
    fig32, fig33 = (kind.from_preset("paper") for kind in (Fig32, Fig33))
    assert fig32.added == (10.0,)
    assert (fig32.first, fig32.second) == (1.0, 1.0)
    assert fig33.added == (0.5,)
    assert (fig33.first, fig33.second) == (1.0, 2.0)
    same = fig33.replace(second=1.0, added=(10.0,))
    assert (same.axes(), same.constants()) == (fig32.axes(), fig32.constants())


def example(size, ratio):
    """w_ij = c^(j−i), entry by entry."""
    return np.array([[ratio ** (j - i) for j in range(size)] for i in range(size)], float)


@pytest.fixture(scope="module")
def plasticity(tmp_path_factory):
    """One run for all tests of it."""
    return reproduce("depth/plasticity", preset="smoke", results=tmp_path_factory.mktemp("results"))


def test_the_lazy_condition_is_theorem_4_3s(plasticity):
    """Depth 2 from α I: pre-training ends at A = B = I, where the theorem is evaluated alone."""
    size = plasticity.experiment.size
    for added in plasticity.experiment.added:
        run = plasticity.dataset.sel(depth=2, start="identity", added=added, seed=0)
        target = example(size, added)
        assert np.linalg.matrix_rank(target) == 1
        bound = lazy_bound(np.eye(size), np.eye(size), np.triu(np.ones_like(target)) > 0, target)
        assert float(run["news"]) == pytest.approx(bound.initial_loss, rel=1e-4)
        assert float(run["lazy_threshold"]) == pytest.approx(bound.threshold, rel=1e-4)
        assert float(run["kept_bound"]) == pytest.approx(bound.stable_rank, rel=1e-4)
        assert bound.is_lazy == (added < 0.1)


def test_the_papers_example_at_its_own_size(plasticity):
    """d = 10 from A = B = I: the stable rank of A by SciPy, and Theorem 4.3's bound below it."""
    target = example(10, 1 / 120)
    mask = np.triu(np.ones((10, 10))) > 0
    A, _ = two_factor_flow(np.eye(10), np.eye(10), np.where(mask, target, 0), mask, 40.0)
    run = plasticity.dataset.sel(depth=2, example=10).isel(seed=0, start=0, added=0)
    assert float(run["example_kept"]) == pytest.approx(stable_rank(A), rel=1e-4)
    assert float(run["example_share"]) < 1
    assert float(run["example_bound"]) < float(run["example_kept"]) < 10
    assert np.isnan(plasticity.dataset["example_kept"].sel(depth=3)).all()


def test_every_run_of_plasticity_arrives(plasticity):
    """Plateaus, not saddles: they were left out while the implicit solver took too small steps."""
    assert set(plasticity.outcomes) == {"converged"}


def test_the_warm_start_of_plasticity_is_gradient_flow(plasticity):
    size = plasticity.experiment.size
    target = example(size, 0.4)
    A, B = two_factor_flow(np.eye(size), np.eye(size), target, np.triu(target) > 0, 200.0)
    run = plasticity.dataset.sel({"depth": 2, "start": "identity", "added": 0.4, "seed": 0})
    assert float(run["stable_rank"].sel(stage="warm")) == pytest.approx(
        stable_rank(A @ B), rel=1e-4
    )
    assert float(run["kept"]) == pytest.approx(stable_rank(A), rel=1e-4)


def test_the_gap_counts_only_runs_that_converged(plasticity):
    def gap(runs):
        return plasticity.experiment.gap(plasticity.experiment.counted(runs, "stable_rank"))

    data = plasticity.dataset.copy(deep=True)
    assert np.isfinite(gap(data).sel(depth=2)).all()
    data["outcome"][...] = "stopped"
    assert np.isnan(gap(data)).all()
