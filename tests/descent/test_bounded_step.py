"""Descent with a step that follows the problem's bound on the curvature."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from tacit.descent import BoundedStep, Lanes, Stop, descend


class Bowl(eqx.Module):
    """½ a x² with a curvature that is told as `told`."""

    a: np.ndarray
    told: np.ndarray

    def loss(self, x):
        return 0.5 * self.a * jnp.sum(x**2)

    def downhill(self, x):
        return self.loss(x), self.a * x, self.told


def test_steps_are_the_fraction_over_the_curvature():
    result = descend(
        np.array([2.0, -1.0]), Bowl(np.array(3.0), np.array(6.0)), BoundedStep(0.5), stop=Stop(7)
    )
    factor = (1 - 0.5 / 6 * 3) ** 7
    np.testing.assert_allclose(np.asarray(result.model), factor * np.array([2.0, -1.0]), rtol=1e-14)
    np.testing.assert_allclose(result.report["time"], 7 * 0.5 / 6, rtol=1e-14)


def test_every_lane_has_its_own_curvature_and_rate():
    bowls = Lanes(Bowl(np.array([1.0, 4.0]), np.array([1.0, 8.0])))
    result = descend(
        Lanes(np.ones((2, 1))), bowls, BoundedStep(0.2), stop=Stop(3), rate=np.array([1.0, 2.0])
    )
    expected = [(1 - 0.2) ** 3, (1 - 2 * 0.2 / 8 * 4) ** 3]
    np.testing.assert_allclose(np.asarray(result.model.tree)[:, 0], expected, rtol=1e-14)
    np.testing.assert_allclose(result.report["time"], [0.6, 3 * 0.4 / 8], rtol=1e-14)


def test_the_time_of_a_lane_that_converged_stands_still():
    bowls = Lanes(Bowl(np.ones(2), np.ones(2)))
    result = descend(
        Lanes(np.ones((2, 1))), bowls, BoundedStep(0.5), stop=Stop(10, loss=np.array([0.1, 0.0]))
    )
    assert result.outcome.tolist() == ["converged", "stopped"]
    np.testing.assert_allclose(result.report["time"], 0.5 * result.steps)
    assert result.steps[0] < result.steps[1] == 10


@pytest.mark.parametrize("fraction", [0.0, 2.0, -1.0, float("nan")])
def test_a_fraction_that_cannot_be_stable_is_refused(fraction):
    with pytest.raises(
        ValueError, match=r"fraction: received .*, it must (lie between 0 and 2|be a finite number)"
    ):
        BoundedStep(fraction)


def test_a_problem_without_a_curvature_is_refused():
    with pytest.raises(ValueError, match=r"must have downhill\(model\)"):
        descend(np.ones(2), lambda x: jnp.sum(x**2), BoundedStep(), stop=Stop(1))
