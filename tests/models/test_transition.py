"""One contract for every transition: it is the matrix that it says it is."""

import jax
import numpy as np
import pytest

from tacit.models import AbstractTransition, ConjugatePairs, Dense, Diagonal, LinearRNN, Symmetric

KINDS = [Diagonal, ConjugatePairs, Symmetric, Dense]
WIDTH = 6


def make(kind: type[AbstractTransition], seed: int = 0) -> AbstractTransition:
    return kind.random(WIDTH, scale=0.4, key=jax.random.key(seed))


@pytest.fixture
def vectors() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(WIDTH, 3))


@pytest.mark.parametrize("kind", KINDS)
def test_a_transition_is_its_matrix(kind, vectors):
    transition = make(kind)
    A = np.asarray(transition.matrix())
    assert A.shape == (transition.width, transition.width) == (WIDTH, WIDTH)
    with jax.enable_x64(True):
        state = jax.numpy.asarray(vectors)
    np.testing.assert_allclose(transition.apply(state), A @ vectors, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(
        transition.apply_transposed(state), A.T @ vectors, rtol=1e-13, atol=1e-15
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [7, 40])  # 40 lags are past the unrolled ones
def test_krylov_gives_powers(kind, length, vectors):
    transition = make(kind)
    A = np.asarray(transition.matrix())
    with jax.enable_x64(True):
        krylov = transition.krylov(jax.numpy.asarray(vectors), length)
    powers = [np.linalg.matrix_power(A, j) @ vectors for j in range(length)]
    np.testing.assert_allclose(krylov, powers, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_eigenvalues_are_those_of_the_matrix(kind):
    transition = make(kind)
    found = np.sort_complex(np.asarray(transition.eigenvalues(), complex))
    expected = np.sort_complex(np.linalg.eigvals(np.asarray(transition.matrix())))
    # Sorting complex numbers may swap a pair whose real parts differ by rounding.
    for value in found:
        assert np.min(np.abs(expected - value)) < 1e-13
    np.testing.assert_allclose(found.sum(), expected.sum(), atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (9, 2)])
def test_response_is_c_powers_of_a_b(kind, inputs, outputs):
    length = 9
    model = LinearRNN.random(
        kind, WIDTH, inputs=inputs, outputs=outputs, scale=0.5, key=jax.random.key(2)
    )
    A, B, C = map(np.asarray, (model.transition.matrix(), model.input_map, model.output_map))
    expected = [C @ np.linalg.matrix_power(A, j) @ B for j in range(length)]
    np.testing.assert_allclose(model.impulse_response(length), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("kind", "balanced"),
    [(Diagonal, True), (Diagonal, False), (Symmetric, True), (Dense, False)],
)
def test_response_jacobian_is_that_of_finite_differences(kind, balanced):
    model = LinearRNN.random(
        kind, 4, inputs=2, outputs=2, scale=0.5, balanced=balanced, key=jax.random.key(3)
    )
    leaves, structure = jax.tree.flatten(model)
    jacobians = jax.tree.leaves(model.response_jacobian(5))
    assert len(jacobians) == len(leaves)
    step = 1e-6
    response = jax.jit(lambda leaves: structure.unflatten(leaves).impulse_response(5))
    for i, jacobian in enumerate(jacobians):
        assert jacobian.shape == (5, 2, 2, *leaves[i].shape)
        for place in np.ndindex(leaves[i].shape):
            sides = []
            for sign in (1, -1):
                moved = [np.array(leaf) for leaf in leaves]
                moved[i][place] += sign * step
                with jax.enable_x64(True):
                    sides.append(np.asarray(response(moved)))
            slope = (sides[0] - sides[1]) / (2 * step)
            np.testing.assert_allclose(np.asarray(jacobian)[..., *place], slope, atol=2e-9)


def test_conjugate_pairs_are_real_blocks():
    A = np.asarray(ConjugatePairs([0.5, 0.1], [0.2, -0.3]).matrix())
    np.testing.assert_array_equal(A[:2, :2], [[0.5, -0.2], [0.2, 0.5]])
    np.testing.assert_array_equal(A[2:, 2:], [[0.1, 0.3], [-0.3, 0.1]])
    assert not A[:2, 2:].any()
    assert not A[2:, :2].any()


@pytest.mark.parametrize("width", [1, 2, 5])
def test_symmetric_packs_and_unpacks(width):
    matrix = np.random.default_rng(0).normal(size=(width, width))
    matrix = matrix + matrix.T
    transition = Symmetric.from_matrix(matrix)
    assert transition.width == width
    assert transition.upper.size == width * (width + 1) // 2
    np.testing.assert_array_equal(transition.matrix(), matrix)
    np.testing.assert_array_equal(transition.upper, matrix[np.triu_indices(width)])


def test_symmetric_and_diagonal_are_the_same_systems():
    """lowdim, Lemma C.3: in its eigenbasis a symmetric system is a diagonal one."""
    model = LinearRNN.random(Symmetric, 5, scale=0.4, key=jax.random.key(4))
    values, basis = np.linalg.eigh(np.asarray(model.transition.matrix()))
    same = LinearRNN(
        Diagonal(values), basis.T @ np.asarray(model.B), np.asarray(model.output_map) @ basis
    )
    np.testing.assert_allclose(
        same.impulse_response(12), model.impulse_response(12), rtol=1e-11, atol=1e-14
    )


def test_random_has_the_scale_asked_for():
    for kind in KINDS:
        transition = kind.random(60, scale=0.03, key=jax.random.key(5))
        entries = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(transition)])
        # The relative error of a standard deviation of n draws is about 1 / sqrt(2 n), n ≥ 60.
        assert np.std(entries) == pytest.approx(0.03, rel=0.35)


@pytest.mark.parametrize("length", [1, 5, 20])
def test_a_single_response_has_derivatives_of_any_order_in_any_mode(length):
    """Its first derivative has a rule of its own: against that of the sums as they are written."""

    def ours(parameters):
        eigenvalues, maps = parameters
        response = Diagonal(eigenvalues).response(maps[0][:, None], maps[1][None], length)
        return jax.numpy.sum(jax.numpy.sin(response))

    def plain(parameters):
        eigenvalues, (b, c) = parameters
        lags = [jax.numpy.sum(eigenvalues**j * b * c) for j in range(length)]
        return sum(jax.numpy.sin(lag) for lag in lags)

    rng = np.random.default_rng(length)
    with jax.enable_x64(True):
        point, way = (
            (jax.numpy.asarray(rng.uniform(-0.9, 0.9, 3)), tuple(map(jax.numpy.asarray, pair)))
            for pair in rng.normal(size=(2, 2, 3))
        )
        for twice in (
            lambda f: jax.jvp(f, (point,), (way,)),
            lambda f: jax.grad(f)(point),
            lambda f: jax.jvp(jax.grad(f), (point,), (way,)),
            lambda f: jax.grad(lambda p: jax.jvp(f, (p,), (way,))[1])(point),
        ):
            found, expected = (jax.jit(lambda f=f, twice=twice: twice(f))() for f in (ours, plain))
            jax.tree.map(
                lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12),
                found,
                expected,
            )


def test_a_response_takes_the_wider_type_of_its_arguments():
    with jax.enable_x64(True):
        transition = Diagonal(np.array([0.5, -0.2]))
        maps = jax.numpy.ones((2, 1), np.float32)
        assert transition.response(maps, maps.T, 4).dtype == np.float64
