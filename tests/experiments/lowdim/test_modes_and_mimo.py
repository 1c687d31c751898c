"""lowdim/modes and lowdim/fig1a-mimo at their smallest preset, and the threshold they speak of."""

import numpy as np
import pytest

from tacit.experiments import reproduce
from tacit.experiments.lowdim.fig1a_mimo import threshold
from tacit.measures import hankel
from tacit.problems import balanced_teacher, even_spectrum, spread_weights


def test_modes_of_the_student_come_from_zero_to_the_teachers(tmp_path):
    run = reproduce("lowdim/modes", preset="smoke", results=tmp_path)
    data = run.dataset.isel(teacher=0)
    assert run.as_expected
    seen, goal = data["singular_values"], data["teacher_values"]
    assert (np.diff(seen.transpose(..., "singular_value").values, axis=-1) <= 0).all()
    lags = np.arange(20)
    exact = np.mean(np.linspace(-1, 1, 5)[:, None] ** lags, axis=0)
    values = np.linalg.svd(exact[np.add.outer(np.arange(10), np.arange(11))], compute_uv=False)
    np.testing.assert_allclose(goal.isel(scale=0, seed=0).values, values[:8], atol=1e-12)
    near = seen.sel(scale=1e-3).isel(time=[0, -1], singular_value=0).transpose("time", ...).values
    assert (near[0] < 0.01 * values[0]).all()
    np.testing.assert_allclose(near[1], values[0], rtol=0.05)
    loss = data["train_loss"].transpose(..., "time").values
    assert (np.diff(loss, axis=-1) <= 1e-12).all()  # a flow only descends


def test_mimo_runs_and_polishes(tmp_path):
    run = reproduce("lowdim/fig1a-mimo", preset="smoke", results=tmp_path)
    loss = run.dataset["train_loss"]
    assert run.as_expected
    assert (loss.sel(iterate="polished") <= loss.sel(iterate="last")).all()
    assert (run.path / "figure.png").stat().st_size > 10_000


@pytest.mark.parametrize(("order", "channels"), [(6, 1), (6, 2), (6, 3), (5, 2), (4, 4)])
def test_the_threshold_is_where_a_block_row_adds_no_rank(order, channels):
    teacher = balanced_teacher(even_spectrum(order, -1.0, 1.0), spread_weights(order, channels))
    length = threshold(order, channels)
    response = np.asarray(teacher.impulse_response(length))

    def rank(rows):
        return np.linalg.matrix_rank(hankel(response[: 2 * rows - 1], rows=rows), tol=1e-9)

    last = (length + 1) // 2
    assert rank(last) == rank(last - 1) == order
    assert last == 2 or rank(last - 2) < order  # one block row fewer does not show all modes
