"""Depth two: the rank that is kept when one more entry is revealed (Theorem 4.2 and its lemmas)."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, slack, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.depth._shared import integrate_flow, loss, product, stable_rank
from tacit.theory.depth import plasticity_bound

_UPPER = np.array([[True, True], [False, True]])


def _warm(rng: np.random.Generator) -> dict[str, Any]:
    """One more entry, by a log-uniform share from a fiftieth of the diagonal to five times it.

    The first time is so early that the loss is still near its bound there.
    """
    target, share = rng.uniform(0.5, 2), 10 ** rng.uniform(-1.7, 0.7)
    times = np.array([0.001, 0.2, 0.5, 1.0, 2.0, 3.0, 12.0]) / target
    begin = np.sqrt(target) * np.stack([np.eye(2)] * 2)
    goal = np.array([[target, share * target], [0.0, target]])
    return {"target": target, "share": share, "times": times,
            "path": integrate_flow(begin, _UPPER, goal, times), "goal": goal}  # fmt: skip


_SIGNS = {"w* > 0 and w₁₂ > 0": lambda target, share: target > 0 and share > 0}


@statement(
    "depth/theorem4.2",
    place="Theorem 4.2, (64)",
    words="when w₁₂ is revealed and training continues from A = B = √w* I, the loss is at most "
    "½w₁₂² e^{−2w*t}, the stable rank of the limit at least 1 + e^{−8w₁₂/w*}, and w₂₁ negative "
    "at all later times",
    draw=_warm,
    kind="inequality",
    tolerance=1e-6,  # the loss falls to 1e-6 of its start before it is compared
    hypotheses=_SIGNS,
    mutations=[{"rate": 4.1}, {"exponent": 1.9}, {"sign": -1.0}, {"start": 0.49}],
    loose={
        "rate": "the theorem gives away a factor of two: the loss falls at a rate near 4w*",
        "exponent": "the theorem gives away a factor of four: the exponent is near 2w₁₂/w*",
        "2 in 2 * w": "the rate, of which the theorem gives away a factor of two",
    },
)
def theorem_4_2(
    target: float, share: float, times: Array, path: Array, goal: Array, *,
    rate: float = 2.0, exponent: float = 8.0, sign: float = 1.0, start: float = 0.5,
) -> float:  # fmt: skip
    """The flow of the matrices against the formulas and the library's bounds.

    The bounds are not sharp: the true rate is near 4w*, the true exponent near 2 for small w₁₂.
    """
    products = np.array([product(at) for at in path])
    losses = np.array([loss(at, _UPPER, goal) for at in path])[:-1]
    rank = stable_rank(products[-1])
    known = plasticity_bound(target, share * target)
    bound = start * (share * target) ** 2 * np.exp(-rate * target * times[:-1])
    return min(
        slack(losses, bound),
        slack(losses, known.loss(times[:-1])),
        slack(1 + np.exp(-exponent * share), rank),
        slack(known.stable_rank, rank),
        slack(sign * products[:, 1, 0], 0.0),
    )


@statement(
    "depth/lemmaE.6",
    place="Lemmas E.5 and E.6",
    words="along the flow w₁₁ = w₂₂ ≥ w*, 0 ≤ w₁₂ ≤ w*₁₂ and w₂₁ ≤ 0, so that det W ≥ w*²",
    draw=_warm,
    kind="inequality",
    tolerance=1e-9,
    hypotheses=_SIGNS,
    mutations=[{"least": 1.01}, {"most": 0.99}, {"power": 2.1}],
)
def lemma_e_6(
    target: float, share: float, path: Array, *,
    least: float = 1.0, most: float = 1.0, power: float = 2.0,
) -> float:  # fmt: skip
    """The flow of the matrices. Each bound is attained at its beginning or end."""
    W = np.array([product(at) for at in path])
    if residual(W[:, 0, 0], W[:, 1, 1]) > 1e-10:
        return -1.0
    return min(
        slack(least * target, W[:, [0, 1], [0, 1]]),
        slack(W[:, 0, 1], most * share * target),
        slack(W[:, 1, 0], 0.0),
        slack(target**power, np.linalg.det(W)),
    )


@statement(
    "depth/lemmaE.8",
    place="Lemma E.8",
    words="the singular values of the limit lie between w* e^{−2w₁₂/w*} and w* e^{2w₁₂/w*}",
    draw=_warm,
    kind="inequality",
    tolerance=1e-9,
    hypotheses=_SIGNS,
    mutations=[{"exponent": 0.45}],
    loose={
        "exponent": "the lemma gives away a factor of four: the exponent is near w₁₂/(2w*)",
        "2 * share)": "the exponent, of which the lemma gives away a factor of four",
    },
)
def lemma_e_8(target: float, share: float, path: Array, *, exponent: float = 2.0) -> float:
    """The flow of the matrices and the library's bounds; the true exponent is near one half."""
    first, second = np.linalg.svd(product(path[-1]), compute_uv=False)
    known = plasticity_bound(target, share * target)
    span = np.exp(exponent * share)
    return min(
        slack(first, target * span), slack(target / span, second),
        slack(first, known.largest), slack(known.smallest, second),
    )  # fmt: skip


def _figure(rng: np.random.Generator) -> dict[str, Any]:
    return {"target": rng.uniform(0.5, 2)}


@statement(
    "depth/figure31",
    place="Figure 31 and section C.2",
    words="the numbers given for Figure 31, a bound of 1.45 and a stable rank of about 1.8 at "
    "m = ∞, belong to w₁₂ = 0.1 w*",
    draw=_figure,
    tolerance=1.0,  # half a unit of the last printed digit
    mutations=[{"share": 0.12}],
    errata=[
        Erratum(
            place="caption of Figure 31",
            as_printed="Figure 31 has w* = 1, w₁₂ = 0.5, w₂₁ = 2",
            as_corrected="section C.2 has w₁₂ = 0.1 (w₂₁ = 10) for the same figure, and its "
            "1.45 and 1.8 are right for that; w₁₂ = 0.5 gives the bound 1.02 and the rank 1.38",
            constants={"share": 0.5},
            gravity="misprint",
            right_in="section C.2",
        )
    ],
)
def figure_31(target: float, *, share: float = 0.1) -> float:
    """The bound, and the end of the flow of the matrices."""
    begin = np.sqrt(target) * np.stack([np.eye(2)] * 2)
    goal = target * np.array([[1.0, share], [0.0, 1.0]])
    end = integrate_flow(begin, _UPPER, goal, [12 / target])[-1]  # chosen
    rank = stable_rank(product(end))
    bound = float(plasticity_bound(target, share * target).stable_rank)
    of_bound, of_rank = 0.005, 0.05  # half a unit of the last digit
    return max(abs(bound - 1.45) / of_bound, abs(rank - 1.8) / of_rank)
