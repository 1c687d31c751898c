"""What the statements of `connectivity` share: networks, and their flow as a power series.

The paper's formulas hold for N → ∞, where scalar products such as wᵀBBᵀw become numbers. A network
of a few units can have exactly these limits as its scalar products, so the algebra is checked on
such networks, to rounding. That large Gaussian networks have these limits is checked separately, in
standard deviations.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tacit.statements._shared_numbers import Array

LIMIT = "z₀ = 0, and all scalar products have their values at N → ∞"
ORTHOGONAL = "wᵀm = 0"
UNIT = "|w| = |m| = 1"
ORTHONORMAL = {
    ORTHOGONAL: lambda w, m: abs(w @ m) < 1e-12,
    UNIT: lambda w, m: max(abs(w @ w - 1), abs(m @ m - 1)) < 1e-12,
}


class Series(NamedTuple):
    """Taylor coefficients in τ, with the k-th multiplying τ^k: W (order + 1, N, N) and z."""

    W: Array
    z: Array


def flow_series(W0: Array, w: Array, m: Array, target: float, order: int) -> Series:
    """The flow (6) by power-series arithmetic, without any formula of the paper.

    With A = I − W, Ax = m and Aᵀy = w: A₀ x_k = Σ_{j≥1} W_j x_{k−j}, and (k + 1) W_{k+1} is the
    coefficient of (ẑ − z) y xᵀ.
    """
    B = np.linalg.inv(np.eye(len(W0)) - W0)
    W, x, y = [W0], [B @ m], [B.T @ w]
    error = [target - w @ x[0]]
    for k in range(order):
        terms = [
            error[a] * np.outer(y[b], x[k - a - b]) for a in range(k + 1) for b in range(k - a + 1)
        ]
        W.append(np.sum(terms, axis=0) / (k + 1))
        x.append(B @ sum(W[j] @ x[k + 1 - j] for j in range(1, k + 2)))
        y.append(B.T @ sum(W[j].T @ y[k + 1 - j] for j in range(1, k + 2)))
        error.append(-w @ x[-1])
    return Series(np.stack(W), np.array([target - error[0], *(-e for e in error[1:])]))


def output_of_change(inverse: Array, change: Array, w: Array, m: Array) -> Array:
    """Coefficients of wᵀ(B⁻¹ − Σ_{j≥1} W_j τ^j)⁻¹m, where B may be any matrix."""
    x = [inverse @ m]
    for k in range(1, len(change)):
        x.append(inverse @ sum(change[j] @ x[k - j] for j in range(1, k + 1)))
    return np.array([w @ state for state in x])


def coefficients(function: Any, radius: float, order: int, *, degree: int = 13) -> Array:
    """Taylor coefficients at 0 of an analytic function, from its values in [−r, r].

    An odd degree avoids 0 itself, where quotients are undefined.
    """
    places = np.polynomial.chebyshev.chebpts1(degree + 1)
    values = np.stack([np.asarray(function(radius * place)) for place in places])
    flat = np.polynomial.polynomial.polyfit(places, values.reshape(len(places), -1), degree)
    found = flat[: order + 1] / radius ** np.arange(order + 1)[:, None]
    return found.reshape(order + 1, *values.shape[1:])


def random_orthogonal(rng: np.random.Generator, size: int) -> Array:
    """A random orthogonal matrix."""
    q, r = np.linalg.qr(rng.normal(size=(size, size)))
    return q * np.sign(np.diag(r))


def limit_network(rng: np.random.Generator, *, alike: bool = False) -> dict[str, Any]:
    """A small network with the scalar products of the limit, 0.2 ≤ g ≤ 0.7, and a target.

    The squared components of w, placed at the inverse squared singular values of I − W₀, form a
    measure of two atoms with the moments 1, β and β⁴. So do those of m, at other singular values.
    """
    g = float(rng.uniform(0.2, 0.7))
    beta = 1 / (1 - g**2)
    share = rng.uniform(0.2, 0.8) / beta**2
    shares = [share, share if alike else rng.uniform(0.2, 0.8) / beta**2]
    size = int(rng.integers(4, 8))
    values = np.sqrt(rng.uniform(0.3, 2.0, size))
    w, m = np.zeros(size), np.zeros(size)
    for vector, q, first in ((w, shares[0], 0), (m, shares[1], 2)):
        spread = beta * np.sqrt(beta**2 - 1)
        inverse = beta + spread * np.array([np.sqrt((1 - q) / q), -np.sqrt(q / (1 - q))])
        values[first : first + 2] = inverse**-0.5
        vector[first : first + 2] = np.sqrt([q, 1 - q]) * rng.choice([-1.0, 1.0], 2)
    U, V = random_orthogonal(rng, size), random_orthogonal(rng, size)
    return {
        "W0": np.eye(size) - (U * values) @ V.T,
        "w": V @ w,
        "m": U @ m,
        "g": g,
        "target": float(rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 2.0)),
    }


def overlapping_network(rng: np.random.Generator) -> dict[str, Any]:
    """A limit network whose input vector overlaps a little with Bᵀw."""
    instance = limit_network(rng)
    B = np.linalg.inv(np.eye(len(instance["W0"])) - instance["W0"])
    return {**instance, "m": instance["m"] + 0.1 * B.T @ instance["w"]}


def is_limit(W0: Array, w: Array, m: Array, g: float) -> bool:
    """Whether the products that third order needs have their limits for N → ∞, to rounding."""
    B = np.linalg.inv(np.eye(len(W0)) - W0)
    beta = 1 / (1 - g**2)
    right, left = B @ B.T, B.T @ B
    found = [
        w @ w, m @ m, w @ right @ w, m @ left @ m, w @ right @ right @ w, m @ left @ left @ m,
        w @ B @ m, w @ right @ B @ m, w @ right @ right @ B @ m,
    ]  # fmt: skip
    expected = [1, 1, beta, beta, beta**4, beta**4, 0, 0, 0]
    return bool(np.max(np.abs(np.array(found) - expected)) <= 1e-9 * beta**4)


def orthonormal_vectors(rng: np.random.Generator) -> dict[str, Any]:
    """w and m of unit length, orthogonal to each other, and a target."""
    size = int(rng.integers(2, 7))
    w, m = random_orthogonal(rng, size)[:2].copy()
    return {"w": w, "m": m, "target": float(rng.choice([-1.0, 1.0]) * rng.uniform(0.2, 2.5))}


def inverse_of(W0: Array) -> Array:
    """B = (I − W₀)⁻¹."""
    return np.linalg.inv(np.eye(len(W0)) - W0)


def fit_radius(g: float, target: float) -> float:
    """A time well inside the disc in which the square roots of the factors are analytic."""
    beta = 1 / (1 - g**2)  # chosen, as a scale of the time
    return 0.1 / (beta**2 * max(1.0, abs(target) * np.sqrt(beta)))  # chosen


def third_factors(
    B: Array, w: Array, m: Array, beta: float, target: float, *,
    transposed: bool = False, hat: float = 12.0,
) -> Callable[[float], tuple[Array, Array]]:  # fmt: skip
    """U and V of (53) as functions of τ, (N, 2) each, with the coefficients (48)–(52)."""
    row = B @ w if transposed else B.T @ w

    def factors(tau: float) -> tuple[Array, Array]:
        root = np.sqrt(complex(tau * target))
        a = root * np.sqrt(1 - tau * beta**2 / 2 + tau**2 * beta**4 / 6)
        b = (tau**2 * target**2 * beta / 2 - tau**3 * target**2 * beta**3 / 2) / a
        c = tau**3 / 6 * target**3 * beta**2 / a
        small = root * tau * target * beta / np.sqrt(hat)
        U = [B.T @ (a * w + b * B @ m + c * B @ B.T @ w), small * B.T @ B @ m]
        V = [B @ (a * m + b * row + c * B.T @ B @ m), small * B @ B.T @ w]
        return np.stack(U, axis=1), np.stack(V, axis=1)

    return factors
