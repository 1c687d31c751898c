"""Steps of the proof of Theorem 4.1 (appendix B.4): (59)–(62), and its constants B₁ and B₂."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, complex_step, residual, slack, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.kernel._shared import (
    largest_weight,
    proof_constants,
    toeplitz_blocks,
    weights,
)
from tacit.theory.kernel import learning_curve

_SLOW = "η < B₁"


def _problem(rng: np.random.Generator) -> dict[str, Any]:
    """Inputs, a rate below B₁ and initial misfits b, some of them chosen to test the bound.

    A third are random, with up to three inputs and outputs. A third, with up to three inputs, move
    one lag as fast as possible. For the last third, with one input, the misfit is the one among
    three hundred whose largest |u_j| after fifty steps is largest relative to ‖Aᵀb‖.
    """
    kind = int(rng.integers(3))
    length = int(rng.integers(1, 5)) if kind == 1 else int(rng.integers(2, 5))
    count, outputs = (int(n) for n in rng.integers(1, 4, size=2)) if kind == 0 else (1, 1)
    inputs = 1 if kind == 2 else int(rng.integers(1, 4))
    instance = {"nu_w": rng.uniform(0.1, 0.95)}
    low, high = {0: (-1, 1), 1: (-2, -1), 2: (0.7, 1.5)}[kind]
    instance["nu_f"], instance["nu_c"] = 10 ** rng.uniform(low, high, size=2)
    x = rng.normal(size=(count, length, inputs)) + 2 * rng.integers(2)
    A = np.concatenate([toeplitz_blocks(one).T for one in x])
    rho, steps = weights(**instance, length=length), 1 if kind == 1 else 50
    largest = largest_weight(instance["nu_f"], instance["nu_c"], length) * np.linalg.norm(A, 2) ** 2
    rate = rng.uniform(0.8, 0.99) / largest
    misfit = rng.normal(size=(len(A), outputs))
    if kind == 1:
        misfit = np.linalg.svd(A)[0][:, :1]
    if kind == 2:
        many = rng.normal(size=(300, length)) @ np.linalg.pinv(A)
        moved = np.zeros((300, length))
        for _ in range(steps):
            moved += rate * (many - (moved * rho) @ A.T) @ A
        worst = np.argmax(np.max(np.abs(moved), axis=1) / np.linalg.norm(many @ A, axis=1))
        misfit = many[worst][:, None]
    return {**instance, "x": x, "misfit": misfit, "rate": rate, "steps": steps}


def _is_slow(nu_w: float, nu_f: float, nu_c: float, x: Array, rate: float) -> bool:
    return bool(rate < proof_constants(nu_w, nu_f, nu_c, x)[2])


@statement(
    "kernel/equation59",
    place="(59) and the steps to it",
    words="descent on half of ‖y − A D^{1/2}θ‖² moves u = D^{−1/2}(θ − θ⁰) to u + ηAᵀ(b − A D u)",
    draw=_problem,
    tolerance=1e-10,
    mutations=[{"power": 1.0}],
    errata=[
        Erratum(
            place="the cost before (59)",
            as_printed="minimising ‖y − A D^{1/2}θ‖² gives the steps θ + ηD^{1/2}Aᵀ(y − …)",
            as_corrected="half of that cost does; the cost as printed gives 2η",
            constants={"half": 1.0},
            gravity="misprint",
        )
    ],
)
def equation_59(
    nu_w: float, nu_f: float, nu_c: float, x: Array, misfit: Array, rate: float, *,
    half: float = 0.5, power: float = 0.5,
) -> float:  # fmt: skip
    """Ten steps by complex steps of the cost, in θ − θ⁰, against ten steps of (59)."""
    A, rho, _ = proof_constants(nu_w, nu_f, nu_c, x)
    rho = rho[:, None]
    root = rho**power
    theta = u = np.zeros((len(rho), misfit.shape[1]))
    for _ in range(10):
        gradient = complex_step(lambda at: half * np.sum((misfit - A @ (root * at)) ** 2), theta)
        theta = theta - rate * gradient
        u = u + rate * A.T @ (misfit - A @ (rho * u))
    return residual(theta / np.sqrt(rho), u)


@statement(
    "kernel/equation60",
    place="(60) and what follows it, in the proof of Theorem 4.1",
    words="for η < B₁ = 1/(ρ_max‖A‖²) a step does not enlarge the misfit: ‖I − ηA D Aᵀ‖ ≤ 1",
    draw=_problem,
    tolerance=1e-12,
    kind="inequality",
    hypotheses={_SLOW: _is_slow},
    mutations=[{"faster": 2.5}],
    loose={"faster": "B₁ gives away a factor of at least two: a step may be 2/(ρ₀‖A‖²) long"},
    errata=[
        Erratum(
            as_printed="‖I − ηAᵀA D‖ ≤ 1",
            as_corrected="‖I − ηA D Aᵀ‖ ≤ 1; AᵀA D is not symmetric, so that the norm may "
            "exceed one although the eigenvalues do not",
            constants={"in_parameters": True},
            gravity="gap in a proof",
        )
    ],
)
def equation_60(
    nu_w: float, nu_f: float, nu_c: float, x: Array, rate: float, *,
    in_parameters: bool = False, faster: float = 1.0,
) -> float:  # fmt: skip
    """Spectral norms."""
    A, rho, _ = proof_constants(nu_w, nu_f, nu_c, x)
    product = A.T @ A * rho if in_parameters else A * rho @ A.T
    return slack(np.linalg.norm(np.eye(len(product)) - faster * rate * product, 2), 1.0)


@statement(
    "kernel/theorem4.1-convolution",
    place="Theorem 4.1, (61) and (62): the convolution that the network tends to",
    words="for η < B₁ descent moves lag j by at most ‖A‖‖b‖ ρ_j ηℓ in ℓ steps, b the first misfit",
    draw=_problem,
    tolerance=1e-12,
    kind="inequality",
    hypotheses={_SLOW: _is_slow},
    mutations=[{"factor": 0.9}],
    errata=[
        Erratum(
            place="(60)",
            as_printed="B₂ = ‖Aᵀb‖",
            as_corrected="B₂ = ‖A‖‖b‖: the misfits b − A D u^ℓ contract, ‖Aᵀ(b − A D u^ℓ)‖ need "
            "not",
            constants={"projected": True},
            gravity="gap in a proof",
        ),
        Erratum(
            place="(61), (62)",
            as_printed="‖u^ℓ‖ ≤ η^ℓ B₂",
            as_corrected="ηℓ B₂, as in (25)",
            constants={"to_the_power": True},
            gravity="misprint",
            right_in="(25)",
            glyph="whether ℓ is an exponent, in both displays",
        ),
    ],
)
def theorem_4_1_convolution(
    nu_w: float, nu_f: float, nu_c: float, x: Array, misfit: Array, rate: float, steps: int, *,
    projected: bool = False, to_the_power: bool = False, factor: float = 1.0,
) -> float:  # fmt: skip
    """Descent on the convolution, step by step, which must agree with the library's closed form."""
    A, rho, _ = proof_constants(nu_w, nu_f, nu_c, x)
    most = (
        np.linalg.norm(A.T @ misfit) if projected else np.linalg.norm(A, 2) * np.linalg.norm(misfit)
    )
    _, length, inputs = x.shape
    lags = rho[::inputs]
    moved, found = np.zeros((len(rho), misfit.shape[1])), np.inf
    for step in range(1, steps + 1):
        moved = moved + rate * rho[:, None] * (A.T @ (misfit - A @ moved))
        time = rate**step if to_the_power else rate * step
        norms = np.linalg.norm(moved.reshape(length, -1), axis=1)
        found = min(found, slack(norms, factor * most * lags * time))
    targets = misfit.reshape(*x.shape[:2], -1)
    closed = learning_curve(lags, x, targets, rate=rate, steps=steps).response[0]
    mine = moved.reshape(length, inputs, -1).transpose(0, 2, 1)
    return found if residual(closed, mine) < 1e-9 else -np.inf


def _any_initial(rng: np.random.Generator, share: float | None = None) -> dict[str, Any]:
    """Data and standard responses; half of the time one lag, with all of them along one vector."""
    length, inputs, outputs = (int(n) for n in rng.integers([2, 1, 1], [5, 4, 4]))
    x, steps = rng.normal(size=(2, length, inputs)), int(rng.integers(1, 20))
    y = rng.normal(size=(2 * length, outputs))
    start = rng.normal(size=(length * inputs, outputs))
    if rng.random() < 0.5:
        x, steps = x[:, :1], 1
        left, _, right = np.linalg.svd(x[:, 0])
        y, start = -rng.uniform(0.5, 2) * left[:, :1], rng.uniform(0.5, 2) * right[:1].T
    nu_f, nu_c = 10 ** rng.uniform(-0.5, 0.5, size=2)
    return {"x": x, "y": y, "start": start, "steps": steps, "nu_f": nu_f, "nu_c": nu_c,
            "share": rng.uniform(0.8, 0.99) if share is None else share}  # fmt: skip


@statement(
    "kernel/theorem4.1-constants",
    place="Theorem 4.1, its last sentence",
    words="B₁ = 1/(ρ_max‖A‖²) and B₂ = ‖A‖(‖y‖ + ‖A‖√(ν_Cν_F)‖g‖) serve every ν_W < 1 at once, "
    "where √(ν_Cν_Fν_W^j) g_j are the initial responses",
    draw=_any_initial,
    tolerance=1e-12,
    kind="inequality",
    hypotheses={_SLOW: lambda share: share < 1},
    mutations=[{"factor": 0.9}, {"initial": 0.9}],
    without={_SLOW: lambda rng: _any_initial(rng, share=rng.uniform(30, 60))},
)
def theorem_4_1_constants(
    x: Array, y: Array, start: Array, steps: int, nu_f: float, nu_c: float, share: float, *,
    factor: float = 1.0, initial: float = 1.0,
) -> float:  # fmt: skip
    """Descent on the convolution at six values of ν_W, with constants that do not contain it."""
    _, length, inputs = x.shape
    found = np.inf
    for nu_w in (0.01, 0.2, 0.5, 0.8, 0.95, 0.999):
        A, rho, fastest = proof_constants(nu_w, nu_f, nu_c, x)
        most = np.linalg.norm(A, 2)
        scale = np.sqrt(nu_c * nu_f) * np.linalg.norm(start)
        bound = factor * most * (np.linalg.norm(y) + initial * most * scale)
        decay = np.repeat(np.sqrt(nu_w) ** np.arange(length), inputs)[:, None]
        L = first = np.sqrt(nu_c * nu_f) * decay * start
        rate = share * fastest
        for step in range(1, steps + 1):
            L = L + rate * rho[:, None] * (A.T @ (y - A @ L))
            norms = np.linalg.norm((L - first).reshape(length, -1), axis=1)
            found = min(found, slack(norms, bound * rho[::inputs] * rate * step))
    return found
