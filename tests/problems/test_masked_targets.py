"""Targets of several lengths in one program: the losses are those of each length alone."""

import equinox as eqx
import jax
import numpy as np
import pytest

from tacit.models import Dense, LinearRNN
from tacit.problems import LinearDataLoss, MaskedTargets, PopulationLoss

LENGTHS = np.array([2, 5])


@pytest.fixture(scope="module")
def models():
    teachers, students = (
        [LinearRNN.random(Dense, 3, scale=0.5, key=jax.random.key(n)) for n in pair]
        for pair in ((0, 1), (2, 3))
    )
    return teachers, students


@pytest.fixture(scope="module")
def targets(models):
    responses = np.stack([np.asarray(teacher.impulse_response(6)) for teacher in models[0]])
    return MaskedTargets(responses, LENGTHS, padding=3)


def lane(stacked, place):
    return jax.tree.map(lambda leaf: leaf[place] if eqx.is_array(leaf) else leaf, stacked)


def test_the_population_loss_of_a_lane_is_that_of_its_length(models, targets):
    assert targets.lags == 6
    stacked = targets.population_loss()
    for place, (teacher, student) in enumerate(zip(*models, strict=True)):
        alone = PopulationLoss.of(teacher, length=int(LENGTHS[place]))
        found = lane(stacked, place).loss(student)
        np.testing.assert_allclose(found, alone.loss(student), rtol=1e-12)
        np.testing.assert_allclose(targets.zero_loss()[place], alone.zero_loss(), rtol=1e-12)


def test_losses_of_are_population_losses_whatever_was_descended(models, targets):
    stack = jax.tree.map(lambda *leaves: np.stack(leaves), *models[1])
    found = targets.losses_of([stack, stack])
    losses = [lane(targets.population_loss(), n).loss(models[1][n]) for n in (0, 1)]
    np.testing.assert_allclose(found, np.stack([losses, losses], axis=1), rtol=1e-12)


def test_fixed_data_are_a_lanes_own(models, targets):
    stacked = targets.fixed_data_loss(50, np.array([7, 8]))
    teacher, student = (group[1] for group in models)
    data = np.random.default_rng([8, 5]).standard_normal((50, 5, 1))
    alone = LinearDataLoss.of(teacher, data).loss(student)
    np.testing.assert_allclose(lane(stacked, 1).loss(student), alone, rtol=1e-10)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"lengths": np.array([2])}, "lengths: received 1, there must be one for each of the 2"),
        ({"lengths": np.array([2, 7])}, "responses: received 6 lags, there must be at least 9"),
        ({"lengths": np.array([0, 3])}, r"lengths\[0\]: received 0"),
        ({"padding": 0}, "padding: received 0"),
        ({"responses": np.zeros((2, 6))}, "responses"),
    ],
)
def test_wrong_use(targets, change, words):
    usual = {"responses": targets.responses, "lengths": targets.lengths, "padding": 3}
    with pytest.raises(ValueError, match=words):
        MaskedTargets(**usual | change)
