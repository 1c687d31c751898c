"""Xavier's start times a gain: sizes, precision, and that a gain is only a factor."""

import jax
import numpy as np
import pytest

from tacit.models import (
    GRU,
    LSTM,
    keras_gated,
    keras_linear_rnn,
    xavier_gated,
    xavier_linear_rnn,
)

KEY = jax.random.key(0)


def test_a_linear_rnn_starts_at_xavier_times_a_gain():
    linear = xavier_linear_rnn(60, gain=0.3, key=KEY)
    matrix = np.asarray(linear.transition.matrix())
    assert matrix.dtype == np.float64
    assert matrix.std() * np.sqrt(60) == pytest.approx(0.3, rel=0.1)
    assert np.asarray(linear.B).std() == pytest.approx(0.3 * np.sqrt(2 / 61), rel=0.3)
    literal = xavier_linear_rnn(60, key=KEY)
    np.testing.assert_allclose(np.asarray(linear.C), 0.3 * np.asarray(literal.C), rtol=1e-12)


@pytest.mark.parametrize(("kind", "blocks"), [(GRU, 3), (LSTM, 4)])
def test_every_gate_starts_at_xavier_times_a_gain(kind, blocks):
    student = xavier_gated(kind, 60, gain=0.3, key=KEY)
    assert isinstance(student, kind)
    state = np.asarray(student.recurrent_weights)
    assert state.shape == (blocks * 60, 60)
    assert {leaf.dtype.name for leaf in jax.tree.leaves(student)} == {"float32"}
    assert state.std() * np.sqrt(60) == pytest.approx(0.3, rel=0.05)
    assert np.asarray(student.readout).std() == pytest.approx(0.3 * np.sqrt(2 / 61), rel=0.3)
    assert not np.asarray(student.bias).any()


@pytest.mark.parametrize(("kind", "blocks"), [(GRU, 3), (LSTM, 4)])
def test_keras_starts_gates_with_one_orthogonal_matrix_and_uniform_maps(kind, blocks):
    student = keras_gated(kind, 60, key=KEY)
    state = np.asarray(student.recurrent_weights)
    assert state.shape == (blocks * 60, 60)
    np.testing.assert_allclose(state.T @ state, np.eye(60), atol=1e-6)
    for weights, fan in ((student.input_weights, blocks * 60), (student.readout, 60)):
        limit = np.sqrt(6 / (1 + fan))  # glorot_uniform's, all gates being one matrix
        assert 0.9 * limit < np.abs(np.asarray(weights)).max() <= limit
        assert np.asarray(weights).std() == pytest.approx(limit / np.sqrt(3), rel=0.2)
    forget = np.asarray(student.bias).reshape(blocks, 60)
    assert (forget == ([[0], [1], [0], [0]] if kind is LSTM else 0)).all()
    assert {leaf.dtype.name for leaf in jax.tree.leaves(student)} == {"float32"}


def test_keras_starts_a_linear_rnn_with_an_orthogonal_transition():
    linear = keras_linear_rnn(20, key=KEY)
    np.testing.assert_allclose(np.abs(np.asarray(linear.transition.eigenvalues())), 1, rtol=1e-10)
    assert np.abs(np.asarray(linear.C)).max() <= np.sqrt(6 / 21)
    with pytest.raises(ValueError, match=r"^width\b.*0"):
        keras_linear_rnn(0, key=KEY)


def test_another_key_is_another_start():
    first, second = (xavier_linear_rnn(5, key=jax.random.key(seed)) for seed in (0, 1))
    assert np.abs(np.asarray(first.B) - np.asarray(second.B)).min() > 0


@pytest.mark.parametrize(
    ("width", "gain", "word"), [(0, 1.0, "width"), (3, -1.0, "gain"), (3, np.nan, "gain")]
)
def test_wrong_arguments_are_named(width, gain, word):
    with pytest.raises(ValueError, match=rf"^{word}\b.*{width if word == 'width' else gain}"):
        xavier_linear_rnn(width, gain=gain, key=KEY)
    with pytest.raises(ValueError, match=rf"^{word}\b.*{width if word == 'width' else gain}"):
        xavier_gated(GRU, width, gain=gain, key=KEY)
