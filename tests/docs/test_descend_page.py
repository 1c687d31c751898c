"""The page on `descend`: its blocks run in order as printed, and do what the page says."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import tacit.descent

PAGE = Path(__file__).parents[2] / "docs" / "descend.md"
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def after():
    """The names after each block of Python, all blocks in one namespace."""
    names, seen = {}, []
    for block in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), names)
        seen.append(dict(names))
    return seen


def test_one_model_and_its_end(after):
    one, wild = after[0]["result"], after[0]["wild"]
    assert one.outcome == "converged"
    assert one.loss <= 1e-8
    assert one.model["a"].shape == (3,)
    assert wild.outcome == "diverged"


def test_lanes_and_grids_have_their_labels(after):
    lanes, grid, momenta = (after[place]["result"] for place in (1, 2, 3))
    assert lanes.outcomes == {"stopped": 4}
    assert lanes.loss.shape == (4,)
    labelled = grid.to_xarray().loss
    assert labelled.sizes == {"seed": 3, "rate": 2}
    assert np.unique(labelled).size == 6  # every lane has its own seed and rate
    assert np.unique(momenta.loss).size == 6


def test_records_are_at_their_times(after):
    result = after[4]["result"]
    data = result.to_xarray()
    assert data.time.values.tolist() == [0.0, 1.0, 5.0]
    assert data.recorded_product.sel(time=0.0).values == pytest.approx(np.full(3, 0.02))
    assert (np.diff(data.recorded_loss) < 0).all()


def test_a_problem_offers_residuals(after):
    assert after[5]["exact"].outcome == "converged"
    assert after[5]["exact"].steps < 50


def test_the_public_names_are_there_and_documented():
    for name in set(tacit.descent.__all__) - {"LossOrProblem"}:  # a type has no docstring
        assert inspect.getdoc(getattr(tacit.descent, name)), name
    wanted = "Problem LeastSquares BoundedCurvature Stochastic Lanes.grid Record.at_times"
    wanted += " hyperparameters to_xarray"
    assert [name for name in wanted.split() if name not in TEXT] == []
    assert set(re.findall(r"[A-Z]\w+", wanted)) <= set(tacit.descent.__all__)


def test_it_stays_short():
    assert len(TEXT.splitlines()) < 100
