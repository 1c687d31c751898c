"""How far a kernel turned, and how much it changed."""

import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import door, real


@door(start=real(2), end=real(2, finite=False))
def kernel_rotation(start: ArrayLike, end: ArrayLike) -> float:
    """1 − cos of the angle between two kernels, 1 − ⟨G⁰, G⟩/(‖G⁰‖ ‖G‖), in float64.

    Kernels are positive semidefinite, so that it lies between 0 and 1, whatever their sizes. It is
    NaN for an end with NaN or infinity in it, as a diverged run leaves it. A zero kernel has no
    angle and is refused.
    """
    before, after = _kernels(start, end)
    if not np.isfinite(after).all():
        return np.nan
    before, after = _scaled(before, np.abs(before).max()), _scaled(after, np.abs(after).max())
    cosine = float(np.sum(before * after) / (np.linalg.norm(before) * np.linalg.norm(after)))
    return float(np.clip(1 - cosine, 0, 1))


@door(start=real(2), end=real(2, finite=False))
def relative_change(start: ArrayLike, end: ArrayLike) -> float:
    """‖G − G⁰‖/‖G⁰‖ in the Frobenius norm, in float64; infinite for an end that is not finite."""
    before, after = _kernels(start, end)
    if not np.isfinite(after).all():
        return np.inf
    scale = np.abs(before).max()
    before, after = _scaled(before, scale), _scaled(after, scale)
    return float(np.linalg.norm(after - before) / np.linalg.norm(before))


def _scaled(kernel: np.ndarray, scale: float) -> np.ndarray:
    """Relative to a size: squares of the largest entries could overflow."""
    return kernel / scale if scale > 0 else kernel


def _kernels(start: ArrayLike, end: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    before, after = np.asarray(start, np.float64), np.asarray(end, np.float64)
    if before.shape != after.shape:
        raise ValueError(
            f"end: received the shape {after.shape}, it must be that of start, {before.shape}"
        )
    return before, after
