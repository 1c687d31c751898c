"""What a fit on k lags implies for later lags: Theorem 4.1, Proposition 5.1 and Lemma 6.3."""

from typing import Any

import numpy as np
from scipy.optimize import least_squares

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements._shared_systems import random_student
from tacit.statements.memoryless._shared import lag_errors, simulated_loss
from tacit.theory.memoryless import cyclic_counterexample, near_zero_loss_counterexample

_FITTED = 1e-22  # a loss that least squares reaches and that counts as zero
_ZERO_LOSS = "the loss on k lags is zero"
_LONG = "k > d"
_LONG_FOR_THE_RANK = "k > d − rank W* + 1"


def _fitted_student(
    rng: np.random.Generator, width: int, target: Array, length: int
) -> dict[str, Any]:
    """A student with zero loss on `length` lags, found by least squares from a random start."""
    outputs, inputs = target.shape

    def unpack(flat: Array) -> tuple[Array, Array, Array]:
        A, B, C = np.split(flat, np.cumsum([width * width, width * inputs]))
        return A.reshape(width, width), B.reshape(width, inputs), C.reshape(outputs, width)

    def misfits(flat: Array) -> Array:
        A, state, C = unpack(flat)
        found = [C @ state - target]
        for _ in range(1, length):
            state = A @ state
            found.append(C @ state)
        return np.ravel(found)

    while True:
        start = random_student(rng, width, outputs, inputs)
        flat = np.concatenate([np.ravel(start[name]) for name in "ABC"])
        end = least_squares(misfits, flat, xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=200)
        A, B, C = unpack(end.x)
        if end.cost < _FITTED and np.linalg.norm(A, 2) < 3:  # so that later lags stay moderate
            return {"A": A, "B": B, "C": C, "target": target, "length": length}


def _has_zero_loss(A: Array, B: Array, C: Array, target: Array, length: int) -> bool:
    return simulated_loss(A, B, C, target, length) < 2 * _FITTED


def _later_response(A: Array, B: Array, C: Array, target: Array) -> float:
    """The largest C A^j B with 1 ≤ j < 3 d + 3, from impulses, relative to the target."""
    errors = lag_errors(A, B, C, target, 3 * len(A) + 3)
    return float(np.max(np.abs(errors)) / np.max(np.abs(target)))


def _long_fit(rng: np.random.Generator) -> dict[str, Any]:
    width = int(rng.integers(1, 5))
    return _fitted_student(rng, width, rng.uniform(0.5, 2, size=(1, 1)), width + 1)


def _short_fit(rng: np.random.Generator) -> dict[str, Any]:
    """The cyclic shift of Proposition 5.1 at k = d, written out here."""
    width, target = int(rng.integers(2, 8)), rng.uniform(0.5, 2, size=(1, 1))
    first = np.eye(width)[:, :1]
    A = np.roll(np.eye(width), 1, axis=0)
    return {"A": A, "B": first, "C": target * first.T, "target": target, "length": width}


def _no_fit(rng: np.random.Generator) -> dict[str, Any]:
    width = int(rng.integers(1, 6))
    target = rng.uniform(0.5, 2, size=(1, 1))
    return {**random_student(rng, width, 1, 1), "target": target, "length": width + 1}


@statement(
    "memoryless/theorem4.1",
    place="Theorem 4.1",
    words="a student of width d < k with zero loss on k lags extrapolates",
    draw=_long_fit,
    tolerance=1e-6,  # later lags magnify the 1e-11 that a fitted lag may have
    hypotheses={_ZERO_LOSS: _has_zero_loss, _LONG: lambda A, length: length > len(A)},
    without={_LONG: _short_fit, _ZERO_LOSS: _no_fit},
    instances=10,
)
def theorem_4_1(A: Array, B: Array, C: Array, target: Array) -> float:
    """Responses far beyond k of students fitted by least squares on k = d + 1 lags."""
    return _later_response(A, B, C, target)


def _random_target(rng: np.random.Generator, rank: int) -> Array:
    """A target with singular values between ½ and 2, so that its rank is clear."""
    outputs, inputs = rank + rng.integers(0, 2, size=2)
    left, _ = np.linalg.qr(rng.normal(size=(outputs, outputs)))
    right, _ = np.linalg.qr(rng.normal(size=(inputs, inputs)))
    return left[:, :rank] * rng.uniform(0.5, 2, size=rank) @ right[:rank]


def _long_fit_for_the_rank(rng: np.random.Generator) -> dict[str, Any]:
    rank = int(rng.integers(1, 4))
    width = rank + int(rng.integers(0, 3))
    return _fitted_student(rng, width, _random_target(rng, rank), width - rank + 2)


def _short_fit_for_the_rank(rng: np.random.Generator) -> dict[str, Any]:
    rank = int(rng.integers(1, 4))
    width = rank + int(rng.integers(1, 3))
    target = _random_target(rng, rank)
    found = cyclic_counterexample(width, target)
    return {**found._asdict(), "target": target, "length": width - rank + 1}


@statement(
    "memoryless/theorem4.1-mimo",
    place="Theorem 4.1 for several inputs and outputs (section C)",
    words="with a target W* of rank ρ, zero loss on k > d − ρ + 1 lags is enough to extrapolate; "
    "k > d is more than is needed, and d − ρ + 1 lags are too few",
    draw=_long_fit_for_the_rank,
    tolerance=1e-6,
    hypotheses={
        _ZERO_LOSS: _has_zero_loss,
        _LONG_FOR_THE_RANK: lambda A, target, length: (
            length > len(A) - np.linalg.matrix_rank(target) + 1
        ),
    },
    without={_LONG_FOR_THE_RANK: _short_fit_for_the_rank},
    errata=[
        Erratum(
            place="Proposition 5.1 for several inputs and outputs (section C)",
            as_printed="for every k < d some students have zero loss and do not extrapolate",
            as_corrected="for k ≤ d − ρ + 1 with ρ = rank W*; beyond it there are none",
            constants={"none_exist": False},
            gravity="false statement",
        )
    ],
    instances=10,
)
def theorem_4_1_mimo(
    A: Array, B: Array, C: Array, target: Array, length: int, *, none_exist: bool = True
) -> float:
    """Impulse responses of fitted students.

    The spaces spanned by AB, …, A^j B grow with j until they stop for good. Those with j < k lie in
    the kernel of C, which has at most d − ρ dimensions because CB = W*. With k − 1 > d − ρ they
    have therefore stopped growing, inside the kernel. The printed claim for 2 ≤ k < d needs a later
    response of the target's size in one of these students; its residual is how far the response
    falls short.
    """
    later = _later_response(A, B, C, target)
    if none_exist:
        return later
    return max(0.0, 1 - later) if 2 <= length < len(A) else 0.0


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
