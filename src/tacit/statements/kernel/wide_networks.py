"""Proposition 3.1 on networks with a nonlinear activation: h_t = tanh(W h_{t−1}/√n + F x_t)."""

import functools
from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.kernel._shared import Network, draw_network, draw_variances

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(48)
_WEIGHTS = _WEIGHTS / np.sum(_WEIGHTS)


def _draw_many(
    seed: int, width: int, count: int, inputs: int, outputs: int, nu: tuple[float, float, float]
) -> Network:
    """Stacks of networks with independent entries (4)."""
    rng = np.random.default_rng([seed, width])
    sizes = (width, width), (width, inputs), (outputs, width)
    W, F, C = (np.sqrt(v) * rng.normal(size=(count, *s)) for v, s in zip(nu, sizes, strict=True))
    return W, F, C


def _states(W: Array, F: Array, x: Array) -> list[Array]:
    """h_0, h_1, … of stacked networks: (networks, n) each."""
    h, found = np.zeros(W.shape[:2]), []
    for row in x:
        h = np.tanh(np.einsum("cij,cj->ci", W, h) / np.sqrt(W.shape[1]) + F @ row)
        found.append(h)
    return found


def _adjoints(W: Array, C: Array, states: list[Array], time: int) -> list[Array]:
    """The derivatives of the outputs at `time` by the sums inside tanh at 0, …, `time`."""
    scale = np.sqrt(W.shape[1])
    found = [C / scale * (1 - states[time][:, None] ** 2)]
    for k in range(time, 0, -1):
        found.append(found[-1] @ W / scale * (1 - states[k - 1][:, None] ** 2))
    return found[::-1]


def _kernels(W: Array, F: Array, C: Array, x: Array, x2: Array) -> Array:
    """Tangent kernels of stacked networks, (networks, outputs, T, T), by backpropagation."""
    n, T = W.shape[1], len(x)
    here, there = _states(W, F, x), _states(W, F, x2)
    kernel = np.zeros((len(W), C.shape[1], T, T))
    ones = [_adjoints(W, C, here, t) for t in range(T)]
    twos = [_adjoints(W, C, there, s) for s in range(T)]
    past = np.zeros((len(W), T, T))
    for k, j in np.ndindex(T, T):
        if k and j:
            past[:, k, j] = np.sum(here[k - 1] * there[j - 1], axis=1) / n
    past += x @ x2.T
    for t, s in np.ndindex(T, T):
        total = np.sum(here[t] * there[s], axis=1)[:, None] / n
        for k, j in np.ndindex(t + 1, s + 1):
            both = np.einsum("coi,coi->co", ones[t][k], twos[s][j])
            total = total + both * past[:, k, j, None]
        kernel[:, :, t, s] = total
    return kernel


def _pair_means(one: float, two: float, both: float) -> tuple[float, float]:
    """E tanh(u) tanh(v) and E tanh'(u) tanh'(v) of centred Gaussians with these covariances."""
    along = both / one
    rest = np.sqrt(max(two - along * both, 0.0))
    first = np.tanh(np.sqrt(one) * _NODES)
    second = np.tanh(along * np.sqrt(one) * _NODES[:, None] + rest * _NODES)
    slopes = (_WEIGHTS * (1 - first**2)) @ (1 - second**2) @ _WEIGHTS
    return float((_WEIGHTS * first) @ second @ _WEIGHTS), float(slopes)


def _limit(
    pair: Array, nu_w: float, nu_f: float, nu_c: float,
    by_w: float = 1.0, by_f: float = 1.0, by_c: float = 1.0,
) -> Array:  # fmt: skip
    """The limit of the kernel of two sequences (2, T, inputs) with each other, by quadrature.

    Gaussians g_t stand for the sums inside tanh. `by_w`, `by_f` and `by_c` multiply the parts of
    the three derivatives.
    """
    T = pair.shape[1]

    @functools.cache
    def covariance(a: tuple[int, int], b: tuple[int, int]) -> float:
        return nu_w * means(a, b)[0] + nu_f * float(pair[a] @ pair[b])

    @functools.cache
    def means(a: tuple[int, int], b: tuple[int, int]) -> tuple[float, float]:
        """E tanh tanh and E tanh' tanh' one step earlier."""
        if not (a[1] and b[1]):
            return 0.0, 0.0
        a, b = (a[0], a[1] - 1), (b[0], b[1] - 1)
        return _pair_means(covariance(a, a), covariance(b, b), covariance(a, b))

    @functools.cache
    def tangent(a: tuple[int, int], b: tuple[int, int]) -> float:
        value, slope = means(a, b)
        past = slope and nu_w * slope * tangent((a[0], a[1] - 1), (b[0], b[1] - 1))
        return by_w * value + by_f * float(pair[a] @ pair[b]) + past

    def entry(a: tuple[int, int], b: tuple[int, int]) -> float:
        value, slope = _pair_means(covariance(a, a), covariance(b, b), covariance(a, b))
        return by_c * value + nu_c * slope * tangent(a, b)

    places = [(i, t) for i in range(2) for t in range(T)]
    return np.array([[entry(a, b) for b in places] for a in places])


def _two_sequences(rng: np.random.Generator) -> dict[str, Any]:
    """Two correlated sequences of moderate size: the quadratures have 48 nodes."""
    x = rng.uniform(0.3, 0.7, size=(3, 2)) * rng.choice([-1.0, 1.0], size=(3, 2))
    pair = np.stack([x, x + 0.2 * rng.normal(size=x.shape)])
    nu = {**draw_variances(rng), "nu_f": rng.uniform(1.5, 3)}
    return {"seed": int(rng.integers(2**31)), "pair": pair, **nu}


_WIDTHS, _COUNTS, _OUTPUTS = (32, 96), (80, 30), 16


@statement(
    "kernel/proposition3.1-kernel",
    place="Proposition 3.1, (13) and (15)",
    words="the tangent kernel of a wide tanh network tends to a deterministic positive "
    "semidefinite one: E φφ' + ν_C E φ̇φ̇' Θ_ts, Θ_ts = E φφ' + x_t·x'_s + ν_W E φ̇φ̇' Θ_{t−1,s−1}",
    draw=_two_sequences,
    tolerance=6.0,  # standard errors
    mutations=[{"by_w": 0.9}, {"by_f": 1.1}, {"by_c": 1.1}],
    instances=6,
)
def proposition_3_1_kernel(
    seed: int, pair: Array, nu_w: float, nu_f: float, nu_c: float, *,
    by_w: float = 1.0, by_f: float = 1.0, by_c: float = 1.0,
) -> float:  # fmt: skip
    """Means over networks, by backpropagation, against Gaussian integrals by quadrature.

    Gaps are relative to √(K_tt(x, x) K_ss(x', x')) and in standard errors of the mean, which the
    networks give themselves. Their means over all t and s, and over t, s ≥ 1, are judged as well.
    """
    T = pair.shape[1]
    limit = _limit(pair, nu_w, nu_f, nu_c, by_w, by_f, by_c)
    if np.linalg.eigvalsh(limit)[0] < -1e-6:
        return np.inf
    size = np.sqrt(np.outer(np.diag(limit)[:T], np.diag(limit)[T:]))
    found = 0.0
    for width, count in zip(_WIDTHS, _COUNTS, strict=True):
        W, F, C = _draw_many(seed, width, count, pair.shape[2], _OUTPUTS, (nu_w, nu_f, nu_c))
        gaps = (np.mean(_kernels(W, F, C, *pair), axis=1) - limit[:T, T:]) / size
        signed = gaps * np.sign(limit[:T, T:])
        totals = np.mean(signed, axis=(1, 2)), np.mean(signed[:, 1:, 1:], axis=(1, 2))
        gaps = np.concatenate([gaps.reshape(count, -1), np.stack(totals, axis=1)], axis=1)
        errors = np.std(gaps, axis=0) / np.sqrt(count)
        found = np.maximum(found, np.max(np.abs(np.mean(gaps, axis=0)) / errors))  # keeps a NaN
    return float(found)


def _task(rng: np.random.Generator) -> dict[str, Any]:
    """Two training sequences and a new one; small targets, as a step changes the kernel by them."""
    x = rng.normal(size=(3, 2, 2))
    return {"seed": int(rng.integers(2**31)), "x": x, "y": 0.3 * rng.normal(size=(2, 2)),
            "nu_w": rng.uniform(0.2, 0.8), "nu_f": rng.uniform(0.5, 1), "nu_c": 0.1}  # fmt: skip


def _gradients(W: Array, F: Array, C: Array, x: Array, slopes: Array) -> Network:
    """The gradients of Σ slopes · y of one network, over sequences (N, T, inputs)."""
    scale = np.sqrt(len(W))
    by_W, by_F, by_C = np.zeros_like(W), np.zeros_like(F), np.zeros_like(C)
    for one, slope in zip(x, slopes, strict=True):
        states = [h[0] for h in _states(W[None], F[None], one)]
        adjoint = np.zeros(len(W))
        for t in range(len(one) - 1, -1, -1):
            adjoint = (C[0] * slope[t] + W.T @ adjoint) / scale * (1 - states[t] ** 2)
            by_C += slope[t] * states[t] / scale
            by_F += np.outer(adjoint, one[t])
            if t:
                by_W += np.outer(adjoint, states[t - 1]) / scale
    return by_W, by_F, by_C


def _flat(network: Network) -> Array:
    return np.concatenate([part.ravel() for part in network])


def _outputs(W: Array, F: Array, C: Array, x: Array) -> Array:
    found = [[C[0] @ h[0] for h in _states(W[None], F[None], one)] for one in x]
    return np.array(found) / np.sqrt(len(W))


_STEPS, _ALLOWED = 8, 5.0


@statement(
    "kernel/proposition3.1",
    place="Proposition 3.1, (12) and (16)",
    words="descent on a wide tanh network and on its linear model f⁰ + Σ_j K(x, x_j)α_j, "
    "α ← α − η(f − y), give the same outputs, also on new inputs; the gap is O(1/n)",
    draw=_task,
    tolerance=_ALLOWED,  # n times the largest gap, relative to the largest change of an output
    mutations=[{"faster": 1.1}, {"kernel": 0.9}],
    errata=[
        Erratum(
            place="(12)",
            as_printed="f^lin(x, α) = f(x, θ⁰) + Σ_j K(x_i, x_j)α_j",
            as_corrected="K(x, x_j). (Residuals here are n times the relative gap.)",
            constants={"at_new": False},
            gravity="misprint",
            glyph="the index i of the first argument of K",
        ),
        Erratum(
            as_printed="α̂^ℓ is obtained by gradient descent, with the same rate, on the "
            "coefficients α of (12)",
            as_corrected="by descent on the parameters of the linearised network, which is "
            "α ← α − η(f^lin − y); descent on α itself has a further factor K",
            constants={"on_alpha": True},
            gravity="false statement",
        ),
    ],
    instances=6,
)
def proposition_3_1(
    seed: int, x: Array, y: Array, nu_w: float, nu_f: float, nu_c: float, *,
    faster: float = 1.0, kernel: float = 1.0, at_new: bool = True, on_alpha: bool = False,
) -> float:  # fmt: skip
    """Descent on one network of each of two widths, at half the inverse of K's largest eigenvalue.

    Gradients are by backpropagation, and must agree with a complex step.
    """
    T, found = x.shape[1], 0.0
    for width in (48, 160):
        network = draw_network(np.random.default_rng([seed, width]), width, 2, 1, nu_w, nu_f, nu_c)
        start = np.ravel(_outputs(*network, x))
        units = np.eye(len(start)).reshape(-1, len(x), T)
        rows = [_flat(_gradients(*network, x, unit)) for unit in units]
        way = draw_network(np.random.default_rng(seed), width, 2, 1, 1.0, 1.0, 1.0)
        W, F, C = (p + 1e-30j * part for p, part in zip(network, way, strict=True))
        along = np.imag(_outputs(W, F, C, x)).ravel() / 1e-30
        if residual(np.array(rows) @ _flat(way), along) > 1e-9:
            return np.inf
        K = kernel * np.array(rows) @ np.array(rows).T
        own, every = K[: y.size, : y.size], K[:, : y.size]
        if not at_new:
            every = np.concatenate([own, own[:T]])
        rate = kernel * 0.5 / np.linalg.eigvalsh(own)[-1]  # chosen
        alpha, gap, moved = np.zeros(y.size), 0.0, 0.0
        for _ in range(_STEPS):
            slopes = _outputs(*network, x[:2]) - y
            parts = _gradients(*network, x[:2], slopes)
            W, F, C = (p - rate * part for p, part in zip(network, parts, strict=True))
            network = W, F, C
            misfit = start[: y.size] + own @ alpha - y.ravel()
            alpha = alpha - faster * rate * (own @ misfit if on_alpha else misfit)
            linear = start + every @ alpha
            gap = max(gap, residual(_outputs(*network, x).ravel(), linear, scale=1.0))
            moved = max(moved, float(np.max(np.abs(every @ alpha))))
        found = max(found, width * gap / moved)
    return found
