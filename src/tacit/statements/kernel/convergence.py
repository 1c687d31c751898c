"""Convergence of random variables, (29), and of products with independent matrices."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements._shared_systems import white_sequences


@statement(
    "kernel/equation29",
    place="(29)",
    words="X_n tends to X in distribution if E f(X_n) tends to E f(X) for all bounded continuous "
    "f; here X_n = X + c/n, and the gap is at most c/n times the slope of f",
    draw=lambda rng: {
        "X": rng.integers(-2, 3, size=30).astype(float),
        "slope": rng.uniform(0.2, 3),
        "c": rng.uniform(0.1, 2),
    },
    tolerance=1.0,  # of the bound
    mutations=[{"order": 0.5}],
    errata=[
        Erratum(
            as_printed="for all bounded functions f",
            as_corrected="for all bounded continuous ones: 1/n tends to 0, but with f = 1 above "
            "zero and 0 elsewhere E f(1/n) is 1 and E f(0) is 0. (Residuals here are in units of "
            "the bound.)",
            constants={"continuous": False},
            gravity="gap in a proof",
        )
    ],
)
def equation_29(
    X: Array, slope: float, c: float, *, continuous: bool = True, order: float = 1.0
) -> float:
    """tanh, and a step at zero, of variables with atoms there, at three n."""

    def f(x: Array) -> Array:
        return np.tanh(slope * x) if continuous else (x > 0).astype(float)

    X = np.append(X, 0.0)
    return max(
        float(abs(np.mean(f(X + c / n**order)) - np.mean(f(X))) / (slope * c / n))
        for n in (10, 1000, 100_000)
    )


def _products(rng: np.random.Generator) -> dict[str, Any]:
    size = int(rng.integers(2, 5))
    rows = white_sequences(rng, size, size)
    z = rng.normal(size=size)
    return {
        "A": np.concatenate([rows, -rows]),  # mean zero and the identity as second moment
        "z": z,
        "z2": 0.8 * z + 0.6 * rng.normal(size=size),
    }


@statement(
    "kernel/products",
    place="before (75), in the proof of Lemma C.1",
    words="products A_1 z/√n and A_2 z'/√n with independent matrices of mean zero are not "
    "correlated, however z and z' are correlated",
    draw=_products,
    tolerance=1e-12,
    mutations=[{"same": True}],
    errata=[
        Erratum(
            as_printed="E(R̃_{1ℓ₁} R̃_{1ℓ₂}) = E(Z̃ᵀ_{0ℓ₁} Z̃_{0ℓ₂}) = 0",
            as_corrected="the first is zero since A_ℓ₁ and A_ℓ₂ are independent; the second need "
            "not be, and is not where the lemma is used, for Z₁ = Q and Z₂ = [0, Q]",
            constants={"through_z": True},
            gravity="gap in a proof",
        )
    ],
)
def products(
    A: Array, z: Array, z2: Array, *, through_z: bool = False, same: bool = False
) -> float:
    """The mean over all pairs of matrices from an ensemble with these moments."""
    n = len(z)
    one, two = A @ z / np.sqrt(n), A @ z2 / np.sqrt(n)
    second = (
        np.mean(one[:, :, None] * two[:, None, :], axis=0)
        if same
        else np.outer(np.mean(one, axis=0), np.mean(two, axis=0))
    )
    printed = float(z @ z2) / n if through_z else 0.0
    scale = float(np.linalg.norm(z) * np.linalg.norm(z2)) / n
    return residual(second, printed * np.eye(n), scale=scale)
