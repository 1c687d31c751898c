"""Learning in a linear rate network: conservation laws, the universal curve, exact solutions."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import quad, solve_ivp

from tacit.statements import residual, statement
from tacit.statements._shared_numbers import Array
from tacit.theory.connectivity import conserved_drift, exact_g0, learning_curve

_FINE: dict[str, Any] = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-13}
_ORTHOGONAL = "wᵀm = 0"


def _vectors(W: Array, w: Array, m: Array) -> tuple[Array, Array]:
    """x = (I − W)⁻¹m and y = (I − W)⁻ᵀw."""
    A = np.eye(len(W)) - W
    return np.linalg.solve(A, m), np.linalg.solve(A.T, w)


def _integrate(speed: Callable[[Array, Array], Any], W0: Array, w: Array, m: Array, end: float,
              more: int = 0) -> tuple[Array, Array]:  # fmt: skip
    """W after dW/dt = (first of `speed`) y xᵀ; the other values are integrated along with W."""

    def motion(_: float, state: Array) -> Array:
        x, y = _vectors(state[: W0.size].reshape(W0.shape), w, m)
        first, *others = speed(x, y)
        return np.concatenate([(first * np.outer(y, x)).ravel(), others])

    start = np.concatenate([W0.ravel(), np.zeros(more)])
    last = solve_ivp(motion, (0, end), start, **_FINE).y[:, -1]
    return last[: W0.size].reshape(W0.shape), last[W0.size :]


def _network(rng: np.random.Generator) -> dict[str, Any]:
    """A network of a few units, a target within reach, and a length s of the path."""
    size = int(rng.integers(2, 8))
    W0 = rng.normal(size=(size, size))
    vectors = rng.normal(size=(2, size))
    w, m = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return {
        "W0": rng.uniform(0.1, 0.4) * W0 / np.linalg.norm(W0, 2),
        "w": w,
        "m": m,
        "path": float(rng.uniform(0.05, 0.15)),
        "beyond": rng.uniform(0.2, 2.0, 2),
    }


@statement(
    "ours/conservation",
    place="theory.connectivity.conserved",
    words="with A = I − W the flow leaves P_{w⊥} AᵀA P_{w⊥} and P_{m⊥} AAᵀ P_{m⊥} unchanged, for "
    "every network and target",
    draw=_network,
    tolerance=1e-8,
    mutations=[{"swapped": True}, {"projected": 0.99}],
    instances=10,
)
def conservation(
    W0: Array, w: Array, m: Array, beyond: Array, *, swapped: bool = False, projected: float = 1.0
) -> float:
    """The flow (6) until τ = 20: the change of both matrices relative to their whole change."""
    target = w @ _vectors(W0, w, m)[0] + beyond[0]
    W, _ = _integrate(lambda x, y: [target - w @ x], W0, w, m, 20.0)
    before, after = np.eye(len(W)) - W0, np.eye(len(W)) - W
    found = 0.0
    for vector, change in (
        (m if swapped else w, after.T @ after - before.T @ before),
        (w if swapped else m, after @ after.T - before @ before.T),
    ):
        off = np.eye(len(W)) - projected * np.outer(vector, vector)
        found = max(found, residual(off @ change @ off, 0 * change, scale=np.abs(change).max()))
    if (swapped, projected) == (False, 1.0):
        found = max(found, conserved_drift(W0, W, w, m))
    return float(found)


@statement(
    "ours/universal-curve",
    place="theory.connectivity, _path",
    words="with ds = (ẑ − z)dτ the path W(s) is the same for every target, dW/ds = y xᵀ, and "
    "τ = ∫ds/(ẑ − z)",
    draw=_network,
    tolerance=1e-8,
    mutations=[{"power": 1.01}],
    instances=10,
)
def universal_curve(
    W0: Array, w: Array, m: Array, path: float, beyond: Array, *, power: float = 1.0
) -> float:
    """One path in s, with the times at which two targets reach its end; then the flow for each."""
    W, _ = _integrate(lambda x, y: [1.0], W0, w, m, path)
    targets = w @ _vectors(W, w, m)[0] + beyond
    again, times = _integrate(
        lambda x, y: [1.0, *((targets - w @ x) ** -power)], W0, w, m, path, more=2
    )

    def learn(target: float, time: float) -> Array:
        return _integrate(lambda x, y: [target - w @ x], W0, w, m, time)[0]

    ends = [learn(*both) for both in zip(targets, times, strict=True)]
    scale = np.abs(W - W0).max()
    return max(residual(end, W, scale=scale) for end in (again, *ends))


@statement(
    "ours/vector-flow",
    place="theory.connectivity.learning_curve",
    words="p' = x, x' = |x|²(A₀ᵀA₀ − wpᵀ − pwᵀ)⁻¹w from x(0) = Bm, and its twin for y with m "
    "and w exchanged, give ΔW = ∫y xᵀds: 2N-vectors in place of the matrix",
    draw=_network,
    tolerance=1e-8,
    mutations=[{"power": 1.98}, {"sign": 1.0}],
    instances=10,
)
def vector_flow(
    W0: Array, w: Array, m: Array, path: float, beyond: Array, *,
    power: float = 2.0, sign: float = -1.0,
) -> float:  # fmt: skip
    """Both vector systems, with Gauss quadrature for ΔW, against the flow of the matrix."""
    size, A = len(W0), np.eye(len(W0)) - W0

    def side(gram: Array, fixed: Array, first: Array) -> Any:
        def motion(_: float, state: Array) -> Array:
            p, x = state[:size], state[size:]
            G = gram + sign * (np.outer(fixed, p) + np.outer(p, fixed))
            return np.concatenate([x, (x @ x) ** (power / 2) * np.linalg.solve(G, fixed)])

        start = np.concatenate([np.zeros(size), first])
        return solve_ivp(motion, (0, path), start, dense_output=True, **_FINE).sol

    x, y = _vectors(W0, w, m)
    right, left = side(A.T @ A, w, x), side(A @ A.T, m, y)
    places, weights = np.polynomial.legendre.leggauss(24)
    nodes = path * (1 + places) / 2
    change = (left(nodes)[size:] * weights * path / 2) @ right(nodes)[size:].T
    W, _ = _integrate(lambda x, y: [1.0], W0, w, m, path)
    scale = np.abs(W - W0).max()
    found = residual(change, W - W0, scale=scale)
    if (power, sign) == (2.0, -1.0):
        target = float(w @ _vectors(W, w, m)[0] + beyond[0])
        time = _integrate(lambda x, y: [1.0, 1 / (target - w @ x)], W0, w, m, path, more=1)[1]
        curve = learning_curve(W0, w, m, targets=target)
        found = max(found, residual(curve.change(float(time[0])), W - W0, scale=scale))
    return found


def _bare(rng: np.random.Generator) -> dict[str, Any]:
    size = int(rng.integers(2, 6))
    w, m = np.linalg.qr(rng.normal(size=(size, size)))[0].T[:2].copy()
    target = float(rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 5.0))
    return {"w": w, "m": m, "target": target, "part": float(rng.uniform(0.2, 1.0))}


def _bare_oblique(rng: np.random.Generator) -> dict[str, Any]:
    instance = _bare(rng)
    return {**instance, "m": 0.99 * instance["m"] + np.sqrt(1 - 0.99**2) * instance["w"]}


@statement(
    "ours/exact-g0",
    place="theory.connectivity.exact_g0; sought by the paper below (70)",
    words="without initial connectivity A₁₁ = A₂₂ = 1 − sech σ, A₁₂ = tanh σ, A₂₁ = σ − tanh σ and "
    "z = tanh σ/D, τ = ∫D³/(ẑD − tanh σ)dσ with D = 1 − σ tanh σ; s₁ + s₂ = |σ|",
    draw=_bare,
    tolerance=1e-8,
    hypotheses={_ORTHOGONAL: lambda w, m: abs(w @ m) < 1e-12},
    mutations=[{"lower": 0.99}, {"power": 2.98}],
    without={_ORTHOGONAL: _bare_oblique},
    instances=10,
)
def exact_without_connectivity(
    w: Array, m: Array, target: float, part: float, *, lower: float = 1.0, power: float = 3.0
) -> float:
    """The flow (6) of the whole matrix for part of its 5% learning time, with its length σ."""
    curve = exact_g0(target)
    time = part * curve.learning_time()

    def speed(x: Array, y: Array) -> list[float]:
        error = float(target - w @ x)
        return [error, error * float(np.linalg.norm(x) * np.linalg.norm(y))]

    W, (arc,) = _integrate(speed, np.zeros((len(w), len(w))), w, m, time, more=1)
    diagonal, tanh = 1 - 1 / np.cosh(arc), np.tanh(arc)
    A = np.array([[diagonal, tanh], [arc - lower * tanh, diagonal]])
    frame = np.stack([w, m], axis=1)

    def slowness(at: float) -> float:
        D = 1 - at * np.tanh(at)
        return float(D**power / (target * D - np.tanh(at)))

    spent = quad(slowness, 0.0, arc, epsabs=1e-13, epsrel=1e-12)[0]
    z = w @ _vectors(W, w, m)[0]
    found = max(
        residual(W, frame @ A @ frame.T),
        residual(z, tanh / (1 - arc * tanh)),
        residual(np.linalg.norm(W, "nuc"), abs(arc)),
        residual(spent, time),
    )
    if (lower, power) == (1.0, 3.0):
        library = frame @ curve.change(time) @ frame.T
        found = max(found, residual(W, library), residual(z, float(curve.output(time))))
    return found
