"""lowdim/threshold at its smallest preset, and its analysis on data whose answer is known."""

import numpy as np
import pytest
import xarray

from tacit.experiments import UsageError
from tacit.experiments.lowdim.threshold import Threshold
from tacit.reproduction import reproduce
from tacit.theory.lowdim import threshold


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """One run for all tests of this file."""
    return reproduce("lowdim/threshold", preset="smoke", results=tmp_path_factory.mktemp("results"))


def test_every_seed_satisfies_every_claim_and_the_figure_is_drawn(smoke):
    assert [claim.satisfied for claim in smoke.claims] == [2] * 6  # of two seeds
    assert [claim.samples for claim in smoke.claims] == [2] * 6
    assert (smoke.path / "figure.png").stat().st_size > 10_000


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


def made_up(experiment: Threshold, shift: int) -> xarray.Dataset:
    """Widths that vanish `shift` lags after the threshold."""
    dims = tuple(experiment.axes())
    shape = tuple(len(values) for values in experiment.axes().values())
    width = np.full(shape, 0.1)
    for i, order in enumerate(experiment.order):
        for j, ends in enumerate(experiment.ends):
            for n, length in enumerate(experiment.length):
                if length >= threshold(order, ends=ends) + shift:
                    width[i, j, n] = 0
    data = dict.fromkeys(("width", "width_rounded", "high"), (dims, width))
    data |= {name: (dims, np.zeros(shape)) for name in ("low", "truth")}
    return xarray.Dataset(data, {name: list(values) for name, values in experiment.axes().items()})


@pytest.mark.parametrize(
    ("shift", "point", "below"),
    [(0, "holds", "holds"), (1, "fails", "holds"), (-1, "holds", "fails")],
)
def test_claims_see_a_threshold_that_is_one_off(shift, point, below):
    experiment = Threshold()
    dataset = made_up(experiment, shift)
    for claim in experiment.claims(dataset):
        if "point from" in claim.name:
            assert claim.verdict == point, claim.name
        elif "open below" in claim.name:
            assert claim.verdict == below, claim.name
    thresholds = experiment.draw(dataset).panels[3].marks[1]  # of atoms inside, as they are found
    assert set(thresholds.y[thresholds.x == 4]) == {9 + shift}


def test_claims_see_rounding_and_a_lost_teacher():
    experiment = Threshold()
    dataset = made_up(experiment, 0)
    dataset["width_rounded"] = dataset["width_rounded"] + 1e-7
    dataset["truth"] = dataset["truth"] - 1e-3
    found = {claim.name: claim.verdict for claim in experiment.claims(dataset)}
    assert found["rounding does not move the threshold"] == "fails"
    assert found["the teacher is among its students"] == "fails"


def test_a_grid_on_one_side_of_the_threshold_leaves_the_other_undecided():
    experiment = Threshold(length=(13, 14), ends=(0,))
    found = {claim.name: claim.verdict for claim in experiment.claims(made_up(experiment, 0))}
    assert found["0 on the ends: open below 2d̂ + 1"] == "undecided"
    assert found["0 on the ends: a point from 2d̂ + 1"] == "holds"
    only_one = Threshold(order=(1,), ends=(2,))
    assert len(only_one.claims(made_up(only_one, 0))) == 2


def test_the_lag_must_be_a_later_one():
    with pytest.raises(UsageError, match="lag"):
        Threshold(lag=10)


@pytest.mark.parametrize(
    "settings",
    [{"order": (1,), "ends": (2,)}, {"length": (3,)}, {"order": (6, 2), "length": (9, 4, 14)}],
)
def test_any_grid_can_be_drawn(settings):
    experiment = Threshold(**settings)
    figure = experiment.draw(made_up(experiment, 0))
    assert len(figure.panels) == len(experiment.ends) + 3
