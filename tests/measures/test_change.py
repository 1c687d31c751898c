import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.measures import (
    change_singular_values,
    eigenvalues,
    epochs_to_fraction,
    functional_rank,
    outlying_eigenvalues,
    shuffled,
    singular_values,
    truncated,
    truncation_losses,
    truncations,
    with_truncated_change,
)

RNG = np.random.default_rng(0)
INITIAL = RNG.normal(size=(12, 12))
FINAL = INITIAL + RNG.normal(size=(12, 3)) @ RNG.normal(size=(3, 12))


def test_a_change_of_rank_three_is_seen_as_one():
    values = change_singular_values(INITIAL, FINAL)
    assert np.all(values[:3] > 0.1)
    np.testing.assert_allclose(values[3:], 0, atol=1e-13)
    np.testing.assert_allclose(with_truncated_change(INITIAL, FINAL, 3), FINAL, atol=1e-12)
    np.testing.assert_array_equal(with_truncated_change(INITIAL, FINAL, 0), INITIAL)


@given(rank=st.integers(0, 15))
def test_truncation_leaves_the_first_singular_values(rank):
    values = singular_values(INITIAL)
    kept = truncated(INITIAL, rank)
    expected = np.where(np.arange(12) < rank, values, 0)
    np.testing.assert_allclose(singular_values(kept), expected, atol=1e-12)
    # Eckart and Young: the error is what was left out.
    error = np.linalg.norm(INITIAL - kept)
    np.testing.assert_allclose(error, np.sqrt(np.sum(values[rank:] ** 2)), atol=1e-12)


def test_truncation_keeps_the_namespace_and_the_dtype():
    kept = truncated(jnp.asarray(INITIAL, jnp.float32), 2)
    assert isinstance(kept, jax.Array)
    assert kept.dtype == jnp.float32
    np.testing.assert_allclose(kept, truncated(INITIAL, 2), atol=1e-5)


def test_many_truncations_are_single_ones():
    matrix = RNG.normal(size=(6, 4))
    for rank, found in zip((0, 3, 9), truncations(matrix, (0, 3, 9)), strict=True):
        np.testing.assert_allclose(found, truncated(matrix, rank), atol=1e-14)
    with pytest.raises(ValueError, match="rank"):
        list(truncations(matrix, (-1,)))
    with pytest.raises(ValueError, match="finite"):
        list(truncations(np.full((2, 2), np.nan), (1,)))


def test_truncation_losses_are_those_of_truncated_matrices():
    seen = []

    def loss(matrix):
        seen.append(matrix.dtype)
        return np.linalg.norm(matrix - FINAL)

    ranks = (0, 1, 2, 3, 5)
    found = truncation_losses(loss, INITIAL, FINAL, ranks)
    expected = [np.linalg.norm(with_truncated_change(INITIAL, FINAL, r) - FINAL) for r in ranks]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    truncation_losses(loss, INITIAL.astype(np.float32), FINAL.astype(np.float32), [1])
    assert seen[-1] == np.float32


def test_both_definitions_of_functional_rank():
    losses = [0.5, 0.2, 0.04, 0.3, 0.01]  # not monotone
    assert functional_rank(losses) == 4  # below 5% of the loss at rank 0
    assert functional_rank(losses, initial=1.0) == 2  # below 5% of the initial loss
    assert functional_rank(losses, initial=0.1) is None
    assert functional_rank([1.0, np.nan, 0.01]) == 2  # a diverged truncation does not count


def test_shuffling_keeps_the_entries_and_is_seeded():
    mixed = shuffled(INITIAL, seed=3)
    np.testing.assert_array_equal(np.sort(mixed.ravel()), np.sort(INITIAL.ravel()))
    np.testing.assert_array_equal(mixed, shuffled(INITIAL, seed=3))
    assert np.any(mixed != shuffled(INITIAL, seed=4))
    assert np.mean(mixed == INITIAL) < 0.1
    inside = shuffled(jnp.asarray(INITIAL, jnp.float32), seed=3)
    np.testing.assert_allclose(inside, mixed, rtol=1e-6)


def test_eigenvalues_by_jax_are_those_by_numpy(monkeypatch):
    W0 = np.random.default_rng(1).normal(size=(30, 30))
    expected = eigenvalues(W0)
    asked = []
    by_numpy = np.linalg.eigvals
    monkeypatch.setattr(np.linalg, "eigvals", lambda W: asked.append(W.dtype) or by_numpy(W))
    with jax.enable_x64(True):
        wide, narrow = jnp.asarray(W0), jnp.asarray(W0, "float32")
    np.testing.assert_allclose(eigenvalues(wide), expected, rtol=1e-12)
    assert asked == []  # JAX has decomposed it
    np.testing.assert_allclose(eigenvalues(narrow), eigenvalues(np.asarray(narrow)), rtol=1e-12)
    assert asked == [np.float64, np.float64]


def test_eigenvalues_of_a_random_matrix_fill_the_circle():
    size, g = 300, 0.7
    W0 = np.random.default_rng(1).normal(size=(size, size)) * g / np.sqrt(size)
    found = eigenvalues(W0)
    assert np.all(np.diff(found.real) <= 1e-12)
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(np.linalg.eigvals(W0)))
    # Uniform on the disc: the share inside radius r is (r/g)².
    assert np.mean(np.abs(found) < g / 2) == pytest.approx(0.25, abs=0.05)
    assert outlying_eigenvalues(W0, g).size == 0
    u = np.ones(size) / np.sqrt(size)
    outliers = outlying_eigenvalues(W0 + 1.5 * np.outer(u, u), g)
    assert outliers.size == 1
    assert abs(outliers[0] - 1.5) < 0.1


def test_the_margin_is_a_distance_from_the_circle_and_what_lies_on_it_is_inside():
    found = outlying_eigenvalues(np.diag([1.0, 2.15, 2.0, -2.3, 2.05]), 2.0)
    np.testing.assert_array_equal(found, [-2.3, 2.15])
    assert outlying_eigenvalues(np.diag([1.5, 1.0]), 1.0, margin=0.5).size == 0


def test_of_two_conjugates_the_one_above_the_axis_is_first():
    turn = np.zeros((4, 4))
    turn[:2, :2], turn[2:, 2:] = [[0.5, 2.0], [-2.0, 0.5]], [[1.0, -0.5], [0.5, 1.0]]
    np.testing.assert_allclose(eigenvalues(turn), [1 + 0.5j, 1 - 0.5j, 0.5 + 2j, 0.5 - 2j])


def test_at_the_fraction_itself_the_loss_has_not_fallen_below_it():
    assert functional_rank([1.0, 0.5, 0.25], fraction=0.5) == 2
    assert epochs_to_fraction([1.0, 0.5, 0.25], fraction=0.5, window=1) == 2


def test_epochs_count_a_sustained_crossing_only():
    losses = np.concatenate([np.linspace(1, 0.1, 30), np.full(40, 0.01)])
    found = epochs_to_fraction(losses)
    assert 30 <= found <= 33
    lucky = losses.copy()
    lucky[10] = 0.0  # one lucky batch
    assert epochs_to_fraction(lucky) == found
    bounced = np.concatenate([losses[:34], np.full(20, 0.5), losses[30:]])
    assert epochs_to_fraction(bounced) > 50
    assert epochs_to_fraction(np.ones(20)) == np.inf
    assert epochs_to_fraction(np.full(20, np.nan)) == np.inf
    assert epochs_to_fraction(losses, initial=0.1) == np.inf
    assert epochs_to_fraction([1.0, 0.2, 0.01], window=1) == 2


@pytest.mark.parametrize(
    ("door", "words"),
    [
        (lambda: truncated(INITIAL, -1), "rank: received .*must be an integer from 0 on"),
        (
            lambda: change_singular_values(INITIAL, FINAL[:3]),
            "initial and final: received .*must match",
        ),
        (lambda: functional_rank([0.0, 1.0]), r"losses\[0\]: received .*must be positive"),
        (lambda: functional_rank([1.0], fraction=2.0), "fraction: received .*must lie between"),
        (lambda: eigenvalues(INITIAL[:3]), "matrix: received .*must be square"),
        (lambda: outlying_eigenvalues(INITIAL, -1.0), "must not be negative"),
        (
            lambda: epochs_to_fraction([1.0], window=0),
            "window: received .*must be a positive integer",
        ),
        (lambda: epochs_to_fraction([1.0], fraction=0.0), "fraction: received .*must lie between"),
    ],
)
def test_bad_input(door, words):
    with pytest.raises(ValueError, match=words):
        door()
