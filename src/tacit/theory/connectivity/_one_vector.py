"""A linear network that is to oscillate, with one vector w for input and output (Figure S5).

In steps of length dt, A = (1 − dt) I + dt W, the state begins at w and the output is
z_k = wᵀ A^k w. Ours: what is lost without initial connectivity, how fast the least connectivity
leaves it behind, and the largest rate that descent bears.
"""

import cmath
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, signal

from tacit._doors import door, number, real, whole
from tacit.theory.connectivity._checks import checked_square, checked_vector


@dataclass(frozen=True)
class OneVector:
    """The best network W = a wwᵀ, and the way out of it.

    Without W₀ the gradient is a multiple of wwᵀ, so that W stays one and the output is a power,
    z_k = ρ^k with ρ = 1 − dt + dt a. That is a saddle: with W = a wwᵀ + p wᵀ + w qᵀ (p, q
    orthogonal to w), the output changes by dt² (p · q) Σ_{i+j+l=k−2} ρ^i (1 − dt)^j ρ^l, and the
    loss by κ p · q. Gradient flow moves p by −κ q and q by −κ p: |p ∓ q| grows as exp(|κ| τ). With
    weak connectivity p and q begin of size g. So any g > 0 learns, after a time ln(1/g)/|κ| plus a
    number that does not depend on g.

    - `eigenvalue`: a, the one that is not zero.
    - `loss`: the lowest loss, relative to that of W = 0.
    - `growth`: |κ|, for a time that is learning rate × epochs.
    - `marginal`: the eigenvalue with which Euler steps turn for ever, 1 + (exp(2πif dt) − 1)/dt.
    """

    eigenvalue: float
    loss: float
    growth: float
    marginal: complex


@door(frequency=number(above=0), dt=number(above=0, high=1), steps=whole(1))
def one_vector(*, frequency: float = 0.2, dt: float = 0.1, steps: int = 100) -> OneVector:
    """The best rank-one network for cos 2πft on the first `steps` steps, and its instability."""
    k = np.arange(steps)
    target = np.cos(2 * math.pi * frequency * dt * k)

    def loss(ratio: float) -> float:
        return 0.5 * float(np.mean((ratio**k - target) ** 2))

    best = optimize.minimize_scalar(
        loss, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-10}
    ).x
    powers = best**k
    loops = np.convolve(np.convolve(powers, powers)[:steps], (1 - dt) ** k)[: max(steps - 2, 0)]
    growth = dt**2 * float(np.sum((powers - target)[2:] * loops)) / steps
    marginal = 1 + (cmath.exp(2j * math.pi * frequency * dt) - 1) / dt
    return OneVector(float((best - 1 + dt) / dt), loss(best) / loss(1 - dt), abs(growth), marginal)


@door(W=real(2), w=real(1), dt=number(above=0, high=1), steps=whole(1))
def largest_stable_rate(W: ArrayLike, w: ArrayLike, *, dt: float = 0.1, steps: int = 100) -> float:
    """2/λ, beyond which gradient descent on ½ mean_k (z_k − ẑ_k)² is thrown out of a solution W.

    λ is the largest eigenvalue of the Hessian where the loss is zero, which is that of the matrix
    ⟨∂z_k/∂W, ∂z_l/∂W⟩ / steps. With u_i = (Aᵀ)^i w and v_j = A^j w, ∂z_k/∂W = dt Σ u_i v_jᵀ over
    i + j = k − 1: the products are a convolution of two Gram matrices.
    """
    matrix = checked_square("W", W)
    vector = checked_vector("w", w, len(matrix))
    A = (1 - dt) * np.eye(len(matrix)) + dt * matrix
    left, right = [vector], [vector]
    for _ in range(steps - 2):
        left.append(left[-1] @ A)
        right.append(A @ right[-1])
    U, V = np.array(left), np.array(right)
    products = dt**2 * signal.convolve(U @ U.T, V @ V.T)[: steps - 1, : steps - 1] / steps
    return 2 / float(np.linalg.eigvalsh(products)[-1])
