"""Impulse responses of many small systems at once, with nothing to compile, and spectra."""

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tacit._doors import door, flag, real, whole


@door(A=real(finite=False), B=real(finite=False), C=real(finite=False), length=whole(1))
def impulse_responses(
    A: ArrayLike, B: ArrayLike, C: ArrayLike, length: int
) -> Float[np.ndarray, "*systems length"]:
    """C A^j B for j < length, of one system or a stack of them, each with one input and output.

    **Arguments:**

    - `A`, `B`, `C`: (…, width, width), (…, width, 1), (…, 1, width).
    - `length`: the number of lags, at least 1.
    """
    transition, inputs, outputs = np.asarray(A), np.asarray(B), np.asarray(C)
    width = transition.shape[-1] if transition.ndim else 0
    wanted = (width, width), (width, 1), (1, width)
    shapes = transition.shape, inputs.shape, outputs.shape
    if tuple(shape[-2:] for shape in shapes) != wanted:
        raise ValueError(
            f"A, B, C: received the shapes {shapes[0]}, {shapes[1]}, {shapes[2]}, they must be "
            "(…, width, width), (…, width, 1), (…, 1, width)"
        )
    if length < 1:
        raise ValueError(f"length: received {length!r}, it must be at least 1")
    if len({shape[:-2] for shape in shapes}) != 1:
        raise ValueError(
            f"A, B, C: received the shapes {shapes[0]}, {shapes[1]}, {shapes[2]}, they must have "
            "the same leading axes"
        )
    state, readout = inputs[..., 0], outputs[..., 0, :]
    found = []
    for _ in range(length):
        found.append(np.sum(readout * state, axis=-1))
        state = np.matmul(transition, state[..., None])[..., 0]
    return np.stack(found, axis=-1)


@door(A=real(2), B=real(2), symmetric=flag)
def spectrum(
    A: Float[np.ndarray, "width width"], B: Float[np.ndarray, "width 1"], *, symmetric: bool
) -> tuple[Float[np.ndarray, " width"], Float[np.ndarray, " width"]]:
    """|λ_i|, the largest first, and |u_i| for u = V⁻¹B, which is VᵀB where A is symmetric.

    Complementary slackness (13) is λ_i u_i = 0 for every i.

    The columns of V have norm one. Without symmetry V is not orthogonal, but C A^j B is still
    a sum over i in which λ_i^j stands beside u_i.
    """
    A, B = np.asarray(A), np.asarray(B)
    if A.shape != (len(A),) * 2 or B.shape != (len(A), 1):
        raise ValueError(
            f"A and B: received the shapes {A.shape} and {B.shape}, they must be (width, width) "
            "and (width, 1)"
        )
    values, vectors = (np.linalg.eigh if symmetric else np.linalg.eig)(A)
    b = B[:, 0]
    projection = vectors.T @ b if symmetric else np.linalg.solve(vectors, b.astype(complex))
    order = np.argsort(-np.abs(values))
    return np.abs(values)[order], np.abs(projection)[order]
