"""The limit of the flow from (7): Theorem 3.3, Proposition D.2, Corollary 3.4, Figure 2."""

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from tacit.statements import Erratum, residual, slack, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.depth._shared import (
    diagonal_blocks,
    draw_setting,
    first_eigenvalues,
    initial_factors,
    integrate_flow,
    product,
)
from tacit.theory.depth import limit_singular_values

_DEEP = "L ≥ 3"
_FINITE = "m < ∞"
_INSIDE = "1 < m < ∞"


def _run_to_the_end(rng: np.random.Generator) -> dict[str, Any]:
    instance = draw_setting(rng)
    if rng.random() < 0.2:
        instance["ratio"] = np.inf
    mask = diagonal_blocks(instance["blocks"], instance["block_size"])
    begin = initial_factors(instance["depth"], instance["scale"], instance["ratio"], len(mask))
    time = 60.0  # enough for every start: they escape within 20, and then the rates are at least 1
    end = integrate_flow(begin, mask, np.full(mask.shape, instance["target"]), [time])[-1]
    return {**instance, "time": time, "end": product(end)}


@statement(
    "depth/theorem3.3",
    place="Theorem 3.3, (8) and (9)",
    words="flow from (7) ends with σ_j = 0 for j > n and with the printed σ₁, σ_i: in closed form "
    "at L = 2, by the implicit equations (8), (9) at L ≥ 3 and 1 < m < ∞, σ = sw* at m = ∞",
    draw=_run_to_the_end,
    tolerance=1e-7,  # relative to σ_i, which may be 1e-3 of σ₁; the flow has 1e-10 of that
    hypotheses={"m > 1": lambda ratio: ratio > 1, "w* > 0": lambda target: target > 0},
    mutations=[{"power": 1}, {"offset": 0}, {"square": 1}, {"left": 1.1}, {"tail": 0.9}],
)
def theorem_3_3(
    depth: int, scale: float, ratio: float, blocks: int, block_size: int, target: float,
    time: float, end: Array, *,
    power: int = 2, offset: int = 1, square: int = 2, left: float = 1.0, tail: float = 1.0,
) -> float:  # fmt: skip
    """Singular values at the end of the flow against the printed and the library's values.

    The n that remain belong to vectors that are constant on blocks. The others fall like a power of
    time, λ₃^L, and are compared with that (they may at first be larger than σ_i).
    """
    n, s, L, m, d = blocks, block_size, depth, ratio, blocks * block_size
    constant_on = np.kron(np.eye(n), np.ones((s, s))) / s
    values = np.linalg.svd(constant_on @ end @ constant_on, compute_uv=False)[:n]
    falling = np.linalg.svd(end - constant_on @ end, compute_uv=False)[: d - n]
    first, others = values[0], values[1:]
    known = limit_singular_values(
        depth=L, scale=scale, ratio=m, blocks=n, block_size=s, target=target
    )
    found = residual(values, np.array([known.first, *[known.others] * (n - 1)]))
    third = scale * (1 - 1 / m)
    fallen = tail * ((2 * L - 2) * time + third ** (2.0 - 2 * L)) ** (-L / (2 * L - 2))
    found = max(found, residual(falling, np.full(d - n, fallen)))
    if np.isinf(m):
        return max(found, residual(values, np.full(n, left * s * target)))
    if L == 2:
        big, small = (m + d - offset) ** square, (m - 1) ** square
        printed = target * d * np.array([big, *[small] * (n - 1)]) / (big + (n - 1) * small)
        return max(found, residual(values, printed))
    e = (power - L) / L
    constant = (scale / m) ** (2 - L) * ((m + d - offset) ** (2.0 - L) - (m - 1) ** (2.0 - L))
    rest = (target * d - first) / (n - 1)
    eq8 = first**e - rest**e
    eq9 = (target * d - (n - 1) * others) ** e - others**e
    # (8) as an error of σ₁: w*d − σ₁ has few digits where σ_i is small
    slope = -e * (first ** (e - 1) + rest ** (e - 1) / (n - 1))  # chosen, as a scale
    return max(
        found,
        residual(eq8, left * constant, scale=slope * first),
        residual(eq9, np.full(n - 1, left * constant)),
    )


def _deep(rng: np.random.Generator) -> dict[str, Any]:
    return {**draw_setting(rng), "depth": int(rng.integers(3, 7))}


def _shallow(rng: np.random.Generator) -> dict[str, Any]:
    return {**draw_setting(rng), "depth": 2}


@statement(
    "depth/propositionD.2",
    place="Proposition D.2",
    words="the left side of (8) decreases strictly in σ₁ ∈ (0, w*d) and that of (9) increases "
    "strictly in σ_i ∈ (0, w*d/(n−1)), each over all real values: one solution (σ₁, σ_i)",
    draw=_deep,
    tolerance=1e-10,
    hypotheses={
        _DEEP: lambda depth: depth >= 3,
        _INSIDE: lambda ratio: 1 < ratio < np.inf,
    },
    mutations=[{"first_sign": 1}, {"second_sign": -1}, {"share": 1.1}],
    without={_DEEP: _shallow},
)
def proposition_d_2(
    depth: int, scale: float, ratio: float, blocks: int, block_size: int, target: float, *,
    first_sign: int = -1, second_sign: int = 1, share: float = 1.0,
) -> float:  # fmt: skip
    """Differences on a grid up to both ends; the bracketed roots against the library's."""
    n, L, d = blocks, depth, blocks * block_size
    e, total = (2 - L) / L, target * d
    begin = first_eigenvalues(scale, ratio, d)
    constant = begin[0] ** (2.0 - L) - begin[1] ** (2.0 - L)
    near = 10 ** np.linspace(-12, np.log10(0.49), 100)
    grid = np.concatenate([near, 1 - near[::-1]])
    sides = (
        (lambda x: x**e - ((total - x) / (n - 1)) ** e, first_sign, total),
        (lambda x: (total - (n - 1) * x) ** e - x**e, second_sign, share * total / (n - 1)),
    )
    roots = []
    for side, sign, width in sides:
        with np.errstate(invalid="ignore"):  # outside the printed interval
            values = side(width * grid)
        if not np.all(sign * np.diff(values) > 0) or not values.min() < constant < values.max():
            return 1.0
        ends = width * grid[[0, -1]]
        roots.append(brentq(lambda x, of=side: of(x) - constant, *ends, xtol=1e-15, rtol=1e-14))
    known = limit_singular_values(
        depth=L, scale=scale, ratio=ratio, blocks=n, block_size=block_size, target=target
    )
    return residual(np.array(roots), np.array(known))


def _limit(
    depth: int, scale: float, ratio: float, blocks: int, block_size: int, target: float
) -> tuple[float, float]:
    """σ₁ and σ_i at rest, by integrating Lemma D.6 directly."""
    L, n, level = depth, blocks, block_size * target
    begin = np.array(first_eigenvalues(scale, ratio, blocks * block_size))

    def gamma(values: Array) -> float:
        return (values[0] ** L + (n - 1) * values[1] ** L) / n - level

    def at_rest(_: float, values: Array) -> float:
        return abs(gamma(values)) - 1e-11 * level

    at_rest.terminal = True  # type: ignore[attr-defined]
    horizon = 1e3 * (1 + begin[0] ** (2.0 - L)) / level  # chosen, long enough to come to rest
    horizon *= 1 - np.log(begin[0]) * (L == 2)  # chosen
    run = solve_ivp(
        lambda _, values: -gamma(values) * values ** (L - 1), (0.0, horizon), begin,
        method="DOP853", rtol=1e-13, atol=1e-14 * begin[1], events=at_rest,
    )  # fmt: skip
    if run.status != 1:
        raise RuntimeError(f"the reduced flow did not come to rest: {run.message}")
    end = run.y[:, -1] ** L
    return float(end[0]), float(end[1])


def _small(rng: np.random.Generator) -> dict[str, Any]:
    instance = _deep(rng)
    return {**instance, "scale": (10 ** rng.uniform(-7, -2)) ** (1 / instance["depth"]) / 2}


def _small_identity(rng: np.random.Generator) -> dict[str, Any]:
    return {**_small(rng), "ratio": np.inf}


def _small_and_shallow(rng: np.random.Generator) -> dict[str, Any]:
    return {**_small(rng), "depth": 2}


@statement(
    "depth/corollary3.4",
    place="Corollary 3.4",
    words="for L ≥ 3 and 1 < m < ∞ the stable rank of the limit goes to one as α → 0: it is at "
    "most 1 + (n−1)(σ/(w*d − (n−1)σ))² with σ = (λ₂(0)^{2−L} − λ₁(0)^{2−L})^{−L/(L−2)}, of "
    "order α^L",
    draw=_small,
    kind="inequality",
    tolerance=1e-7,
    hypotheses={_DEEP: lambda depth: depth >= 3, _FINITE: lambda ratio: ratio < np.inf},
    mutations=[{"factor": 0.9}, {"power": 1.1}],
    without={_DEEP: _small_and_shallow, _FINITE: _small_identity},
    loose={
        "(target * d - (n - 1) * largest)": "the bound is attained for small α, where σ is far "
        "below w*d"
    },
)
def corollary_3_4(
    depth: int, scale: float, ratio: float, blocks: int, block_size: int, target: float, *,
    factor: float = 1.0, power: float = 1.0,
) -> float:  # fmt: skip
    """The reduced flow, integrated from α and α/10: below the bound, and ten times closer to 1.

    The bound is ours: it is (9) without its first term, and is attained as α → 0.
    """
    n, L, d = blocks, depth, blocks * block_size

    def excess(alpha: float) -> float:
        first, other = _limit(L, alpha, ratio, n, block_size, target)
        return (n - 1) * (other / first) ** 2

    first, second = first_eigenvalues(scale, ratio, d)
    constant = second ** (2.0 - L) - first ** (2.0 - L)
    bound = np.inf
    if constant > 0:
        largest = constant ** (-power * L / (L - 2))
        bound = factor * (n - 1) * (largest / (target * d - (n - 1) * largest)) ** 2
    found, later = excess(scale), excess(scale / 10)  # chosen
    return min(slack(found, bound), slack(later, found / 10))  # chosen


def _figure(rng: np.random.Generator) -> dict[str, Any]:
    depth = int(rng.integers(6, 11))
    return {"depth": depth, "power": rng.uniform(6, 10), "ratio": 1e10}


@statement(
    "depth/figure2",
    place="caption of Figure 2",
    words="at m = 1e10, with n = 10, s = 1, w* = 1, the limit still depends on L and α: it is "
    "close to σ₁ = σ_i = 1 only where L d α^{2−L}/m is small",
    draw=_figure,
    tolerance=1e-5,  # λ₁/λ₂ − 1 is 1e-9 at the start, with seven digits
    mutations=[{"gap": 1.01}],
    errata=[
        Erratum(
            as_printed="a very large m = 1e10 leads to decoupled dynamics and a full-rank "
            "solution, independent of both L and α",
            as_corrected="nearly, where L d α^{2−L} is small against m: over the figure's axis to "
            "half a percent for L ≤ 5. For L ≥ 3 and finite m the dynamics are coupled "
            "(Proposition 3.2), and larger depths, which the text does not name, leave it: L = 10, "
            "α^L = 1e-10 gives σ₁ = 2.97 instead of 1. The check draws L from 6 to 10",
            constants={"independent": True},
            gravity="gap in a proof",
            right_in="Proposition 3.2; Corollary 3.4 and the text after it",
            glyph="the exponent of m, read as 10",
        )
    ],
)
def figure_2(
    depth: int, power: float, ratio: float, *, gap: float = 1.0, independent: bool = False
) -> float:
    """The reduced flow, integrated directly, against the library's limit."""
    given: dict[str, Any] = {
        "depth": depth, "ratio": ratio / gap,
        "scale": 10 ** (-power / depth),  # chosen
        "blocks": 10, "block_size": 1, "target": 1.0,
    }  # fmt: skip
    known = limit_singular_values(**given)
    expected = np.ones(2) if independent else np.array(known)
    return residual(np.array(_limit(**{**given, "ratio": ratio})), expected)
