"""Displays of appendix C.4: tails of χ², the velocities of B ± Cᵀ and of ‖A‖, and their bounds."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import quad, solve_ivp
from scipy.special import chdtr, chdtrc

from tacit.statements import Erratum, complex_step, residual, slack, statement
from tacit.statements._shared_numbers import Array
from tacit.statements._shared_systems import random_student
from tacit.statements.lowdim._shared import loss_of


@statement(
    "lowdim/equationC.39",
    place="(C.39)–(C.44), in the proof of Lemma C.10",
    words="with x = 9n/64 the bounds n + 2√(nx) + 2x and n − 2√(nx) of Laurent and Massart are "
    "(1.75 + 9/32)n, below 2.25n, and n/4; each tail of χ² beyond has a probability below e^{−x}",
    draw=lambda rng: {"size": int(np.ceil(10 ** rng.uniform(0, 2)))},
    tolerance=1e-12,
    kind="inequality",
    mutations=[{"upper": 1.9}, {"lower": 0.275}, {"rate": 10 / 64}],
)
def equation_c_39(
    size: int, *, upper: float = 1.75 + 9 / 32, lower: float = 0.25, rate: float = 9 / 64
) -> float:
    """Both sides in numbers, and the distribution of χ² itself. The tails are far below."""
    x = rate * size
    ends = size + 2 * np.sqrt(size * x) + 2 * x, size - 2 * np.sqrt(size * x)
    if residual([upper * size, lower * size], ends) > 1e-12:
        return -1.0
    tails = chdtrc(size, upper * size), chdtr(size, lower * size)
    return min(slack(tails, np.exp(-x)), slack(upper, 2.25))


def _point(rng: np.random.Generator) -> dict[str, Any]:
    student = random_student(rng, int(rng.integers(2, 5)), 1, 1)
    return {**student, "target": rng.normal(size=int(rng.integers(2, 6)))}


def _half_flow(loss_at: Callable[[Array], Any], at: Array) -> Array:
    """Minus the gradient of half the loss (3.4), which the proof flows along."""
    return -complex_step(loss_at, at) / 2


@statement(
    "lowdim/equationC.104",
    place="(C.101)–(C.105), in the proof of Lemma C.14",
    words="with Y = Cᵀ − B and W = Cᵀ + B, flow of half the loss has Y' = Σ_i e_i(S_i Y − T_i W) "
    "and W' = −Σ_i e_i(S_i W − T_i Y), e_i = CA^iB − w_i, S_i and T_i the symmetric and the "
    "antisymmetric part of A^i",
    draw=_point,
    tolerance=1e-10,
    mutations=[{"half": 0.55}, {"across": 0.9}, {"sign": 1.0}],
)
def equation_c_104(
    A: Array, B: Array, C: Array, target: Array, *,
    half: float = 0.5, across: float = 1.0, sign: float = -1.0,
) -> float:  # fmt: skip
    """Complex steps of the loss; products with Y too, as in (C.105)."""
    by_b = _half_flow(lambda at: loss_of(A, at, C, target), B)
    by_c = _half_flow(lambda at: loss_of(A, B, at, target), C)
    Y, W = C.T - B, C.T + B
    of_y, of_w = np.zeros_like(Y), np.zeros_like(W)
    for i, goal in enumerate(target):
        power = np.linalg.matrix_power(A, i)
        even, odd = half * (power + power.T), half * across * (power - power.T)
        error = (C @ power @ B).item() - goal
        of_y += error * (even @ Y - odd @ W)
        of_w += sign * error * (even @ W - odd @ Y)
    size = float(np.abs(by_b).max() + np.abs(by_c).max())
    return max(
        residual(of_y, by_c.T - by_b, scale=size),
        residual(of_w, by_c.T + by_b, scale=size),
        residual(Y.T @ of_y, Y.T @ (by_c.T - by_b), scale=size * float(np.linalg.norm(Y))),
    )


@statement(
    "lowdim/equationC.86",
    place="(C.78)–(C.80) and (C.82)–(C.86), in the proof of Lemma C.13; (C.92)",
    words="flow of half the loss moves ‖A‖²/2 by Tr(AᵀA') = −Σ_i i e_i CA^iB, e_i = CA^iB − w_i",
    draw=_point,
    tolerance=1e-10,
    mutations=[{"power": 1.1}, {"half": 0.55}],
)
def equation_c_86(
    A: Array, B: Array, C: Array, target: Array, *, power: float = 1.0, half: float = 0.5
) -> float:
    """The trace with A' by complex steps of the loss, and a complex step of ‖A‖² along A'."""
    by_a = _half_flow(lambda at: loss_of(at, B, C, target), A)
    lags = [(C @ np.linalg.matrix_power(A, i) @ B).item() for i in range(len(target))]
    terms = np.arange(len(target)) ** power * (np.array(lags) - target) * lags
    along = half * np.imag(np.sum((A + 1e-30j * by_a) ** 2)) / 1e-30
    size = float(np.sum(np.abs(terms)))
    return max(
        residual(np.trace(A.T @ by_a), -np.sum(terms), scale=size),
        residual(along, np.trace(A.T @ by_a), scale=size),
    )


def _at_the_bounds(rng: np.random.Generator) -> dict[str, Any]:
    """ε, M₁, M₂ and matrices that reach the bounds of Lemma C.13, often with C = −Bᵀ or Bᵀ."""
    width, scale = int(rng.integers(2, 6)), 10 ** rng.uniform(-4, -1)
    M1, M2 = rng.uniform(1, 3, size=2)
    B, C = rng.normal(size=(width, 1)), rng.normal(size=(1, width))
    if rng.random() < 0.6:
        C = rng.choice([-1.0, 1.0]) * B.T
    A = rng.normal(size=(width, width))
    kind = int(rng.integers(3))
    if kind == 1:
        A = np.diag(np.eye(width)[0])  # of rank one: its powers are as large as they can be
    if kind == 2:  # antisymmetric, and as Y and W are
        A = np.zeros((width, width))
        A[0, 1], A[1, 0] = 1.0, -1.0
        B, C = np.eye(width)[:, :1], np.eye(width)[1:2]
    return {
        "scale": scale, "M1": M1, "M2": M2,
        "A": M2 * scale * A / np.linalg.norm(A),
        "B": M1 * scale**0.75 * B / np.linalg.norm(B),
        "C": M1 * scale**0.75 * C / np.linalg.norm(C),
    }  # fmt: skip


@statement(
    "lowdim/equationC.112",
    place="(C.107)–(C.109) and (C.112), in the proof of Lemma C.14",
    words="within the bounds of Lemma C.13 ‖Y‖, ‖W‖ ≤ 2M₁ε^{3/4}, the parts of A^i are at most "
    "‖A‖^i, |Yᵀ T_i W| ≤ 4M₁²M₂^i ε^{3/2+i} and |CB| YᵀY ≤ M₁²ε^{3/2}(2M₁ε^{3/4})² = 4M₁⁴ε³",
    draw=_at_the_bounds,
    tolerance=1e-12,
    kind="inequality",
    mutations=[{"twice": 1.9}, {"part": 0.95}, {"four": 3.6}, {"power": 3.1}],
    loose={"M1**2 * M2**i": "‖Y‖ and ‖W‖ cannot both be 2M₁ε^{3/4}: the product gives away two"},
    errata=[
        Erratum(
            place="(C.112), under the brace",
            as_printed="M₁²ε^{1.5}(M₂ε^{0.75})² = 4M₁⁴ε³",
            as_corrected="M₁²ε^{1.5}(2M₁ε^{0.75})², by (C.107)",
            constants={"printed": True},
            gravity="misprint",
            right_in="(C.107), and the right side of the same line",
        )
    ],
)
def equation_c_112(
    scale: float, M1: float, M2: float, A: Array, B: Array, C: Array, *,
    twice: float = 2.0, part: float = 1.0, four: float = 4.0, power: float = 3.0,
    printed: bool = False,
) -> float:  # fmt: skip
    """Norms and products of these matrices. With C = −Bᵀ, or C = Bᵀ, the bounds are attained."""
    Y, W = C.T - B, C.T + B
    bound = twice * M1 * scale**0.75
    braced = M1**2 * scale**1.5 * ((M2 if printed else 2 * M1) * scale**0.75) ** 2
    if residual(braced, four * M1**4 * scale**power) > 1e-10:
        return -1.0
    sizes = [np.linalg.norm(Y), np.linalg.norm(W)]
    found = slack(sizes, bound)
    found = min(found, slack(np.abs(C @ B).item() * np.sum(Y**2), braced))
    for i in (1, 2, 3):
        made = np.linalg.matrix_power(A, i)
        even, odd = (made + made.T) / 2, (made - made.T) / 2
        larger = max(np.linalg.norm(even), np.linalg.norm(odd))
        found = min(found, slack(larger, part * (M2 * scale) ** i))
        product = np.abs(Y.T @ odd @ W).item()
        found = min(found, slack(product, four * M1**2 * M2**i * scale ** (1.5 + i)))
    return found


@statement(
    "lowdim/equationC.90",
    place="(C.65), in the proof of Lemma C.13; (C.90)",
    words="for 0 < a < 1, Σ_{i<k} a^i < k and Σ_{i<k} i a^i < a k(k − 1)/2",
    draw=lambda rng: {"length": int(rng.integers(2, 9)), "a": 1 - 10 ** rng.uniform(-6, -0.2)},
    tolerance=1e-12,
    kind="inequality",
    mutations=[{"count": 0.95}, {"half": 0.45}],
)
def equation_c_90(length: int, a: float, *, count: float = 1.0, half: float = 0.5) -> float:
    """The sums term by term; a near one makes them sharp."""
    i = np.arange(length)
    return min(
        slack(np.sum(a**i), count * length),
        slack(np.sum(i * a**i), half * a * length * (length - 1)),
    )


@statement(
    "lowdim/equationC.132",
    place="(C.121)–(C.133), in the proof of Lemma C.15",
    words="the integral of dz/(2w_0z − m) is ln((2w_0z(t) − m)/(2w_0z(0) − m))/(2w_0), so "
    "ż = ∓(2w_0z − m) has the solution 2w_0z(t) = e^{∓2w_0t}(2w_0z(0) − m) + m",
    draw=lambda rng: {
        "rate": rng.uniform(0.5, 1.5),
        "forcing": rng.uniform(0, 0.5),
        "start": rng.uniform(1, 4),
        "time": rng.uniform(0.1, 1.5),
    },
    tolerance=1e-9,
    mutations=[{"twice": 2.2}, {"offset": 1.1}],
)
def equation_c_132(
    rate: float, forcing: float, start: float, time: float, *,
    twice: float = 2.0, offset: float = 1.0,
) -> float:  # fmt: skip
    """Quadrature, and an integration of both equations."""
    found = 0.0
    for sign in (-1.0, 1.0):
        done = solve_ivp(
            lambda _, z, sign=sign: sign * (2 * rate * z - forcing), (0, time), [start],
            method="DOP853", rtol=1e-11, atol=1e-13,
        )  # fmt: skip
        end = done.y[0, -1]
        grown = np.exp(sign * twice * rate * time) * (2 * rate * start - offset * forcing)
        area, _ = quad(lambda z: 1 / (2 * rate * z - forcing), start, end)
        ratio = (2 * rate * end - forcing) / (2 * rate * start - forcing)
        found = max(
            found,
            residual((grown + offset * forcing) / (2 * rate), end),
            residual(np.log(ratio) / (twice * rate), area),
            residual(area, sign * time),
        )
    return found
