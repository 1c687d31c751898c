"""depth/fig2, fig5 to fig9 and phase at their smallest presets, against other computations."""

import math

import numpy as np
import pytest

from tacit.experiments.depth.fig9 import Fig9
from tacit.reproduction import find_experiment, reproduce

CURVES = {
    "depth/fig2": (1.0, 10, 1),
    "depth/fig5": (1.0, 5, 2),
    "depth/fig6": (10.0, 10, 1),
    "depth/fig7": (0.1, 10, 1),
    "depth/fig8": (1.0, 3, 1),
}


@pytest.mark.parametrize("name", CURVES)
def test_curves_are_those_of_their_parameters(name, tmp_path):
    made = reproduce(name, preset="smoke", results=tmp_path)
    w, n, s = CURVES[name]
    data = made.dataset
    assert float(data["gap"].max()) < 1e-9
    assert made.as_expected is not False
    assert made.outcomes == {"without a run": data["outcome"].size}  # nothing is trained
    np.testing.assert_allclose(data["first"] + (n - 1) * data["others"], w * n * s, rtol=1e-12)
    # Depth 2 as printed in the theorem.
    m, d = 10.0, n * s
    wanted = w * d * (m + d - 1) ** 2 / ((m + d - 1) ** 2 + (n - 1) * (m - 1) ** 2)
    np.testing.assert_allclose(data["first"].sel(depth=2, ratio=m), wanted, rtol=1e-12)
    spectra = np.stack([data["first"], *[data["others"]] * (n - 1)])
    ranks = (spectra**2).sum(axis=0) / spectra[0] ** 2
    np.testing.assert_allclose(data["stable_rank"], ranks, rtol=1e-12)
    assert "αᴸ" in made.figure().panels[0].x.label
    paper = find_experiment(name).from_preset("paper")
    assert (paper.target, paper.blocks, paper.block_size) == (w, n, s)
    assert min(paper.scale) == pytest.approx(1e-10)


def test_the_ends_of_the_ratio_are_allowed(tmp_path):
    made = reproduce(
        "depth/fig8", preset="smoke", results=tmp_path, ratio=[1.0, math.inf], depth=[2, 3]
    )
    np.testing.assert_allclose(made.dataset["first"].sel(ratio=math.inf), 1.0, rtol=1e-12)
    np.testing.assert_allclose(made.dataset["first"].sel(ratio=1.0), 3.0, rtol=1e-12)
    assert made.figure().panels


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return reproduce("depth/fig9", preset="smoke", results=tmp_path_factory.mktemp("results"))


def test_training_ends_at_the_limit_also_from_the_point_left_out(trained):
    data = trained.dataset
    assert trained.outcomes == {"converged": 8}
    assert float(data["scale"].min()) == 1e-10
    assert float(data["gap"].max()) < 1e-8
    np.testing.assert_allclose(data["first"], data["predicted_first"], rtol=1e-8)
    np.testing.assert_allclose(data["others"], data["predicted_others"], rtol=1e-8)
    assert trained.as_expected is not False
    assert len(trained.figure().panels) == 3
    paper = trained.paper_figure()  # without the point left out, and without the theorem's lines
    assert len(paper.panels) == 2
    assert {len(mark.x) for panel in paper.panels for mark in panel.marks} == {1}
    assert min(Fig9.from_preset("paper").scale) == 1e-10


@pytest.fixture(scope="module")
def plane(tmp_path_factory):
    return reproduce("depth/phase", preset="smoke", results=tmp_path_factory.mktemp("results"))


def test_the_plane_holds_theory_everywhere_and_flow_where_asked(plane):
    data, asked = plane.dataset, plane.experiment
    ran = np.isfinite(data["flow_rank"])
    assert int(ran.sum()) == 2 * len(asked.flow_ratio) * len(asked.flow_scale)
    assert float(abs(data["flow_rank"] - data["stable_rank"]).max()) < 1e-8
    assert ((data["stable_rank"] >= 1) & (data["stable_rank"] <= 3 + 1e-12)).all()
    np.testing.assert_allclose(  # depth 2 in closed form
        data["stable_rank"].sel(depth=2, ratio=1e4),
        1 + 2 * ((1e4 - 1) / (1e4 + 2)) ** 4,
        rtol=1e-12,
    )
    assert plane.as_expected is not False
    assert len(plane.figure().panels) == 2


def test_outcomes_of_the_plane_count_flows_alone(plane):
    ran = int(np.isfinite(plane.dataset["flow_rank"]).sum())
    assert plane.outcomes == {
        "converged": ran, "without a run": plane.dataset["outcome"].size - ran
    }  # fmt: skip
    assert f"Outcomes: {ran} converged, " in plane.figure().caption


def test_a_flow_on_the_other_side_of_the_boundary_is_seen(plane):
    flow = plane.dataset["flow_rank"].copy(deep=True)
    assert plane.experiment._on_the_wrong_side(flow) == 0
    place = {"depth": 3, "ratio": 1e16, "scale": 1e-10}
    assert float(flow.sel(place)) > 2
    flow.loc[place] = 1.0
    assert plane.experiment._on_the_wrong_side(flow) == 1


def test_training_that_ends_elsewhere_is_seen_by_the_claim(trained):
    """The claim compares what was reached, not a difference that was stored with it."""
    data = trained.dataset.copy(deep=True)
    data["first"][...] *= 1.01
    (claim,) = [c for c in trained.experiment.claims(data) if "theorem's limit" in c.name]
    assert claim.verdict == "fails"


def test_two_factors_that_see_the_scale_fail_the_claim(tmp_path):
    made = reproduce("depth/fig8", preset="smoke", results=tmp_path)
    name, data = "two factors end alike from every scale", made.dataset.copy(deep=True)
    assert made.claims[name].verdict == "holds"
    data["gap"].loc[{"depth": 2, "scale": 1.0}] = 1e-3  # away from the solved limit
    (claim,) = [c for c in made.experiment.claims(data) if c.name == name]
    assert claim.verdict == "fails"
