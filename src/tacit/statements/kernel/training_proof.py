"""Steps of the proof of Theorem 4.1 (appendix B.4): (59)–(62), with the constants (60)."""

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

    A third are random. A third move one lag as fast as possible. For the last third, the misfit is
    the one among three hundred whose largest |u_j| after fifty steps is largest relative to ‖Aᵀb‖.
    """
    kind = int(rng.integers(3))
    length = int(rng.integers(1, 5)) if kind == 1 else int(rng.integers(2, 5))
    count = int(rng.integers(1, 4)) if kind == 0 else 1
    instance = {"nu_w": rng.uniform(0.1, 0.95)}
    low, high = {0: (-1, 1), 1: (-2, -1), 2: (0.7, 1.5)}[kind]
    instance["nu_f"], instance["nu_c"] = 10 ** rng.uniform(low, high, size=2)
    x = rng.normal(size=(count, length, 1)) + 2 * rng.integers(2)
    A = np.concatenate([toeplitz_blocks(one).T for one in x])
    rho, steps = weights(**instance, length=length), 1 if kind == 1 else 50
    largest = largest_weight(instance["nu_f"], instance["nu_c"], length) * np.linalg.norm(A, 2) ** 2
    rate = rng.uniform(0.8, 0.99) / largest
    misfit = rng.normal(size=len(A))
    if kind == 1:
        misfit = np.linalg.svd(A)[0][:, 0]
    if kind == 2:
        many = rng.normal(size=(300, length)) @ np.linalg.pinv(A)
        moved = np.zeros((300, length))
        for _ in range(steps):
            moved += rate * (many - (moved * rho) @ A.T) @ A
        misfit = many[np.argmax(np.max(np.abs(moved), axis=1) / np.linalg.norm(many @ A, axis=1))]
    return {**instance, "x": x, "misfit": misfit, "rate": rate, "steps": steps}


def _is_slow(nu_w: float, nu_f: float, nu_c: float, x: Array, rate: float) -> bool:
    return bool(rate < proof_constants(nu_w, nu_f, nu_c, x)[2])


@statement(
    "kernel/equation59",
    place="the steps before (59), and (59)",
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
    root = rho**power
    theta = u = np.zeros(len(rho))
    for _ in range(10):
        gradient = complex_step(lambda at: half * np.sum((misfit - A @ (root * at)) ** 2), theta)
        theta = theta - rate * gradient
        u = u + rate * A.T @ (misfit - A @ (rho * u))
    return residual(theta / np.sqrt(rho), u)


@statement(
    "kernel/equation60",
    place="after (60), in the proof of Theorem 4.1",
    words="for η < B₁ = 1/(ρ_max‖A‖²) a step does not enlarge the misfit: ‖I − ηA D Aᵀ‖ ≤ 1",
    draw=_problem,
    tolerance=1e-12,
    kind="inequality",
    hypotheses={_SLOW: _is_slow},
    mutations=[{"faster": 2.5}],
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
    moved, found = np.zeros(len(rho)), np.inf
    for step in range(1, steps + 1):
        moved = moved + rate * rho * (A.T @ (misfit - A @ moved))
        time = rate**step if to_the_power else rate * step
        found = min(found, slack(np.abs(moved), factor * most * rho * time))
    targets = misfit.reshape(*x.shape[:2], 1)
    closed = learning_curve(rho, x, targets, rate=rate, steps=steps).response[0, :, 0, 0]
    return found if residual(closed, moved) < 1e-9 else -np.inf
