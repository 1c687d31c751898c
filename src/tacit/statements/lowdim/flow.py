"""Invariants and limits of descent and gradient flow: Lemmas 6, C.6, C.7 and Theorem 5."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array, is_symmetric
from tacit.statements.lowdim._shared import (
    gradients,
    integrate_flow,
    loss_of,
    random_orthogonal,
    response,
    spread_nodes,
    symmetric_gradient,
)

_SYMMETRIC = "A = Aᵀ at the start"
_BALANCED = "B = Cᵀ at the start"
_LONG = "k > 2d̂"
_TIMES = np.array([0.5, 1.0, 2.0])


def _start(rng: np.random.Generator) -> dict[str, Any]:
    """A balanced start of moderate size, and the first lags of a balanced teacher.

    Balance would be kept for w_0 = CB < 0 too, but rounding errors would soon outgrow it.
    """
    width = int(rng.integers(2, 6))
    A, B = rng.normal(size=(width, width)), rng.normal(size=(width, 1))
    A += A.T
    B /= np.linalg.norm(B)
    nodes, weights = rng.uniform(-1, 1, size=2), rng.uniform(0.3, 1, size=2)
    target = nodes ** np.arange(rng.integers(3, 6))[:, None] @ weights
    return {"A": A / np.linalg.norm(A, 2), "B": B, "C": B.T, "target": target}


def _unequal(rng: np.random.Generator) -> dict[str, Any]:
    instance = _start(rng)
    C = rng.normal(size=instance["C"].shape)
    return {**instance, "C": rng.uniform(0.5, 1.5) * C / np.linalg.norm(C)}


def _unsymmetric(rng: np.random.Generator) -> dict[str, Any]:
    instance = _start(rng)
    return {**instance, "A": instance["A"] @ random_orthogonal(rng, len(instance["A"]))}


def _neither(rng: np.random.Generator) -> dict[str, Any]:
    instance = _unequal(rng)
    return {**instance, "A": instance["A"] @ random_orthogonal(rng, len(instance["A"]))}


def _is_balanced(B: Array, C: Array) -> bool:
    return np.array_equal(B, C.T)


@statement(
    "lowdim/lemma6",
    place="Lemma 6 (Lemma C.5)",
    words="gradient flow from A = Aᵀ and B = Cᵀ keeps B = Cᵀ",
    draw=_start,
    tolerance=1e-8,  # for the integrator: 1e-11 per step, and the flow may magnify errors
    hypotheses={_SYMMETRIC: lambda A: is_symmetric(A), _BALANCED: _is_balanced},
    mutations=[{"sign": -1.0}],
    without={_SYMMETRIC: _unsymmetric, _BALANCED: _unequal},
    instances=10,
)
def lemma_6(A: Array, B: Array, C: Array, target: Array, *, sign: float = 1.0) -> float:
    """An integration in which B and C move independently, each along its own gradient."""
    path = integrate_flow(A, B, C, target, _TIMES, symmetric=is_symmetric(A))
    return max(residual(B, sign * C.T) for _, B, C in path)


@statement(
    "lowdim/lemmaC.6",
    place="Lemma C.6, (C.17) and (C.18)",
    words="gradient descent, with steps of any size, from A = Aᵀ and B = Cᵀ keeps B = Cᵀ",
    draw=lambda rng: {**_start(rng), "step": rng.uniform(0.01, 0.1)},
    tolerance=1e-8,
    hypotheses={_SYMMETRIC: lambda A: is_symmetric(A), _BALANCED: _is_balanced},
    mutations=[{"sign": -1.0}],
    without={
        _SYMMETRIC: lambda rng: {**_unsymmetric(rng), "step": 0.02},
        _BALANCED: lambda rng: {**_unequal(rng), "step": 0.02},
    },
)
def lemma_c_6(
    A: Array, B: Array, C: Array, target: Array, step: float, *, sign: float = 1.0
) -> float:
    """A hundred steps, or fewer if they diverge, with gradients from reverse accumulation."""
    shared, worst = is_symmetric(A), 0.0
    for _ in range(100):
        by_A, by_B, by_C = gradients(A, B, C, target)
        A = A - step * (symmetric_gradient(by_A) if shared else by_A)
        B, C = B - step * by_B, C - step * by_C
        if max(np.max(np.abs(A)), np.max(np.abs(B))) > 10:  # the step is too large: it diverges
            break
        worst = max(worst, residual(B, sign * C.T))
    return worst


@statement(
    "lowdim/lemmaC.7",
    place="Lemma C.7, (C.19) and (C.62)",
    words="gradient flow from any start keeps ‖B‖² − ‖C‖²",
    draw=_neither,
    tolerance=1e-8,
    mutations=[{"sign": 1.0}],
    errata=[
        Erratum(
            place="(C.62), in the proof of Lemma C.13",
            as_printed="‖B‖ − ‖C‖ does not change",
            as_corrected="‖B‖² − ‖C‖² does not; (C.64), which is what is needed, follows: "
            "‖C(t)‖² < ‖B(t)‖² + 4ε²",
            constants={"power": 1.0},
            gravity="gap in a proof",
            right_in="(C.19)",
        )
    ],
    instances=10,
)
def lemma_c_7(
    A: Array, B: Array, C: Array, target: Array, *, power: float = 2.0, sign: float = -1.0
) -> float:
    """An integration of the flow with a dense A; the two norms at the start and along the way."""

    def conserved(B: Array, C: Array) -> float:
        return float(np.linalg.norm(B) ** power + sign * np.linalg.norm(C) ** power)

    path = integrate_flow(A, B, C, target, _TIMES, symmetric=False)
    first = conserved(B, C)
    return max(residual(conserved(B, C), first, scale=1.0) for _, B, C in path)


_LATE = 1e6  # the loss falls like the inverse square of time once k > 2d̂
_CONVERGED = 1e-10


def _flow_to_the_end(
    rng: np.random.Generator, *, length_less: int = 0, balanced: bool = True
) -> dict[str, Any]:
    """Flow from a balanced start until the loss vanishes; a new start where it does not."""
    order = int(rng.integers(1, 3))
    length = 2 * order + 1 - length_less
    width = length + 1
    nodes, weights = spread_nodes(rng, order, 0.6), rng.uniform(0.5, 1.5, size=order)
    target = nodes ** np.arange(length)[:, None] @ weights
    while True:
        A, B, C = (rng.normal(size=shape) for shape in ((width, width), (width, 1), (1, width)))
        A += A.T
        A *= rng.uniform(0.3, 0.8) / np.linalg.norm(A, 2)
        B *= 0.7 / np.linalg.norm(B)
        C = B.T if balanced else 0.7 * C / np.linalg.norm(C)
        ((A1, B1, C1),) = integrate_flow(
            A, B, C, target, [_LATE], symmetric=True, stiff=True, rtol=1e-8, atol=1e-10
        )
        if loss_of(A1, B1, C1, target) < _CONVERGED:
            return {
                "A": A, "B": B, "C": C, "end_A": A1, "end_B": B1, "end_C": C1,
                "nodes": nodes, "weights": weights, "length": length,
            }  # fmt: skip


@statement(
    "lowdim/theorem5",
    place="Theorem 5",
    words="if d > k > 2d̂, the teacher is balanced and gradient flow from a balanced start ends at "
    "loss zero, then the student extrapolates",
    draw=_flow_to_the_end,
    tolerance=2e-3,  # Theorem 8's √δ times its constant, below 100 here, at δ below 2e-10
    hypotheses={
        _BALANCED: _is_balanced,
        _SYMMETRIC: lambda A: is_symmetric(A),
        _LONG: lambda nodes, length: length > 2 * len(nodes),
        "d > k": lambda A, length: len(A) > length,
        "the flow ends at loss zero": lambda end_A, end_B, end_C, nodes, weights, length: (
            loss_of(end_A, end_B, end_C, nodes ** np.arange(length)[:, None] @ weights)
            < 2 * _CONVERGED
        ),
    },
    without={
        _LONG: lambda rng: _flow_to_the_end(rng, length_less=1),
        _BALANCED: lambda rng: _flow_to_the_end(rng, balanced=False),
    },
    instances=6,
)
def theorem_5(
    end_A: Array, end_B: Array, end_C: Array, nodes: Array, weights: Array, length: int
) -> float:
    """The recursion of the student at time 1e6, on three times as many lags as in training."""
    lags = np.arange(3 * length)
    return residual(
        response(end_A, end_B, end_C, len(lags)),
        nodes ** lags[:, None] @ weights,
        scale=float(np.sum(weights)),
    )
