"""Linear algebra of Gaussians: the distance (32), Lemma B.1, and the proof of Lemma C.1."""

from typing import Any

import numpy as np

from tacit.statements import residual, statement
from tacit.statements._shared_numbers import Array


def _root(matrix: Array) -> Array:
    values, vectors = np.linalg.eigh(matrix)
    return vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T


def _two_covariances(rng: np.random.Generator) -> dict[str, Any]:
    halves = rng.normal(size=(2, 2, 3))
    return {"covariances": halves @ halves.transpose(0, 2, 1)}


@statement(
    "kernel/equation32",
    place="(32)",
    words="the squared Wasserstein-2 distance of N(0, Σ₁) and N(0, Σ₂) is "
    "tr(Σ₁ − 2(Σ₁^{1/2}Σ₂Σ₁^{1/2})^{1/2} + Σ₂)",
    draw=_two_covariances,
    tolerance=1e-6,  # the angle is searched for to 1e-4, and counts by its square
    mutations=[{"twice": 2.2}, {"power": 0.45}],
)
def equation_32(covariances: Array, *, twice: float = 2.0, power: float = 0.5) -> float:
    """The smallest mean square of X₁ − X₂ over all joint Gaussians, by a search over angles.

    Couplings have the cross-covariance Σ₁^{1/2} U Σ₂^{1/2} with ‖U‖ ≤ 1, and rotations and
    reflections U are the extreme ones.
    """
    one, two = covariances
    angles = np.linspace(0, 2 * np.pi, 40001)
    c, s = np.cos(angles), np.sin(angles)
    cross = _root(two) @ _root(one)  # tr(Σ₁^{1/2} U Σ₂^{1/2}) = tr(cross U)
    turned = cross[0, 0] * c + cross[0, 1] * s - cross[1, 0] * s + cross[1, 1] * c
    flipped = cross[0, 0] * c + cross[0, 1] * s + cross[1, 0] * s - cross[1, 1] * c
    searched = np.trace(one + two) - 2 * max(turned.max(), flipped.max())
    values = np.linalg.eigvalsh(_root(one) @ two @ _root(one))
    formula = np.trace(one + two) - twice * np.sum(np.maximum(values, 0) ** power)
    return residual(searched, formula, scale=float(np.trace(one + two)))


def _two_maps(rng: np.random.Generator) -> dict[str, Any]:
    size, rows = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    maps = rng.normal(size=(2, rows, size))
    return {"maps": maps, "basis": np.linalg.qr(rng.normal(size=(size, size)))[0]}


@statement(
    "kernel/lemmaB.1",
    place="Lemma B.1, (38) and (39)",
    words="for linear maps T and T' the sum of T(v)T'(v)ᵀ over an orthonormal basis is the mean "
    "of T(v)T'(v)ᵀ over v = Σα_i v_i with standard Gaussian α, and does not depend on the basis",
    draw=_two_maps,
    tolerance=1e-12,
    mutations=[{"variance": 1.1}],
)
def lemma_b_1(maps: Array, basis: Array, *, variance: float = 1.0) -> float:
    """The mean by a product of Gauss quadratures, exact for squares, and the standard basis."""
    size = basis.shape[0]
    nodes, weights = np.polynomial.hermite_e.hermegauss(3)
    grid = np.stack(np.meshgrid(*[nodes] * size, indexing="ij"), axis=-1).reshape(-1, size)
    mass = np.prod(np.stack(np.meshgrid(*[weights] * size, indexing="ij"), -1), -1).ravel()
    points = np.sqrt(variance) * grid @ basis.T
    mean = np.einsum("p,pi,pj->ij", mass / mass.sum(), points @ maps[0].T, points @ maps[1].T)
    total = sum(np.outer(maps[0] @ v, maps[1] @ v) for v in basis.T)
    scale = float(np.linalg.norm(maps[0]) * np.linalg.norm(maps[1]))
    return max(residual(mean, total, scale=scale), residual(mean, maps[0] @ maps[1].T, scale=scale))


def _conditions(rng: np.random.Generator) -> dict[str, Any]:
    steps = int(rng.integers(1, 5))
    return {"Z": rng.normal(size=(8, steps)), "A": rng.normal(size=(8, 8)),
            "other": rng.normal(size=(8, 8)), "last": rng.normal(size=8)}  # fmt: skip


@statement(
    "kernel/equation89",
    place="(85)–(90) and (93)–(97), in the proof of Lemma C.1",
    words="with R = ZᵀZ/n and the regression F = R⁻¹Zᵀz/n of the next z on the columns of Z, the "
    "part of A z/√n that A Z/√n = r determines is r F, and the free part is Ã(z − Z F)/√n",
    draw=_conditions,
    tolerance=1e-10,
    mutations=[{"gram": 1.1}, {"share": 0.9}],
)
def equation_89(
    Z: Array, A: Array, other: Array, last: Array, *, gram: float = 1.0, share: float = 1.0
) -> float:
    """H as a matrix on the entries of A, its adjoint and its pseudo-inverse by SVD.

    (87) replaces R by its limit; with R itself all of this is exact at every n.
    """
    n, steps = Z.shape
    H = np.kron(np.eye(n), Z.T / np.sqrt(n))  # A, row by row, to r, row by row
    r = (H @ A.ravel()).reshape(n, steps)
    R = gram * Z.T @ Z / n
    adjoint = r @ Z.T / np.sqrt(n)
    inverse = r @ np.linalg.solve(R, Z.T) / np.sqrt(n)
    F = share * np.linalg.lstsq(Z, last, rcond=None)[0]
    exact = (np.linalg.pinv(H) @ r.ravel()).reshape(n, n)
    free = other - (np.linalg.pinv(H) @ H @ other.ravel()).reshape(n, n)
    return max(
        residual(adjoint, (H.T @ r.ravel()).reshape(n, n)),
        residual(r @ R, (H @ H.T @ r.ravel()).reshape(n, steps)),
        residual(inverse, exact),
        residual(r @ F, exact @ last / np.sqrt(n)),
        residual(other @ (last - Z @ F) / np.sqrt(n), free @ last / np.sqrt(n)),
    )
