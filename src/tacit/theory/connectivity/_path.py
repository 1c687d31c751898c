"""The path that W takes, by its arc length: the same for every target.

With ds = (ẑ − z) dτ the target drops out: dW/ds = y xᵀ. The target only decides how fast, and how
far, the path is walked (not in the paper). It is walked here by its length σ, dσ = |x||y| ds, in
which it stays smooth up to, and beyond, the point where I − W becomes singular and z diverges.
"""

import abc

import numpy as np
from jaxtyping import Float


class Path(abc.ABC):
    """A path of W(σ) with W(0) = W₀: what a learning curve needs to know about it."""

    start: float
    """z at σ = 0."""
    ends: tuple[float, float]
    """The σ < 0 and the σ > 0 at which z goes to −∞ and to +∞."""
    known: tuple[float, float]
    """The smallest and the largest z up to which the path has been computed."""

    @abc.abstractmethod
    def output(self, arc: Float[np.ndarray, "*any"]) -> Float[np.ndarray, "*any"]:
        """z(σ), increasing."""

    @abc.abstractmethod
    def speed(self, arc: Float[np.ndarray, "*any"]) -> Float[np.ndarray, "*any"]:
        """dz/dσ = |x||y|, which is also ‖dW/ds‖."""

    @abc.abstractmethod
    def arc(self, output: Float[np.ndarray, "*any"]) -> Float[np.ndarray, "*any"]:
        """σ(z), the inverse of `output`."""

    @abc.abstractmethod
    def singular_values(self, arc: Float[np.ndarray, " any"], count: int) -> np.ndarray:
        """The `count` largest singular values of W(σ) − W₀, (any, count)."""

    @abc.abstractmethod
    def change(self, arc: Float[np.ndarray, " any"]) -> Float[np.ndarray, "any rows columns"]:
        """W(σ) − W₀, where such a matrix exists."""
