"""lowdim/threshold at its smallest preset, and its analysis on data whose answer is known."""

import numpy as np
import pytest
import xarray

from tacit.experiments import UsageError, find_experiment, load_reference, reproduce
from tacit.experiments.lowdim._threshold_ranges import rational_teacher
from tacit.experiments.lowdim._threshold_widths import first_point, threshold_of
from tacit.experiments.lowdim.threshold import Threshold, ThresholdConfig


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """One run for all tests of this file."""
    return reproduce("lowdim/threshold", preset="smoke", results=tmp_path_factory.mktemp("results"))


def test_every_claim_holds_and_the_figure_is_drawn(smoke):
    assert {claim.name: claim.verdict for claim in smoke.claims} == dict.fromkeys(
        [claim.name for claim in smoke.claims], "holds"
    )
    assert len(smoke.claims) == 6
    assert (smoke.path / "figure.png").stat().st_size > 10_000
    assert smoke.figure().banner is None


def test_stored_widths_are_those_of_the_stored_ranges(smoke):
    data = smoke.dataset
    np.testing.assert_array_equal(data["width"].values, (data["high"] - data["low"]).values)
    gap = np.abs(data["width"] - data["width_rounded"])
    assert float(gap.max()) < 1e-9
    # exact moments: a point is one to the last digit
    inside = data["width"].sel({"ends": 0, "order": 3})
    assert (inside.sel(length=7) == 0).all()
    assert (inside.sel(length=6) > 1e-6).all()
    assert (data["width"].sel({"ends": 2, "order": 3, "length": 5}) == 0).all()
    assert (data["width"].sel({"ends": 2, "order": 3, "length": 4}) > 1e-6).all()


def test_ranges_shrink_with_every_lag(smoke):
    assert (smoke.dataset["width"].diff("length") <= 1e-12).all()


@pytest.mark.parametrize("ends", [0, 1, 2])
@pytest.mark.parametrize("order", range(1, 7))
def test_teachers_are_placed_as_said(order, ends):
    for seed in range(20):
        nodes, weights = rational_teacher(order, ends, seed, 0.45)
        assert len(nodes) == len(weights) == order
        assert sum(weights) == 1
        assert min(weights) > 0
        assert sum(abs(node) == 1 for node in nodes) == min(order, ends)
        inner = [-1.0, *(float(node) for node in nodes if abs(node) < 1), 1.0]
        spacing = 2 / (order + 1 - min(order, ends))
        assert np.min(np.diff(inner)) > 0.09 * spacing


@pytest.mark.parametrize(
    ("order", "ends", "edge"), [(5, 0, 11), (5, 1, 10), (5, 2, 9), (1, 0, 3), (1, 1, 2), (1, 2, 2)]
)
def test_thresholds(order, ends, edge):
    assert threshold_of(order, ends) == edge


def made_up(config: ThresholdConfig, shift: int) -> xarray.Dataset:
    """Widths that vanish `shift` lags after the threshold."""
    dims = tuple(config.axes())
    shape = tuple(len(values) for values in config.axes().values())
    width = np.full(shape, 0.1)
    for i, order in enumerate(config.order):
        for j, ends in enumerate(config.ends):
            for n, length in enumerate(config.length):
                if length >= threshold_of(order, ends) + shift:
                    width[i, j, n] = 0
    data = dict.fromkeys(("width", "width_rounded", "high"), (dims, width))
    data |= {name: (dims, np.zeros(shape)) for name in ("low", "truth")}
    return xarray.Dataset(data, {name: list(values) for name, values in config.axes().items()})


@pytest.mark.parametrize(
    ("shift", "point", "below"),
    [(0, "holds", "holds"), (1, "fails", "holds"), (-1, "holds", "fails")],
)
def test_claims_see_a_threshold_that_is_one_off(shift, point, below):
    config = ThresholdConfig()
    dataset = made_up(config, shift)
    for claim in Threshold().claims(dataset, config):
        if "point from" in claim.name:
            assert claim.verdict == point, claim.name
        elif "open below" in claim.name:
            assert claim.verdict == below, claim.name
    assert set(first_point(dataset, 4, 0, config.point)) == {9 + shift}


def test_claims_see_rounding_and_a_lost_teacher():
    config = ThresholdConfig()
    dataset = made_up(config, 0)
    dataset["width_rounded"] = dataset["width_rounded"] + 1e-7
    dataset["truth"] = dataset["truth"] - 1e-3
    found = {claim.name: claim.verdict for claim in Threshold().claims(dataset, config)}
    assert found["rounding does not move the threshold"] == "fails"
    assert found["the teacher is among its students"] == "fails"


def test_a_grid_on_one_side_of_the_threshold_leaves_the_other_undecided():
    config = ThresholdConfig(length=(13, 14), ends=(0,))
    found = {claim.name: claim.verdict for claim in Threshold().claims(made_up(config, 0), config)}
    assert found["0 on the ends: open below 2d̂ + 1"] == "undecided"
    assert found["0 on the ends: a point from 2d̂ + 1"] == "holds"
    only_one = ThresholdConfig(order=(1,), ends=(2,))
    assert len(Threshold().claims(made_up(only_one, 0), only_one)) == 2


@pytest.mark.parametrize("preset", ["quick", "paper"])
def test_the_committed_reference_is_as_expected(preset):
    claims = load_reference(find_experiment("lowdim/threshold"), preset)
    assert claims is not None
    assert all(claim.as_expected and claim.verdict == "holds" for claim in claims)


def test_the_lag_must_be_a_later_one():
    with pytest.raises(UsageError, match="lag"):
        ThresholdConfig(lag=10)


@pytest.mark.parametrize(
    "settings",
    [{"order": (1,), "ends": (2,)}, {"length": (3,)}, {"order": (6, 2), "length": (9, 4, 14)}],
)
def test_any_grid_can_be_drawn(settings):
    config = ThresholdConfig(**settings)
    figure = Threshold().draw(made_up(config, 0), config, [])
    assert len(figure.panels) == len(config.ends) + 3
