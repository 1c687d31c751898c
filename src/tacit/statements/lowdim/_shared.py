"""What the statements of `lowdim` share: linear systems, and gradient flow on their loss.

Responses come from the recursion, gradients from passing errors back through it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from tacit.statements._shared_numbers import Array


def random_orthogonal(rng: np.random.Generator, size: int) -> Array:
    """A random orthogonal matrix."""
    found, _ = np.linalg.qr(rng.normal(size=(size, size)))
    return found


def balanced_system(
    rng: np.random.Generator, nodes: Array, weights: Array, width: int
) -> tuple[Array, Array]:
    """A = Aᵀ and B = Cᵀ with the response Σ weights_i nodes_i^j, in a random basis.

    States beyond the nodes do not affect the output; they fill up the width.
    """
    spare = width - len(nodes)
    values = np.concatenate([nodes, rng.uniform(-1, 1, size=spare)])
    loads = np.concatenate([np.sqrt(weights), np.zeros(spare)])
    basis = random_orthogonal(rng, width)
    A = basis * values @ basis.T
    return (A + A.T) / 2, (basis @ loads)[:, None]  # chosen: exactly symmetric


def spread_nodes(rng: np.random.Generator, count: int, gap: float, reach: float = 0.95) -> Array:
    """Ascending numbers in [−reach, reach], at least `gap` apart."""
    while True:
        nodes = np.sort(rng.uniform(-reach, reach, size=count))
        if count == 1 or np.min(np.diff(nodes)) >= gap:
            return nodes


def impulse_outputs(A: Array, B: Array, C: Array, steps: int) -> Array:
    """y_0, y_1, … of (3.1) from s_0 = 0 for the input 1, 0, 0, …"""
    state, outputs = np.zeros((len(A), 1)), []
    for t in range(steps):
        outputs.append((C @ state).item())
        state = A @ state + B * float(t == 0)
    return np.array(outputs)


def response(A: Array, B: Array, C: Array, lags: int) -> Array:
    """CB, CAB, …, by running the recursion; complex arguments stay complex."""
    state, found = B, []
    for _ in range(lags):
        found.append((C @ state)[0, 0])
        state = A @ state
    return np.array(found)


def loss_of(A: Array, B: Array, C: Array, target: Array) -> Any:
    """(3.4): the plain sum of squares over the lags of `target`."""
    return np.sum((response(A, B, C, len(target)) - target) ** 2)


def gradients(A: Array, B: Array, C: Array, target: Array) -> tuple[Array, Array, Array]:
    """The gradient of (3.4), passed back through the recursion from the last lag to the first."""
    states = [B]
    for _ in range(1, len(target)):
        states.append(A @ states[-1])
    adjoint, by_A, by_C = np.zeros_like(B), np.zeros_like(A), np.zeros_like(C)
    for j in range(len(target) - 1, -1, -1):
        slope = 2 * ((C @ states[j]).item() - target[j])
        by_C += slope * states[j].T
        adjoint = slope * C.T + A.T @ adjoint
        if j:
            by_A += adjoint @ states[j - 1].T
    return by_A, adjoint, by_C


def symmetric_gradient(by_A: Array) -> Array:
    """The gradient with respect to the upper triangle, which determines a symmetric A."""
    both = by_A + by_A.T
    return both - np.diag(np.diag(by_A))


def integrate_flow(
    A: Array, B: Array, C: Array, target: Array, times: Sequence[float] | Array, *,
    symmetric: bool, stiff: bool = False, rtol: float = 1e-11, atol: float = 1e-13,
) -> list[tuple[Array, Array, Array]]:  # fmt: skip
    """Gradient flow (3.6) on (3.4) at the given times; `symmetric` learns A's upper triangle.

    B and C are learned independently, whatever they start from.
    """
    width = len(A)
    cuts = [width * width, width * width + width]

    def unpack(flat: Array) -> tuple[Array, Array, Array]:
        a, b, c = np.split(flat, cuts)
        return a.reshape(width, width), b[:, None], c[None, :]

    def slope(_: float, flat: Array) -> Array:
        by_A, by_B, by_C = gradients(*unpack(flat), target)
        return -np.concatenate(
            [np.ravel(symmetric_gradient(by_A) if symmetric else by_A), by_B[:, 0], by_C[0]]
        )

    start = np.concatenate([np.ravel(A), B[:, 0], C[0]])
    done = solve_ivp(
        slope, (0.0, float(times[-1])), start, t_eval=np.asarray(times, float),
        method="LSODA" if stiff else "DOP853", rtol=rtol, atol=atol,
    )  # fmt: skip
    if not done.success:
        raise RuntimeError(f"gradient flow: {done.message}")
    return [unpack(state) for state in done.y.T]
