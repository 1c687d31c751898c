"""What the statements of `depth` share: gradient flow on the factors, and random settings.

The flow is integrated by SciPy and the derivatives of the product are by brute force. Neither uses
the paper's reductions, which are checked against them.
"""

from functools import reduce
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from tacit.statements import residual
from tacit.statements._shared_numbers import Array

BALANCED = "AᵀA = BBᵀ at the start"
UPPER = np.array([[True, True], [False, True]])  # the entries of section E.2
_SIZES = [(2, 1), (3, 1), (2, 2), (2, 1), (3, 1), (2, 3)]


def product(factors: Array) -> Array:
    """W_L ⋯ W_1 of the factors (L, d, d), which are in the order in which they act."""
    return reduce(lambda done, factor: factor @ done, factors)


def loss(factors: Array, mask: Array, target: Array) -> Any:
    """½ Σ_Ω (w_ij − w*_ij)² (2), analytic in the factors."""
    return np.sum((product(factors) - target)[mask] ** 2) / 2


def velocity(factors: Array, mask: Array, target: Array) -> Array:
    """−∂loss/∂W_l for every l (3): −(W_L ⋯ W_{l+1})ᵀ E (W_{l−1} ⋯ W_1)ᵀ."""
    below = [np.eye(factors.shape[1])]
    for factor in factors[:-1]:
        below.append(factor @ below[-1])
    pulled = np.where(mask, factors[-1] @ below[-1] - target, 0.0)
    found = np.empty_like(factors)
    for layer in range(len(factors) - 1, -1, -1):
        found[layer] = -pulled @ below[layer].T
        pulled = factors[layer].T @ pulled
    return found


def integrate_flow(factors: Array, mask: Array, target: Array, times: Any) -> Array:
    """Gradient flow on the loss: the factors at increasing times, (times, L, d, d).

    Every time ends a separate run. Between its steps, the interpolant of DOP853 is less accurate
    than its tolerance once stability limits the steps: by 1e-7 here.
    """

    def slope(_: float, state: Array) -> Array:
        return velocity(state.reshape(factors.shape), mask, target).ravel()

    smallest = np.min(np.abs(factors[factors != 0]), initial=1.0)
    tolerances = {"rtol": 1e-11, "atol": 1e-13 * smallest}  # a small start keeps its digits
    found, state, now = [], factors.ravel(), 0.0
    for time in times:
        run = solve_ivp(slope, (now, time), state, method="DOP853", **tolerances)
        if not run.success:
            raise RuntimeError(f"the flow of the factors: {run.message}")
        state, now = run.y[:, -1], time
        found.append(state.reshape(factors.shape))
    return np.stack(found)


def flow_series(factors: Array, mask: Array, target: Array, order: int) -> list[Array]:
    """The power series of depth-2 flow at time 0: B and A (2, d, d) of each order, by recursion."""
    series, errors = [np.array(factors)], []
    for k in range(order):
        made = sum((series[i][1] @ series[k - i][0] for i in range(k + 1)), np.zeros_like(target))
        errors.append(np.where(mask, made - (target if k == 0 else 0.0), 0.0))
        slope = np.zeros_like(factors)
        for i in range(k + 1):
            slope[0] -= series[i][1].T @ errors[k - i]
            slope[1] -= errors[k - i] @ series[i][0].T
        series.append(slope / (k + 1))
    return series


def paired_factors(A: Array) -> Array:
    """A 2 × 2 matrix A with the B of Lemma E.2, [[a₂₂, a₁₂], [a₂₁, a₁₁]]."""
    return np.stack([np.array([[A[1, 1], A[0, 1]], [A[1, 0], A[0, 0]]]), A])


def jacobian(factors: Array) -> Array:
    """∂w_ij/∂θ by complex steps, (d d, L d d): w and θ = `factors` row by row."""
    columns = []
    for where in np.ndindex(factors.shape):
        moved = factors.astype(complex)
        moved[where] += 1e-30j
        columns.append(np.imag(product(moved)).ravel() / 1e-30)
    return np.stack(columns, axis=1)


def initial_factors(depth: int, scale: float, ratio: float, size: int) -> Array:
    """The start (7): α on the diagonal and α/m elsewhere, the same for every factor."""
    one = np.full((size, size), scale / ratio)
    np.fill_diagonal(one, scale)
    return np.stack([one] * depth)


def diagonal_blocks(blocks: int, block_size: int) -> Array:
    """The mask Ω of n diagonal blocks of size s."""
    return np.kron(np.eye(blocks), np.ones((block_size, block_size))) > 0


def first_eigenvalues(scale: float, ratio: float, size: int) -> tuple[float, float]:
    """λ₁(0) and λ₂(0) = λ₃(0) of the start (7)."""
    return scale * (1 + (size - 1) / ratio), scale * (1 - 1 / ratio)


def stable_rank(matrix: Array) -> float:
    """‖W‖²_F/‖W‖²₂."""
    values = np.linalg.svd(matrix, compute_uv=False)
    return float(np.sum(values**2) / values[0] ** 2)


def family_member(numbers: Any, blocks: int, block_size: int) -> Array:
    """M(a, b, c): a on the diagonal, b elsewhere in the diagonal blocks, c outside them."""
    a, b, c = numbers
    owner = np.arange(blocks * block_size) // block_size
    found = np.where(owner[:, None] == owner[None, :], b, c).astype(float)
    np.fill_diagonal(found, a)
    return found


def family_parameters(matrix: Array, blocks: int, block_size: int) -> tuple[float, float, float]:
    """The (a, b, c) of the nearest M(a, b, c): means over the three kinds of entries."""
    kinds = family_member((0, 1, 2), blocks, block_size)
    a, b, c = (float(np.mean(matrix[kinds == kind])) if np.any(kinds == kind) else 0.0
               for kind in (0, 1, 2))  # fmt: skip
    return a, b, c


def distance_to_family(matrix: Array, blocks: int, block_size: int) -> float:
    """The distance from the family M, relative to the largest entry."""
    return residual(
        matrix, family_member(family_parameters(matrix, blocks, block_size), blocks, block_size)
    )


def draw_setting(rng: np.random.Generator) -> dict[str, Any]:
    """L, α, m, n, s and w*, with starts that range from small to beyond the target."""
    blocks, block_size = _SIZES[rng.integers(len(_SIZES))]
    return {
        "depth": int(rng.integers(2, 5)),
        "scale": rng.uniform(0.25, 1.2),
        "ratio": 1 + 10 ** rng.uniform(-0.5, 1.5),
        "blocks": blocks,
        "block_size": block_size,
        "target": rng.uniform(0.5, 2),
    }


def balanced_factors(rng: np.random.Generator, size: int, spread: float = 2.0) -> Array:
    """B = R√S Pᵀ and A = Q√S Rᵀ with rotations Q, R, P: balanced, both determinants positive."""
    turns = np.linalg.qr(rng.normal(size=(3, size, size)))[0]
    turns[np.linalg.det(turns) < 0, :, 0] *= -1
    Q, R, P = turns
    S = np.sqrt(spread ** rng.uniform(-1, 1, size=size))
    return np.stack([R * S @ P.T, Q * S @ R.T])


def is_balanced(factors: Array) -> bool:
    """Whether AᵀA = BBᵀ to rounding."""
    return residual(factors[1].T @ factors[1], factors[0] @ factors[0].T) < 1e-12


def random_pattern(rng: np.random.Generator, size: int) -> Array:
    """A mask with the diagonal and most of the other entries."""
    return (rng.random((size, size)) < 0.7) | (np.eye(size) > 0)
