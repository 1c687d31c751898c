"""depth/fig1 at its smallest preset, against independent computations."""

import numpy as np
import pytest
import scipy.integrate

from tacit.draw import Line, Points
from tacit.experiments.depth.fig1 import Fig1
from tacit.measures import effective_rank
from tacit.problems import Pattern
from tacit.reproduction import find_experiment, reproduce
from tacit.theory.depth import alignment_bound


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """One run for all tests of this file."""
    return reproduce("depth/fig1", preset="smoke", results=tmp_path_factory.mktemp("results"))


def test_every_run_converges_and_is_counted(smoke):
    data = smoke.dataset
    assert smoke.outcomes == {"converged": data["outcome"].size}
    assert float(data["loss"].max()) <= smoke.experiment.goal
    assert (data["norm"] > 0).all()
    assert ((data["effective_rank"] >= 1 - 1e-12) & (data["effective_rank"] <= 2)).all()


def test_depth_two_on_the_diagonal_ends_at_its_closed_form(smoke):
    runs = smoke.dataset.sel(depth=2, pattern="diagonal")
    assert float(runs["gap"].max()) < 1e-5
    np.testing.assert_allclose(runs["effective_rank"], runs["predicted_rank"], atol=1e-5)
    # Elsewhere there is no closed form, and none is shown.
    assert np.isnan(smoke.dataset["gap"].sel(pattern="column")).all()
    assert np.isnan(smoke.dataset["gap"].sel(depth=3)).all()


def test_one_trial_equals_an_integration_by_scipy(smoke):
    """Depth 3, first column: draw the same numbers, integrate with DOP853, compare the rank."""
    scale, seed, depth = 1e-1, 1, 3
    (target,), (begin,) = smoke.experiment.draw_trials(depth, [seed], [scale])
    mask = Pattern.column(2, 2).mask

    def velocity(_, flat):
        first, second, third = flat.reshape(3, 2, 2)
        error = np.where(mask, third @ second @ first - target, 0.0)
        return -np.stack(
            [(third @ second).T @ error, third.T @ error @ first.T, error @ (second @ first).T]
        ).ravel()

    path = scipy.integrate.solve_ivp(
        velocity, (0, 2000), begin.ravel(), method="DOP853", rtol=1e-11, atol=1e-13
    )
    first, second, third = path.y[:, -1].reshape(3, 2, 2)
    ours = smoke.dataset["effective_rank"].sel(
        depth=depth, pattern="column", scale=scale, seed=seed
    )
    np.testing.assert_allclose(
        float(ours.item()), effective_rank(third @ second @ first), atol=1e-5
    )


def test_other_methods_are_options(smoke, tmp_path):
    options = {"preset": "smoke", "results": tmp_path, "depth": 2, "scale": 0.1, "seed": [0, 1]}
    made = reproduce("depth/fig1", method=["gd", "adam"], steps=3000, **options)
    assert made.dataset.sizes["method"] == 2
    assert sum(made.outcomes.values()) == 8
    counted = next(claim for claim in made.claims if claim.name == "runs left out")
    assert counted.samples == 2  # a share for each seed, of the first method alone
    # A rate of 0.02 stays close to the flow; Adam goes its own way but fits what is observed.
    flow = smoke.dataset["effective_rank"].sel(
        {"depth": 2, "scale": 0.1, "seed": [0, 1], "method": "flow"}
    )
    gd = made.dataset["effective_rank"].sel({"depth": 2, "scale": 0.1, "method": "gd"})
    np.testing.assert_allclose(gd, flow, atol=0.02)
    assert float(made.dataset["loss"].max()) < 1e-6
    short = reproduce("depth/fig1", method="gd", steps=20, **options)
    assert "4 of 4 runs left out" in short.figure().caption


def test_rows_align_as_theorem_3_1_says(smoke):
    """The stored share of the bound, from the end of another integration; other runs have none."""
    scale, seed = 1e-1, 1
    (target,), ((first, second),) = smoke.experiment.draw_trials(2, [seed], [scale])
    mask = Pattern.column(2, 2).mask

    def velocity(_, flat):
        B, A = flat.reshape(2, 2, 2)
        error = np.where(mask, A @ B - target, 0.0)
        return -np.stack([A.T @ error, error @ B.T]).ravel()

    start = np.stack([first, second]).ravel()
    path = scipy.integrate.solve_ivp(velocity, (0, 3000), start, "DOP853", rtol=1e-11, atol=1e-13)
    B, A = path.y[:, -1].reshape(2, 2, 2)
    turned = np.array([-B[1, 0], B[0, 0]]) / np.linalg.norm(B[:, 0])
    shares = (A @ turned) ** 2 / np.sum(A**2, axis=1)
    wanted = (shares / alignment_bound(second, first[:, 0], target[:, 0])).max()
    runs = smoke.dataset["misaligned"].sel(pattern="column", scale=scale, seed=seed)
    np.testing.assert_allclose(float(runs.sel(depth=2).item()), wanted, rtol=1e-3)
    assert np.isnan(smoke.dataset["misaligned"].sel(pattern="diagonal")).all()
    claim = next(claim for claim in smoke.claims if claim.name == "rows align, depth 2")
    assert claim.satisfied == claim.samples == 3


def test_the_codes_start_is_one_draw_for_all_factors(smoke, tmp_path):
    """Two equal factors end at a closed form too, and at other ranks than the text's."""
    options = {"depth": 2, "pattern": "diagonal", "protocol": "code"}
    made = reproduce("depth/fig1", preset="smoke", results=tmp_path, **options)
    (_,), ((first, second),) = made.experiment.draw_trials(2, [0], [1e-1])
    assert not np.allclose(first, second)  # the text's
    assert float(made.dataset["gap"].max()) < 1e-5
    text = smoke.dataset["effective_rank"].sel(depth=2, pattern="diagonal")
    assert not np.allclose(made.dataset["effective_rank"].squeeze(), text.squeeze(), atol=1e-3)


def test_panel_a_has_an_edge_for_each_observation(smoke):
    assert len(smoke.figure().panels) == 5
    assert len(smoke.paper_figure().panels) == 3
    panel = smoke.paper_figure().panels[0]
    assert sum(isinstance(mark, Line) for mark in panel.marks) == 2 + 2
    isolated = [m for m in panel.marks if isinstance(m, Points) and not m.filled and len(m.x)]
    assert [(float(m.x[0]), float(m.y[0])) for m in isolated] == [(3.0, -2.0)]


def test_the_paper_preset_is_the_papers():
    assert find_experiment("depth/fig1") is Fig1
    assert len(Fig1.from_preset("paper").grid()) == 7_200
