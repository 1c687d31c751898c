"""The tied-weight kernels against wide networks, closed forms and their own quadrature."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erf

from tacit.theory.kernel import (
    Erf,
    Identity,
    Nonlinearity,
    ReLU,
    Smooth,
    Tanh,
    limit_kernel,
    recurrent_kernel,
)

WIDTH, TIMES = 4096, 4
NU = {"nu_w": 0.8, "nu_f": 0.6, "nu_c": 1.7, "nu_b": 0.3}
FUNCTIONS = {
    "erf": (Erf(), erf, lambda u: 2 / np.sqrt(np.pi) * np.exp(-(u**2))),
    "relu": (ReLU(), lambda u: np.maximum(u, 0), lambda u: (u > 0).astype(float)),
    "tanh": (Tanh(), np.tanh, lambda u: 1 / np.cosh(u) ** 2),
}


@pytest.fixture(scope="module")
def network():
    """One wide network for all nonlinearities: W, F, C, b and two sequences."""
    rng = np.random.default_rng(0)

    def normal(nu, shape):
        return np.sqrt(nu) * rng.standard_normal(shape)

    W = normal(NU["nu_w"], (WIDTH, WIDTH))
    F, C, b = (normal(NU[name], (WIDTH, 3)) for name in ("nu_f", "nu_c", "nu_b"))
    return W, F, C[:, 0], b[:, 0], rng.normal(size=(2, TIMES, 3))


def finite_kernels(network, function, derivative):
    """NNGP and NTK of the network itself, from back-propagated vectors, without Jacobians."""
    W, F, C, b, sequences = network
    states, adjoints = [], []
    for x in sequences:
        h, slopes, hs = np.zeros(WIDTH), [], [np.zeros(WIDTH)]
        for x_t in x:
            u = W @ h / np.sqrt(WIDTH) + F @ x_t + b
            h = function(u)
            slopes.append(derivative(u))
            hs.append(h)
        found = np.zeros((TIMES, TIMES, WIDTH))  # ∂y_t/∂u_τ
        for t in range(TIMES):
            delta = C / np.sqrt(WIDTH) * slopes[t]
            for tau in range(t, -1, -1):
                found[t, tau] = delta
                if tau:
                    delta = (delta @ W) / np.sqrt(WIDTH) * slopes[tau - 1]
        states.append(np.array(hs))
        adjoints.append(found)
    one, two = states
    products = np.einsum("tpn,sqn->tpsq", adjoints[0], adjoints[1])
    inner = one[:-1] @ two[:-1].T / WIDTH + sequences[0] @ sequences[1].T + 1
    ntk = np.einsum("tpsq,pq->ts", products, inner) + one[1:] @ two[1:].T / WIDTH
    return NU["nu_c"] * one[1:] @ two[1:].T / WIDTH, ntk


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_wide_network_has_these_kernels(network, name):
    nonlinearity, function, derivative = FUNCTIONS[name]
    x = network[-1]
    nngp, ntk = recurrent_kernel(x[0], x[1], nonlinearity=nonlinearity, **NU)
    finite_nngp, finite_ntk = finite_kernels(network, function, derivative)
    for finite, limit, own in (
        (finite_nngp, nngp, lambda kernel: kernel.nngp),
        (finite_ntk, ntk, lambda kernel: kernel.ntk),
    ):
        # Of the size of the kernel of each sequence with itself, to a few times 1/√n.
        sizes = [
            np.sqrt(np.diag(own(recurrent_kernel(s, s, nonlinearity=nonlinearity, **NU))))
            for s in x
        ]
        error = np.abs(finite - limit) / np.outer(*sizes)
        assert error.max() < 4 / np.sqrt(WIDTH)
        # What is compared is larger than that at different times too.
        assert np.abs(limit / np.outer(*sizes))[~np.eye(TIMES, dtype=bool)].max() > 0.1


def test_identity_is_the_limit_kernel():
    rng = np.random.default_rng(2)
    x, x2 = rng.normal(size=(5, 7, 2)), rng.normal(size=(3, 6, 2))
    nu = {"nu_w": 0.8, "nu_f": 0.6, "nu_c": 1.7}
    ours = recurrent_kernel(x, x2, nonlinearity=Identity(), **nu).ntk
    np.testing.assert_allclose(ours, limit_kernel(x, x2, **nu), atol=1e-10)


def test_identity_by_quadrature_is_the_limit_kernel():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(2, 5, 2))
    nu = {"nu_w": 0.8, "nu_f": 0.6, "nu_c": 1.7}
    linear = Smooth(lambda u: u, np.ones_like)
    ours = recurrent_kernel(x, x, nonlinearity=linear, **nu).ntk
    np.testing.assert_allclose(ours, limit_kernel(x, x, **nu), atol=1e-9)


def test_erf_by_quadrature_is_its_closed_form():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(3, 5, 2))
    by_hand = Smooth(erf, lambda u: 2 / np.sqrt(np.pi) * np.exp(-(u**2)))
    for closed, series in zip(
        recurrent_kernel(x, x, nonlinearity=Erf(), **NU),
        recurrent_kernel(x, x, nonlinearity=by_hand, **NU),
        strict=True,
    ):
        np.testing.assert_allclose(series, closed, atol=1e-9)


@pytest.mark.parametrize("name", ["erf", "relu", "tanh"])
def test_moments_against_a_plain_double_integral(name):
    nonlinearity, function, derivative = FUNCTIONS[name]
    z = np.linspace(-9, 9, 1801)
    weight = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    for a, b, c in ((0.7, 1.9, 0.5), (1.1, 0.4, -0.6)):
        root = np.sqrt(b - c**2 / a)
        u, v = np.sqrt(a) * z[:, None], c / np.sqrt(a) * z[:, None] + root * z
        value, slope = nonlinearity.moments(np.array(a), np.array(b), np.array(c))
        # The trapezoidal rule sees the kink of ReLU and the jump of its derivative.
        tight, loose = (1e-5, 5e-3) if name == "relu" else (1e-10, 1e-10)
        assert abs(weight @ (function(u) * function(v)) @ weight - value) < tight
        assert abs(weight @ (derivative(u) * derivative(v)) @ weight - slope) < loose


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from([Identity(), Erf(), ReLU(), Tanh()]),
    st.integers(0, 10**6),
    st.floats(0.05, 2),
    st.floats(0, 1),
)
def test_kernels_are_positive_semidefinite_and_symmetric(nonlinearity, seed, w, bias):
    x = np.random.default_rng(seed).normal(size=(3, 4, 2))
    x[2] = x[1]  # the same sequence twice
    for kernel in recurrent_kernel(x, x, nonlinearity=nonlinearity, nu_w=w, nu_b=bias):
        matrix = kernel.transpose(0, 2, 1, 3).reshape(12, 12)
        np.testing.assert_allclose(matrix, matrix.T, atol=1e-12 * np.abs(matrix).max())
        eigenvalues = np.linalg.eigvalsh((matrix + matrix.T) / 2)
        assert eigenvalues[0] > -1e-9 * eigenvalues[-1]
        assert kernel.dtype == np.float64


def test_the_diagonal_is_exact():
    """θ = 0 for a sequence with itself: the arccosine of a rounded cosine would cost 1e-8."""
    x = np.random.default_rng(4).normal(size=(6, 3))
    kernel = recurrent_kernel(x, x, nonlinearity=ReLU(), nu_w=1.5, nu_b=0.2)
    q, before, pi, slope = 0.0, 0.0, 0.0, 0.0
    for t, x_t in enumerate(x):
        g = x_t @ x_t
        pi = before + g + 1 + 1.5 * slope * pi
        q = 1.5 * before + g + 0.2
        before, slope = q / 2, 0.5
        np.testing.assert_allclose(kernel.ntk[t, t], before + 0.5 * pi, rtol=1e-13)


def test_options():
    x = np.random.default_rng(5).normal(size=(3, 4))
    half = recurrent_kernel(x / 2, x / 2, nonlinearity=Erf(), nu_w=0.5)
    scaled = recurrent_kernel(x, x, nonlinearity=Erf(), nu_w=0.5, scale_inputs=True)
    np.testing.assert_allclose(scaled.ntk, half.ntk, atol=1e-14)
    trained = recurrent_kernel(x, x, nonlinearity=Erf(), nu_w=0.5, nu_b=0.1)
    frozen = recurrent_kernel(x, x, nonlinearity=Erf(), nu_w=0.5, nu_b=0.1, train_bias=False)
    np.testing.assert_array_equal(trained.nngp, frozen.nngp)
    assert (np.diag(trained.ntk) > np.diag(frozen.ntk)).all()
    silent = recurrent_kernel(np.zeros((2, 1)), np.ones((2, 1)), nonlinearity=ReLU(), nu_w=0.5)
    assert (silent.ntk == 0).all()


def test_bad_input():
    x = np.ones((3, 1))
    with pytest.raises((ValueError, TypeError), match="nonlinearity"):  # the types are checked here
        recurrent_kernel(x, x, nonlinearity="erf", nu_w=0.5)
    with pytest.raises(ValueError, match=r"nu_b: received .*a variance is"):
        recurrent_kernel(x, x, nonlinearity=Erf(), nu_w=0.5, nu_b=-1)
    with pytest.raises(ValueError, match="not smooth enough"):
        Smooth(np.abs, np.sign).moments(np.array(1.0), np.array(1.0), np.array(0.5))
    assert issubclass(Smooth, Nonlinearity)
