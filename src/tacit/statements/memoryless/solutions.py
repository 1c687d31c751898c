"""Students that fit and do not extrapolate: Proposition 5.1 and Lemma 6.3."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.memoryless._shared import lag_errors, simulated_loss
from tacit.theory.memoryless import cyclic_counterexample, near_zero_loss_counterexample


def _random_target(rng: np.random.Generator, rank: int) -> Array:
    """A target with singular values between ½ and 2, so that its rank is clear."""
    outputs, inputs = rank + rng.integers(0, 2, size=2)
    left, _ = np.linalg.qr(rng.normal(size=(outputs, outputs)))
    right, _ = np.linalg.qr(rng.normal(size=(inputs, inputs)))
    return left[:, :rank] * rng.uniform(0.5, 2, size=rank) @ right[:rank]


def _cycle(rng: np.random.Generator) -> dict[str, Any]:
    length = int(rng.integers(2, 8))
    width = length + int(rng.integers(0, 4))
    sign = rng.choice([-1.0, 1.0])
    return {"width": width, "length": length, "target": sign * rng.uniform(0.5, 2)}


def _cycle_too_short(rng: np.random.Generator) -> dict[str, Any]:
    instance = _cycle(rng)
    return {**instance, "length": instance["width"] + 1}


@statement(
    "memoryless/proposition5.1",
    place="Proposition 5.1",
    words="for every d ≥ k ≥ 2 a cyclic shift of the states has zero loss on k lags and gives the "
    "target again at lag d, 2 d, …",
    draw=_cycle,
    tolerance=1e-12,
    hypotheses={
        "k ≥ 2": lambda length: length >= 2,
        "d ≥ k": lambda width, length: width >= length,
        "w* ≠ 0": lambda target: target != 0,
    },
    mutations=[{"period_less": 1}, {"step": 0}],
    without={"d ≥ k": _cycle_too_short},
)
def proposition_5_1(
    width: int, length: int, target: float, *, period_less: int = 0, step: int = 1
) -> float:
    """Impulse responses of the printed matrices, and of the library's."""
    goal, first = np.array([[target]]), np.eye(width)[:, :1]
    printed = np.roll(np.eye(width), step, axis=0), first, target * first.T
    found = 0.0
    for A, B, C in (printed, cyclic_counterexample(width, target)[:3]):
        response = lag_errors(A, B, C, goal, 2 * width + 1)[:, 0, 0]
        period = width - period_less
        loss = simulated_loss(A, B, C, goal, length) / target**2
        found = max(found, loss, residual(response[[period, 2 * period]], [target, target]))
    return found


def _cycle_for_a_matrix(rng: np.random.Generator) -> dict[str, Any]:
    rank = int(rng.integers(1, 4))
    return {"width": rank + int(rng.integers(1, 5)), "target": _random_target(rng, rank)}


@statement(
    "memoryless/proposition5.1-mimo",
    place="Proposition 5.1 for several inputs and outputs (section C)",
    words="for a target W* of rank ρ and every 2 ≤ k ≤ d − ρ + 1 there is a student with zero loss "
    "on k lags that does not extrapolate",
    draw=_cycle_for_a_matrix,
    tolerance=1e-12,
    hypotheses={"W* ≠ 0": lambda target: bool(np.any(target))},
    mutations=[{"lags_more": 1}, {"later": 1}, {"rank_counts": False}],
    errata=[
        Erratum(
            as_printed="with B and C padded by zeros, B = e₁e₁ᵀ and C = w* e₁e₁ᵀ, the same "
            "arguments carry over",
            as_corrected="padded in this way, CB has a single nonzero entry and fits only such "
            "targets; in general B and C, made from the singular vectors of W*, use ρ = rank "
            "W* states, of which the first is shifted through the remaining d − ρ",
            constants={"padded": True},
            gravity="gap in a proof",
        ),
    ],
)
def proposition_5_1_mimo(
    width: int, target: Array, *, padded: bool = False, rank_counts: bool = True,
    lags_more: int = 0, later: int = 0,
) -> float:  # fmt: skip
    """Impulse responses: zero loss up to the period, and σ₁u₁v₁ᵀ at it."""
    rank = int(np.linalg.matrix_rank(target)) if rank_counts else 1
    period = width - rank + 1
    A, B, C, _ = cyclic_counterexample(width, target)
    if padded:
        A = np.roll(np.eye(width), 1, axis=0)
        B, C = np.zeros_like(B), np.zeros_like(C)
        B[0, 0], C[0, 0] = 1, target[0, 0]
    size = float(np.linalg.norm(target, 2))
    response = lag_errors(A, B, C, target, period + 1 + later)
    loss = simulated_loss(A, B, C, target, period + lags_more) / size**2  # chosen, as a scale
    return max(loss, residual(np.linalg.norm(response[period + later], 2), size))


def _nearly_fitted(rng: np.random.Generator) -> dict[str, Any]:
    length = int(rng.integers(2, 7))
    return {
        "width": length + int(rng.integers(0, 3)),
        "length": length,
        "longer": length + int(rng.integers(1, 5)),
        "target": rng.uniform(0.5, 2),
        "delta": 10 ** rng.uniform(-4, -1),
    }


@statement(
    "memoryless/lemma6.3",
    place="Lemma 6.3",
    words="with A = diag(0, …, 0, 2), C = Bᵀ = (√w*, 0, …, 0, √δ) the loss on n lags is ½ δ² "
    "Σ_{j=0}^{n−1} 4^j: arbitrarily small on k lags, and diverging with n",
    draw=_nearly_fitted,
    tolerance=1e-9,  # CB − w* = δ is a difference of numbers near one
    hypotheses={
        "d ≥ k ≥ 2": lambda width, length: width >= length >= 2,
        "w* > 0": lambda target: target > 0,
    },
    mutations=[{"growth": 2.01}, {"power": 1}],
    errata=[
        Erratum(
            place="proof of Lemma 6.3",
            as_printed="the loss in (4) is 16δ² + 4δ² + δ² for k = 3, below ε if δ < √(ε/21)",
            as_corrected="half of it, 21δ²/2, as (4) has a factor ½; δ < √(2ε/21) is enough",
            constants={"half": 1.0},
            gravity="misprint",
            right_in="(4)",
        ),
        Erratum(
            place="proof of Lemma 6.3, last display",
            as_printed="on sequences of length n the loss is Σ_{i=0}^{n} 2^{2i} δ²",
            as_corrected="the sum ends at i = n − 1, as in the case k = 3, and has the factor "
            "½ too (restored in the check, so that only the end of the sum is checked)",
            constants={"end": 1},
            gravity="misprint",
            right_in="the case k = 3 above it",
        ),
    ],
)
def lemma_6_3(
    width: int, length: int, longer: int, target: float, delta: float, *,
    half: float = 0.5, end: int = 0, growth: float = 2.0, power: int = 2,
) -> float:  # fmt: skip
    """The recursion on impulses, for k lags and for more; the library's student as well."""
    A, C = np.zeros((width, width)), np.zeros((1, width))
    A[-1, -1], C[0, 0], C[0, -1] = 2, np.sqrt(target), np.sqrt(delta)
    goal, found = np.array([[target]]), 0.0
    for lags in (length, longer):
        predicted = half * delta**power * np.sum(growth ** (2.0 * np.arange(lags + end)))
        found = max(found, residual(simulated_loss(A, C.T, C, goal, lags), predicted))
        made = near_zero_loss_counterexample(width, target, lags, predicted)[:3]
        found = max(found, residual(simulated_loss(*made, goal, lags), predicted))
    return found
