"""What the statements of `kernel` share: linear networks, their outputs and their gradients.

Networks are drawn at any width, run by their recursion and differentiated by backpropagation.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tacit.statements._shared_numbers import Array

Network = tuple[Array, Array, Array]


def draw_network(
    rng: np.random.Generator, width: int, inputs: int, outputs: int,
    nu_w: float, nu_f: float, nu_c: float,
) -> Network:  # fmt: skip
    """W, F and C with independent Gaussian entries of these variances (4)."""
    return (
        np.sqrt(nu_w) * rng.normal(size=(width, width)),
        np.sqrt(nu_f) * rng.normal(size=(width, inputs)),
        np.sqrt(nu_c) * rng.normal(size=(outputs, width)),
    )


def draw_networks(seed: int, width: int, count: int, **sizes: Any) -> Iterator[Network]:
    """Independent networks of one width, determined by the seed."""
    for index in range(count):
        yield draw_network(np.random.default_rng([seed, width, index]), width, **sizes)


def run(W: Array, F: Array, C: Array, x: Array) -> Array:
    """The recursion (1): x (time, inputs) → y (time, outputs); complex arguments stay complex."""
    scale = np.sqrt(len(W))
    state, outputs = np.zeros(len(W)), []
    for row in x:
        state = W @ state / scale + F @ row
        outputs.append(C @ state / scale)
    return np.array(outputs)


def impulse_response(W: Array, F: Array, C: Array, lags: int) -> Array:
    """The response (lags, outputs, inputs) to unit impulses."""
    kicks = np.zeros((F.shape[1], lags, F.shape[1]))
    kicks[:, 0] = np.eye(F.shape[1])
    return np.stack([run(W, F, C, kick) for kick in kicks], axis=-1)


def convolve(response: Array, x: Array) -> Array:
    """y_t = Σ_{j≤t} L_j x_{t−j} (5), as a double sum."""
    return np.array([sum(response[j] @ x[t - j] for j in range(t + 1)) for t in range(len(x))])


def backward(W: Array, F: Array, C: Array, x: Array, slopes: Array) -> Network:
    """The gradients of Σ slopes · y, by backpropagation through time."""
    scale = np.sqrt(len(W))
    states = [np.zeros(len(W))]
    for row in x:
        states.append(W @ states[-1] / scale + F @ row)
    by_W, by_F, by_C = np.zeros_like(W), np.zeros_like(F), np.zeros_like(C)
    adjoint = np.zeros(len(W))
    for t in range(len(x) - 1, -1, -1):
        adjoint = W.T @ adjoint / scale + C.T @ slopes[t] / scale
        by_C += np.outer(slopes[t], states[t + 1]) / scale
        by_F += np.outer(adjoint, x[t])
        by_W += np.outer(adjoint, states[t]) / scale
    return by_W, by_F, by_C


def jacobian(W: Array, F: Array, C: Array, x: Array) -> Array:
    """∂y_{t,m}/∂(W, F, C) in rows (t, m), by one backward pass for each row."""
    rows = []
    for unit in np.eye(len(x) * len(C)).reshape(-1, len(x), len(C)):
        rows.append(np.concatenate([np.ravel(part) for part in backward(W, F, C, x, unit)]))
    return np.array(rows)


def draw_variances(rng: np.random.Generator, most: float = 0.8) -> dict[str, float]:
    """ν_W below `most`; ν_F and ν_C on either side of one."""
    return {
        "nu_w": rng.uniform(0.2, most),
        "nu_f": rng.uniform(0.5, 2),
        "nu_c": rng.uniform(0.5, 2),
    }


def toeplitz_blocks(x: Array) -> Array:
    """T(x) of (18) as an explicit matrix: (time · inputs, time)."""
    time, inputs = x.shape
    rows = np.zeros((time, inputs, time))
    for j in range(time):
        for t in range(j, time):
            rows[j, :, t] = x[t - j]
    return rows.reshape(time * inputs, time)


def weights(nu_w: float, nu_f: float, nu_c: float, length: int, by_w: float = 1.0) -> Array:
    """ρ of (21), written out."""
    j = np.arange(length)
    return by_w * nu_c * nu_f * j * nu_w ** (j - 1.0) + (nu_c + nu_f) * nu_w**j


def largest_weight(nu_f: float, nu_c: float, length: int, less: int = 0) -> float:
    """ρ_max of (22)."""
    return nu_c * ((length - less) * nu_f + 1) + nu_f


def proof_constants(nu_w: float, nu_f: float, nu_c: float, x: Array) -> tuple[Array, Array, float]:
    """The matrix A of the proof, the weights D of its columns, and B₁ of (60).

    Columns are lags, and within a lag inputs.
    """
    A = np.concatenate([toeplitz_blocks(one).T for one in x])
    _, length, inputs = x.shape
    largest = largest_weight(nu_f, nu_c, length) * float(np.linalg.norm(A, 2)) ** 2
    return A, np.repeat(weights(nu_w, nu_f, nu_c, length), inputs), 1 / largest
