"""What the statements of `ours` share: linear RNNs, and moments and Gauss rules of measures."""

from fractions import Fraction
from typing import Any

import numpy as np

from tacit.statements._shared_numbers import Array

BELOW = "2n < 2d̂"


def draw_rnn(rng: np.random.Generator, width: int, outputs: int, inputs: int) -> dict[str, Any]:
    """W, F and C with independent Gaussian entries of random variances."""
    deviations = np.sqrt(rng.uniform(0.3, 1.2, 3))
    return {
        "W": deviations[0] * rng.normal(size=(width, width)),
        "F": deviations[1] * rng.normal(size=(width, inputs)),
        "C": deviations[2] * rng.normal(size=(outputs, width)),
    }


def impulse_response(W: Array, F: Array, C: Array, *, length: int) -> Array:
    """(9): the outputs after an impulse, step by step, (length, outputs, inputs)."""
    root, state, found = np.sqrt(len(W)), F, []
    for _ in range(length):
        found.append(C @ state / root)
        state = W @ state / root
    return np.stack(found)


def draw_teacher(rng: np.random.Generator, order: int) -> dict[str, Any]:
    """Well separated atoms inside (−1, 1), rational so that decisions about them are exact."""
    places = np.linspace(-1, 1, order + 2)[1:-1]
    nodes = places + rng.uniform(-0.25, 0.25, order) * 2 / (order + 1)
    return {
        "nodes": np.round(nodes * 1000) / 1000,
        "weights": np.round(rng.uniform(0.3, 1.0, order) * 1000) / 1000,
    }


def exact_moments(nodes: Array, weights: Array, count: int) -> list[Fraction]:
    """The first moments as fractions, for nodes and weights in thousandths."""
    points = [Fraction(round(1000 * node), 1000) for node in nodes]
    masses = [Fraction(round(1000 * weight), 1000) for weight in weights]
    return [
        sum((m * x**j for x, m in zip(points, masses, strict=True)), Fraction(0))
        for j in range(count)
    ]


def jacobi(nodes: Array, weights: Array, size: int) -> Array:
    """The Jacobi matrix of a measure by Lanczos' method, without its moments."""
    vector = np.sqrt(weights / np.sum(weights))
    basis = [vector]
    for _ in range(size - 1):
        following = nodes * basis[-1]
        for _twice in range(2):
            following = following - sum(b * (b @ following) for b in basis)
        basis.append(following / np.linalg.norm(following))
    frame = np.stack(basis, axis=1)
    full = frame.T @ (nodes[:, None] * frame)
    return np.asarray(np.triu(np.tril(full, 1), -1))


def moment_of(J: Array, mass: float, lag: int) -> float:
    """A moment of the measure with this Jacobi matrix and total mass."""
    return mass * float(np.linalg.matrix_power(J, lag)[0, 0])
