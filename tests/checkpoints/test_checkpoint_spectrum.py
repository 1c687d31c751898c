"""Spectra of changes against LAPACK, their bounds, and the edge of noise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import measures
from tacit.checkpoints import Spectrum, spectrum
from tacit.checkpoints._noise_edge import noise_edge
from tacit.checkpoints._range_finder import leading

ROWS, COLUMNS = 300, 240


def with_spectrum(values, seed=0, rows=ROWS, columns=COLUMNS):
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.normal(size=(rows, len(values))))[0]
    V = np.linalg.qr(rng.normal(size=(columns, len(values))))[0]
    return (U * values) @ V.T


SHAPES = {
    "power law": lambda n: (1 + n) ** -0.7,
    "steep": lambda n: np.exp(-n / 8.0),
    "low rank": lambda n: np.where(n < 12, 1.0 / (1 + n), 0.0),
    "clusters": lambda n: 0.5 ** (n // 10),
    "flat": lambda n: 1.0 + 0 * n,
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", SHAPES)
def test_values_are_within_their_bounds_of_lapack(kind, dtype):
    """The randomised method, on a size that LAPACK can do."""
    change = with_spectrum(SHAPES[kind](np.arange(COLUMNS))).astype(dtype)
    true = np.linalg.svd(change.astype(np.float64), compute_uv=False)
    found = leading(change, 40)
    relative = (true[: found.values.size] - found.values) / np.maximum(
        true[: found.values.size], 1e-9
    )
    rounding = 1e-4 if dtype == np.float32 else 1e-9
    counted = found.values > 1e-4 * true[0]
    assert np.all(relative[counted] <= found.bounds[counted] + rounding)
    assert np.all(relative[counted] >= -rounding)  # from below
    kept = found.bounds <= 1e-3
    assert np.all(np.abs(relative[kept & counted]) <= 1e-3)
    if kind != "flat":
        assert kept.sum() >= 10


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**20),
    decay=st.floats(0.05, 2.0),
    noise=st.sampled_from([0.0, 1e-3, 0.05]),
)
def test_the_bound_holds_for_random_spectra(seed, decay, noise):
    values = (1.0 + np.arange(90)) ** -decay
    change = with_spectrum(values, seed, 120, 90)
    change += noise * np.random.default_rng(seed).normal(size=change.shape) / 10
    true = np.linalg.svd(change, compute_uv=False)
    found = leading(change, 16, seed=seed)
    off = (true[: found.values.size] - found.values) / true[: found.values.size]
    assert np.all(off <= found.bounds + 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_basis_is_orthonormal_where_there_is_nothing_left_to_find(seed):
    """Exactly low rank in float32: the later blocks are made of rounding."""
    rng = np.random.default_rng(seed)
    start = rng.standard_normal((300, 240), np.float32)
    low = rng.standard_normal((300, 4), np.float32) @ rng.standard_normal((4, 240), np.float32)
    change = (start + low) - start
    found = leading(change, 32)
    np.testing.assert_allclose(found.basis.T @ found.basis, np.eye(found.values.size), atol=1e-5)
    near = np.linalg.norm(change - found.basis[:, :4] @ found.projected[:4])
    assert near <= 1e-5 * np.linalg.norm(change)


def test_factors_are_a_projection():
    change = with_spectrum((1.0 + np.arange(COLUMNS)) ** -1.0)
    found = leading(change, 20)
    np.testing.assert_allclose(found.basis.T @ found.basis, np.eye(found.values.size), atol=1e-9)
    np.testing.assert_allclose(found.basis.T @ change, found.projected, atol=1e-9)
    best = np.sqrt(np.sum(np.linalg.svd(change, compute_uv=False)[20:] ** 2))
    near = np.linalg.norm(change - found.basis[:, :20] @ found.projected[:20])
    assert near <= 1.001 * best


@pytest.mark.parametrize("shape", [(40, 30), (30, 40), (5, 1), (1, 1)])
def test_a_small_spectrum_is_that_of_measures(shape):
    change = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    found = spectrum(change)
    true = measures.singular_values(change)
    np.testing.assert_allclose(found.values, true, rtol=1e-6)
    assert found.complete
    assert found.rest == 0
    np.testing.assert_allclose(found.norm, np.linalg.norm(change), rtol=1e-6)
    np.testing.assert_allclose(found.stable_rank, measures.stable_rank(change), rtol=1e-6)
    np.testing.assert_allclose(found.effective_rank, measures.effective_rank(change), rtol=1e-6)


def test_a_large_spectrum_has_the_exact_norm_of_the_rest():
    """Beyond 1,024 on the shorter side: leading values, and the norm of what is not in them."""
    rng = np.random.default_rng(2)
    change = 1e-3 * rng.standard_normal((1100, 1040), np.float32)
    left, right = rng.standard_normal((1100, 5), np.float32), rng.standard_normal((5, 1040))
    change += (left * 0.01 * np.arange(5, 0, -1)) @ right.astype(np.float32)
    found = spectrum(change)
    true = np.linalg.svd(change.astype(np.float64), compute_uv=False)
    assert not found.complete
    assert 5 <= found.values.size < 64
    np.testing.assert_allclose(found.values, true[: found.values.size], rtol=1e-3)
    np.testing.assert_allclose(found.norm, np.linalg.norm(change), rtol=1e-5)
    rest = np.sqrt(np.sum(true[found.values.size :] ** 2))
    np.testing.assert_allclose(found.rest, rest, rtol=1e-3)
    np.testing.assert_allclose(found.stable_rank, np.sum(true**2) / true[0] ** 2, rtol=1e-4)
    assert found.edge().above == 5
    assert found.edge().complete


def test_noise_by_itself_does_not_stand_out():
    """One percent of all draws may: at most 4 of 100 is 99.7% of the time."""
    rng = np.random.default_rng(3)
    shapes = [(60, 60), (120, 40), (30, 200), (50, 70)]
    above = [spectrum(rng.normal(size=shapes[draw % 4])).edge().above > 0 for draw in range(100)]
    assert sum(above) <= 4


@pytest.mark.parametrize("planted", [1, 4, 12])
def test_planted_directions_stand_out(planted):
    rng = np.random.default_rng(4)
    noise = rng.normal(size=(150, 100))
    strong = with_spectrum(np.full(planted, 60.0), 5, 150, 100)
    assert spectrum(noise + strong).edge().above == planted


def test_the_level_of_noise_from_the_median_and_from_the_rest_agree():
    rng = np.random.default_rng(6)
    values = np.linalg.svd(rng.normal(size=(300, 200)), compute_uv=False)
    whole = noise_edge(values, 0.0, 0.0, 300, 200)
    few = noise_edge(values[:5], float(np.sqrt(np.sum(values[5:] ** 2))), values[5], 300, 200)
    np.testing.assert_allclose(whole.value, few.value, rtol=0.02)
    edge = np.sqrt(300) + np.sqrt(200)  # Marchenko and Pastur
    assert edge < whole.value < 1.06 * edge


def test_no_change_and_exactly_low_rank():
    none = spectrum(np.zeros((20, 30)))
    assert (none.norm, none.stable_rank, none.effective_rank, none.rank_for(0.1)) == (0, 0, 0, 0)
    assert none.edge().above == 0
    exact = spectrum(with_spectrum([3.0, 2.0, 1.0]))
    assert exact.edge().above == 3
    assert exact.rank_for(1e-6) == 3
    assert spectrum(np.zeros((1030, 1030), np.float32)).norm == 0


def test_no_unknown_value_is_taken_to_be_larger_than_the_last_that_is_known():
    """A rest of 3 over three values would be √3 each, which is more than the known one."""
    found = Spectrum(4, 4, np.array([1.0]), np.array([0.0]), rest=3.0)
    assert found.effective_rank == pytest.approx(4.0)
    even = Spectrum(4, 4, np.array([2.0]), np.array([0.0]), rest=np.sqrt(3.0))
    spread = np.array([2.0, 1.0, 1.0, 1.0])
    share = spread / spread.sum()
    assert even.effective_rank == pytest.approx(np.exp(-np.sum(share * np.log(share))))
