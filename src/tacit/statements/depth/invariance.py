"""Flow from the start (7) on diagonal blocks: Lemmas D.3, D.4, D.6, D.7 and Proposition D.1."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.statements import complex_step, residual, slack, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.depth._shared import (
    diagonal_blocks,
    distance_to_family,
    draw_setting,
    family_member,
    family_parameters,
    first_eigenvalues,
    initial_factors,
    integrate_flow,
    loss,
    product,
)
from tacit.theory.depth import conserved_quantity, reduced_flow

_EQUAL = "all observed values are w*"
_ALIKE = "every factor starts as the same matrix (7)"


def add_path(
    instance: dict[str, Any], times: Any, factors: Array | None = None, values: Array | float = 1.0
) -> dict[str, Any]:
    """Run the flow of the matrices and add `times` and `path` (times, L, d, d)."""
    mask = diagonal_blocks(instance["blocks"], instance["block_size"])
    if factors is None:
        factors = initial_factors(
            instance["depth"], instance["scale"], instance["ratio"], len(mask)
        )
    target = instance["target"] * np.broadcast_to(values, mask.shape)
    path = np.concatenate([factors[None], integrate_flow(factors, mask, target, times)])
    goal = np.where(mask, target, 0.0)
    return {**instance, "times": np.concatenate([[0.0], times]), "path": path, "goal": goal}


def _run(rng: np.random.Generator) -> dict[str, Any]:
    instance = draw_setting(rng)
    return add_path(instance, np.array([0.1, 0.3, 1.0, 3.0, 10.0]) / instance["target"])


def _unequal_values(rng: np.random.Generator) -> dict[str, Any]:
    instance = draw_setting(rng)
    size = instance["blocks"] * instance["block_size"]
    return add_path(instance, [0.3, 1.0, 3.0], values=rng.uniform(0.5, 1.5, size=(size, size)))


def _unequal_factors(rng: np.random.Generator) -> dict[str, Any]:
    """Every factor is a different multiple of (7): still in the family M, but not equal."""
    instance = draw_setting(rng)
    size = instance["blocks"] * instance["block_size"]
    factors = initial_factors(instance["depth"], instance["scale"], instance["ratio"], size)
    factors *= rng.uniform(0.5, 1.5, size=(instance["depth"], 1, 1))
    return add_path(instance, [0.3, 1.0, 3.0], factors)


def _values_are_equal(goal: Array, target: float) -> bool:
    return bool(np.all((goal == 0) | (goal == target)))


def _starts_alike(path: Array, scale: float, ratio: float) -> bool:
    depth, size = path.shape[1:3]
    return residual(path[0], initial_factors(depth, scale, ratio, size)) == 0


_SETTING: dict[str, Callable[..., Any]] = {_EQUAL: _values_are_equal, _ALIKE: _starts_alike}


@statement(
    "depth/lemmaD.3",
    place="Lemma D.3",
    words="from the start (7) every factor stays in the family M(a, b, c), and the gradient of the "
    "loss at a product M(A, B, C) is M(A − w*, B − w*, 0)",
    draw=_run,
    tolerance=1e-9,
    hypotheses=_SETTING,
    mutations=[{"outside": 1.0}, {"half": 1.0}],
    without={_EQUAL: _unequal_values},
)
def lemma_d_3(
    path: Array, blocks: int, block_size: int, target: float, *,
    outside: float = 0.0, half: float = 0.5,
) -> float:  # fmt: skip
    """The flow of the matrices; the loss of a product (2) and its gradient by complex steps."""
    mask = diagonal_blocks(blocks, block_size)
    found = max(distance_to_family(factor, blocks, block_size) for at in path for factor in at)
    W = product(path[1])
    A, B, C = family_parameters(W, blocks, block_size)
    gradient = complex_step(lambda X: half * np.sum((X - target)[mask] ** 2), W)
    formula = family_member((A - target, B - target, outside * C), blocks, block_size)
    return max(found, residual(gradient, formula, scale=target))


@statement(
    "depth/lemmaD.4",
    place="Lemma D.4",
    words="from the start (7) all factors stay equal to one another, W_1(t) = … = W_L(t)",
    draw=_run,
    tolerance=1e-9,
    hypotheses=_SETTING,
    without={_ALIKE: _unequal_factors},
)
def lemma_d_4(path: Array) -> float:
    """The flow of the matrices, in which the layers share nothing."""
    return max(residual(at, np.broadcast_to(at[0], at.shape)) for at in path)


def _eigenvalues(matrix: Array, blocks: int, block_size: int) -> Array:
    """λ₁, λ₂, λ₃ of a member of the family: Rayleigh quotients of its known eigenvectors."""
    along = np.repeat(np.eye(blocks), block_size, axis=1)
    within = np.eye(blocks * block_size)[0] - np.eye(blocks * block_size)[block_size - 1]
    vectors = [along.sum(axis=0), along[0] - along[-1], within]
    return np.array([v @ matrix @ v / (v @ v) for v in vectors if np.any(v)])


@statement(
    "depth/lemmaD.6",
    place="Lemma D.6",
    words="the factors' eigenvalues move by λ_i' = −γ λ_i^{L−1} for i = 1, 2 with "
    "γ = (λ₁^L + (n−1)λ₂^L)/n − sw*, and λ₃' = −λ₃^{2L−1}",
    draw=_run,
    tolerance=1e-8,
    hypotheses=_SETTING,
    mutations=[{"others": 0}, {"size_counts": False}, {"power": 0}, {"own_power": 2}],
)
def lemma_d_6(
    path: Array, times: Array, depth: int, scale: float, ratio: float, blocks: int,
    block_size: int, target: float, *,
    others: int = 1, size_counts: bool = True, power: int = 1, own_power: int = 1,
) -> float:  # fmt: skip
    """Velocities by complex steps of the loss, and the flow of the matrices.

    The flow is compared with the library's `reduced_flow`, including λ₃ in closed form.
    """
    n, s, L = blocks, block_size, depth
    mask = diagonal_blocks(n, s)
    found = 0.0
    for at in path[:3]:
        velocity = -complex_step(lambda theta: loss(theta, mask, np.full(mask.shape, target)), at)
        values = _eigenvalues(at[0], n, s)
        level = (s if size_counts else 1) * target
        gamma = (values[0] ** L + (n - others) * values[1] ** L) / n - level
        moved = -gamma * values[:2] ** (L - power)
        formula = np.concatenate([moved, -(values[2:] ** (2 * L - own_power))])
        found = max(found, residual(_eigenvalues(velocity[-1], n, s), formula, scale=level))
    known = reduced_flow(
        times, depth=L, scale=scale, ratio=ratio, blocks=n, block_size=s, target=target
    )
    brute = np.array([_eigenvalues(at[0], n, s) for at in path])
    return max(found, residual(brute, np.stack(known, axis=1)[:, : brute.shape[1]]))


@statement(
    "depth/lemmaD.7",
    place="Lemma D.7",
    words="along the flow λ₁/λ₂ is conserved at depth two, and λ₁^{2−L} − λ₂^{2−L} at L ≥ 3",
    draw=_run,
    tolerance=1e-8,
    hypotheses=_SETTING,
    mutations=[{"power": 1}, {"power": 3}, {"sign": 1.0}],
)
def lemma_d_7(
    path: Array, depth: int, blocks: int, block_size: int, *, power: int = 2, sign: float = -1.0
) -> float:
    """Both quantities, and the library's, along the flow of the matrices."""
    first, second = np.array([_eigenvalues(at[0], blocks, block_size)[:2] for at in path]).T
    if depth == 2:
        kept = first / second if power == 2 else first ** (power - 1) / second
    else:
        kept = first ** float(power - depth) + sign * second ** float(power - depth)
    known = np.asarray(conserved_quantity(first, second, depth=depth))
    return max(residual(of, np.full(of.shape, of[0])) for of in (kept, known))


def _converging(rng: np.random.Generator) -> dict[str, Any]:
    """Half of the starts nearly fit, from below or above; the bound is nearly attained there."""
    instance = draw_setting(rng)
    n, s, L = instance["blocks"], instance["block_size"], instance["depth"]
    if rng.random() < 0.5:
        instance["ratio"] = 10 ** rng.uniform(1.5, 3)
        first, second = first_eigenvalues(1.0, instance["ratio"], n * s)
        fitting = s * instance["target"] * n / (first**L + (n - 1) * second**L)
        instance["scale"] = float(fitting * (1 + rng.choice([-0.02, 0.02]))) ** (1 / L)
    first, second = first_eigenvalues(instance["scale"], instance["ratio"], n * s)
    rate, _ = _least_rate(first, second, L, n, s, instance["target"])
    return add_path(instance, np.array([0.5, 1.0, 2.0, 3.0, 5.0]) / rate)


def _least_rate(
    first: float, second: float, L: int, n: int, s: int, target: float
) -> tuple[float, float]:
    """K_min of the proof, and γ(0)."""
    gamma = (first**L + (n - 1) * second**L) / n - s * target
    if gamma < 0:
        return L / n * (first ** (2 * L - 2) + (n - 1) * second ** (2 * L - 2)), gamma
    return L * (s * target) ** ((2 * L - 2) / L), gamma


@statement(
    "depth/propositionD.1",
    place="Proposition D.1",
    words="the loss falls to zero: it is ½n γ² + ½n(s−1)λ₃^{2L}, with |γ| ≤ |γ(0)| e^{−Kt} for the "
    "constant K of the proof and λ₃ = ((2L−2)t + λ₃(0)^{2−2L})^{−1/(2L−2)}",
    draw=_converging,
    kind="inequality",
    tolerance=1e-5,  # γ falls to 1e-4 of sw*; the flow is accurate to 1e-10 of it
    hypotheses=_SETTING,
    mutations=[{"below": 1.1}, {"above": 1.1}, {"decay": 1.1}],
)
def proposition_d_1(
    path: Array, times: Array, depth: int, scale: float, ratio: float, blocks: int,
    block_size: int, target: float, *, below: float = 1.0, above: float = 1.0, decay: float = 1.0,
) -> float:  # fmt: skip
    """The loss along the flow of the matrices. Starts that nearly fit attain the bound."""
    n, s, L = blocks, block_size, depth
    mask = diagonal_blocks(n, s)
    first, second = first_eigenvalues(scale, ratio, n * s)
    rate, gamma = _least_rate(first, second, L, n, s, target)
    rate *= below if gamma < 0 else above
    third = (decay * (2 * L - 2) * times + second ** (2.0 - 2 * L)) ** (-1 / (2 * L - 2))
    bound = n / 2 * (gamma**2 * np.exp(-2 * rate * times) + (s - 1) * third ** (2 * L))
    found = [loss(at, mask, np.full(mask.shape, target)) for at in path]
    return slack(found[1:], bound[1:])  # at t = 0 they are equal
