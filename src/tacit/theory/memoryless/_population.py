"""The population loss of a memoryless teacher and its gradients, (4)–(7) and (20)–(23)."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tacit._doors import door, numbers, real, whole


class Gradients(NamedTuple):
    """∂L/∂A, ∂L/∂B and ∂L/∂C."""

    A: Float[np.ndarray, "width width"]
    B: Float[np.ndarray, "width inputs"]
    C: Float[np.ndarray, "outputs width"]


class System(NamedTuple):
    """A, B and C, checked."""

    A: Float[np.ndarray, "width width"]
    B: Float[np.ndarray, "width inputs"]
    C: Float[np.ndarray, "outputs width"]

    @staticmethod
    def checked(A: ArrayLike, B: ArrayLike, C: ArrayLike) -> "System":
        """Three finite real matrices that fit."""
        a, b, c = real_matrix("A", A), real_matrix("B", B), real_matrix("C", C)
        width = a.shape[0]
        if a.shape != (width, width) or b.shape[0] != width or c.shape[1] != width:
            raise ValueError(
                f"A, B, C: received {a.shape}, {b.shape}, {c.shape}, they must be (width, width), "
                "(width, inputs), (outputs, width)"
            )
        return System(a, b, c)


@door(A=real(2), B=real(2), C=real(2), length=whole(1))
def impulse_response(
    A: ArrayLike, B: ArrayLike, C: ArrayLike, length: int
) -> Float[np.ndarray, "length outputs inputs"]:
    """CB, CAB, CA²B, …: the first `length` lags."""
    system = System.checked(A, B, C)
    states = _powers(system.A, system.B, checked_length(length))
    return system.C @ states


@door(A=real(2), B=real(2), C=real(2), target=numbers(), length=whole(1))
def population_loss(
    A: ArrayLike, B: ArrayLike, C: ArrayLike, target: float | int | ArrayLike, length: int
) -> np.float64:
    """E ½‖ŷ − W* x_k‖² for white inputs of length k (memoryless, Lemmas 3.1 and C.1).

        L = ½ ‖CB − W*‖² + ½ Σ_{j=1}^{k−1} ‖C A^j B‖²        (4), (20), in Frobenius norms.

    The factor ½ is this paper's; the loss (3.4) of `lowdim` has none.

    **Arguments:**

    - `A`, `B`, `C`: of the student, (width, width), (width, inputs), (outputs, width).
    - `target`: W*, (outputs, inputs), or the number w* for one input and one output.
    - `length`: k ≥ 1.
    """
    residuals, _, _ = _residuals(A, B, C, target, length)
    return np.float64(0.5 * np.sum(residuals**2))


@door(A=real(2), B=real(2), C=real(2), target=numbers(), length=whole(1))
def population_gradients(
    A: ArrayLike, B: ArrayLike, C: ArrayLike, target: float | int | ArrayLike, length: int
) -> Gradients:
    """The gradients of `population_loss`, (5)–(7) and (21)–(23).

    With R_0 = CB − W*, R_j = C A^j B, X_j = A^j B and Y_j = (Aᵀ)^j Cᵀ,

        ∂L/∂B = Σ_j Y_j R_j,   ∂L/∂C = Σ_j R_j X_jᵀ,   ∂L/∂A = Σ_{r+s<k−1} Y_r R_{r+s+1} X_sᵀ:

    the double sum of (7) is a Hankel matrix of residuals between the two families of states.
    Arguments as for `population_loss`.
    """
    residuals, system, states = _residuals(A, B, C, target, length)
    costates = _powers(system.A.T, system.C.T, len(residuals))
    gradient_A = np.zeros_like(system.A)
    for r in range(len(residuals) - 1):
        carried = np.einsum("jmn,jdn->md", residuals[r + 1 :], states[: len(residuals) - r - 1])
        gradient_A += costates[r] @ carried
    return Gradients(
        gradient_A,
        np.einsum("jdm,jmn->dn", costates, residuals),
        np.einsum("jmn,jdn->md", residuals, states),
    )


def _residuals(
    A: Any, B: Any, C: Any, target: Any, length: int
) -> tuple[np.ndarray, System, np.ndarray]:
    """R_0 … R_{k−1}, the system, and the states A^j B."""
    system = System.checked(A, B, C)
    states = _powers(system.A, system.B, checked_length(length))
    residuals = system.C @ states
    goal = real_matrix("target", target)
    if goal.shape != residuals.shape[1:]:
        raise ValueError(
            f"target: received {goal.shape}, it must be (outputs, inputs) = {residuals.shape[1:]} "
            "as C and B are"
        )
    residuals[0] -= goal
    return residuals, system, states


def _powers(A: np.ndarray, start: np.ndarray, count: int) -> np.ndarray:
    """start, A start, A² start, …"""
    found = np.empty((count, *start.shape))
    found[0] = start
    for j in range(1, count):
        found[j] = A @ found[j - 1]
    return found


def real_matrix(name: str, value: Any) -> Float[np.ndarray, "rows columns"]:
    """A finite real matrix in float64; a number is one of size 1 × 1."""
    array = np.asarray(value)
    if array.ndim == 0:
        array = array.reshape(1, 1)
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "fiu":
        raise ValueError(
            f"{name}: received the dtype {array.dtype} and the shape {array.shape}, it must be a "
            "real matrix"
        )
    array = array.astype(np.float64)
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name}: received NaN or infinity, it must be finite")
    return array


def checked_length(length: Any) -> int:
    """A number of lags, at least 1."""
    integer = isinstance(length, int | np.integer) and not isinstance(length, bool)
    if not integer or length < 1:
        raise ValueError(f"length: received {length!r}, it must be an integer, at least 1")
    return int(length)
