"""Training students between the two regimes: what the cells of regimes do."""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit import measures
from tacit.descent import (
    AbstractMethod,
    BoundedStep,
    GaussNewton,
    GradientFlow,
    Lanes,
    Stop,
    descend,
)
from tacit.experiments.regimes._setting import LONGEST, RegimeConfig, teacher_response
from tacit.models import ScaledLinearRNN
from tacit.problems import CentredResponse
from tacit.theory.kernel import finite_width_gram
from tacit.theory.regimes import kappa

Parameters = tuple[np.ndarray, np.ndarray, np.ndarray]  # W, F and C


def bounded(config: RegimeConfig) -> BoundedStep:
    """Gradient descent with the adaptive step."""
    return BoundedStep(config.fraction)


@functools.cache
def flow(tolerance: float) -> GradientFlow:
    """Gradient flow in implicit steps: some tens of them where descent needs thousands.

    One object, so that all batches of a shape share a compiled program.
    """
    return GradientFlow(GaussNewton(), rtol=tolerance, atol=tolerance)


def train(
    *,
    width: int,
    gamma0: np.ndarray,
    length: np.ndarray,
    seed: np.ndarray,
    config: RegimeConfig,
    method: AbstractMethod,
    teacher: np.ndarray | None = None,
    gain: np.ndarray | None = None,
    goal: np.ndarray | None = None,
    title: str = "regimes",
) -> Mapping[str, Any]:
    """Students of one width, one a row of the given columns, and what came of them.

    Those of one seed and gain start at the same parameters, whatever γ₀, length and teacher are.
    Under `BoundedStep` the rate of W is divided by γ₀ where γ₀ > 1; gradient flow is that of all
    parameters alike.
    """
    flows = isinstance(method, GradientFlow)
    count = len(seed)
    names = np.full(count, "modes") if teacher is None else teacher
    gains = np.ones(count) if gain is None else gain
    goals = np.full(count, config.goal) if goal is None else goal
    lags = LONGEST + config.tail
    target = np.stack([teacher_response(str(name), lags) for name in names])
    keys = list(zip(seed.tolist(), gains.tolist(), strict=True))
    starts = {key: _start(width, *key, config.nu_w) for key in keys}
    begun = {key: _response(start, lags) for key, start in starts.items()}
    gamma = gamma0 * np.sqrt(width)
    problems = [
        CentredResponse.of(
            target[i, :LONGEST],
            begun[keys[i]][:LONGEST],
            length=int(length[i]),
            gamma=gamma[i],
            w_rate=1.0 if flows else 1 / max(1.0, gamma0[i]),
        )
        for i in range(count)
    ]
    trained = np.arange(lags) < length[:, None]
    size = np.sqrt(np.sum(np.where(trained, target, 0) ** 2, axis=1))
    result = descend(
        Lanes.stack([ScaledLinearRNN(*starts[key]) for key in keys]),
        Lanes.stack(problems),
        method,
        rate=gamma**2 if flows else None,  # `BoundedStep` is told γ² by the problem
        stop=Stop(config.steps, loss=0.5 * (goals * size) ** 2, diverged=1e6),
        title=title,
    )
    tree = result.model.tree
    ends = list(zip(*(np.asarray(part) for part in (tree.W, tree.F, tree.C)), strict=True))
    at_start = np.stack([begun[key] for key in keys])
    with np.errstate(over="ignore", invalid="ignore"):
        learned = (np.stack([_response(end, lags) for end in ends]) - at_start) / gamma[:, None]
    grams = {key: _gram(start, LONGEST) for key, start in starts.items()}
    turned = [
        _turned(grams[key][:k, :k], _gram(ends[i], k))
        for i, (key, k) in enumerate(zip(keys, length.tolist(), strict=True))
    ]
    return {
        "outcome": result.outcome,
        "steps_made": result.steps,
        "time": result.report["time"],
        "kappa": [
            kappa(target[i], gamma0[i], length=int(length[i]), nu_w=config.nu_w * gains[i] ** 2)
            for i in range(count)
        ],
        "rotation": [pair[0] for pair in turned],
        "change": [pair[1] for pair in turned],
        "response": learned,
        **judged(learned, target, length, config),
    }


def judged(
    learned: np.ndarray, target: np.ndarray, length: np.ndarray, config: RegimeConfig
) -> dict[str, np.ndarray]:
    """Errors and Hankel ranks of learned responses (run, lag); overflow is infinitely wrong."""
    lags = np.arange(learned.shape[1])
    first, last = length[:, None], length[:, None] + config.tail

    def norm(values: np.ndarray, where: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.sqrt(np.sum(np.where(where, values, 0.0) ** 2, axis=1))
        return np.where(np.isnan(found), np.inf, found)

    with np.errstate(invalid="ignore"):
        gap = learned - target
    tail, head, whole = (lags >= first) & (lags < last), lags < first, lags < last
    wrong, scale = norm(gap, tail), norm(target, tail)
    return {
        "train_error": norm(gap, head) / norm(target, head),
        # A filter has no tail to compare with: no error is small relative to none.
        "error": np.divide(wrong, scale, out=np.full_like(wrong, np.inf), where=scale > 0),
        "tail_error": wrong / norm(target, whole),
        "rank": np.array(
            [
                measures.numerical_rank(
                    measures.hankel(row[: k + config.tail]), tolerance=config.tolerance
                )
                if np.isfinite(row).all()
                else -1
                for row, k in zip(learned, length, strict=True)
            ]
        ),
    }


def _start(width: int, seed: int, gain: float, nu_w: float) -> Parameters:
    """W, F and C before training; W is scaled by the gain, with the same numbers for all gains."""
    rng = np.random.default_rng([2026, seed, width])
    W = gain * np.sqrt(nu_w) * rng.normal(size=(width, width))
    return W, rng.normal(size=(width, 1)), rng.normal(size=(1, width))


def _response(parameters: Parameters, lags: int) -> np.ndarray:
    """f_j = n^{−(j+1)/2} C W^j F for j < lags."""
    W, F, C = parameters
    root = np.sqrt(len(W))
    state, found = F[:, 0], []
    for _ in range(lags):
        found.append(C[0] @ state / root)
        state = W @ state / root
    return np.stack(found)


def _gram(parameters: Parameters, length: int) -> np.ndarray:
    """The kernel, or NaN where the parameters overflowed."""
    W, F, C = parameters
    if not all(np.isfinite(part).all() for part in parameters):
        return np.full((length, length), np.nan)
    return finite_width_gram(W, F, C, length)


def _turned(start: np.ndarray, end: np.ndarray) -> tuple[float, float]:
    """1 − cos of the angle between two kernels, in [0, 1] as they are positive; and the change."""
    if not np.isfinite(end).all():
        return np.nan, np.inf
    before, after = np.linalg.norm(start), np.linalg.norm(end)
    cosine = float(np.sum(start * end) / (before * after))
    return float(np.clip(1 - cosine, 0, 1)), float(np.linalg.norm(end - start) / before)
