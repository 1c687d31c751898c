"""The setting of Theorem 3.3: the starts (7) and block-diagonal observations, checked."""

import math
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

#: A number, or an array of them, as it comes out and as it goes in.
Number: TypeAlias = np.float64 | Float[np.ndarray, "..."]
Numbers: TypeAlias = float | int | ArrayLike


@final
@dataclass(frozen=True)
class Family:
    """Start (7), n blocks of size s all equal to w*: in logarithms, since α^L may underflow.

    Every factor starts with α on the diagonal and α/m elsewhere. Its eigenvalues (Lemma D.5) are
    λ₁ = α (m + d − 1)/m and λ₂ = λ₃ = α (m − 1)/m, with d = ns.
    """

    depth: int
    scale: Number
    ratio: Number
    blocks: int
    block_size: int
    target: Number

    @staticmethod
    def checked(
        depth: int,
        scale: Numbers,
        ratio: Numbers,
        blocks: int,
        block_size: int,
        target: Numbers,
    ) -> "Family":
        """The family, its numbers as arrays of one shape."""
        for name, number, least in (
            ("depth", depth, 2),
            ("blocks", blocks, 2),
            ("block_size", block_size, 1),
        ):
            integer = isinstance(number, (int, np.integer)) and not isinstance(number, bool)
            if not integer or number < least:
                raise ValueError(
                    f"{name}: received {number!r}, it must be an integer, at least {least}"
                )
        alpha, m, w = (np.asarray(value, np.float64) for value in (scale, ratio, target))
        if not np.all((alpha > 0) & (alpha < math.inf)):
            raise ValueError(f"scale: received {scale!r}, it must be positive and finite")
        if not np.all(m >= 1):
            raise ValueError(
                f"ratio: received {ratio!r}, it must lie in [1, ∞]: diagonal over off-diagonal"
            )
        if not np.all((w > 0) & (w < math.inf)):
            raise ValueError(f"target: received {target!r}, it must be positive and finite")
        alpha, m, w = np.broadcast_arrays(alpha, m, w)
        return Family(int(depth), alpha, m, int(blocks), int(block_size), w)

    @property
    def size(self) -> int:
        """d = ns."""
        return self.blocks * self.block_size

    @property
    def log_gap(self) -> Number:
        """log(λ₁/λ₂) at the start: log(1 + d/(m − 1)), between 0 (m = ∞) and ∞ (m = 1)."""
        with np.errstate(divide="ignore"):
            return np.log1p(self.size / (self.ratio - 1))

    @property
    def log_first(self) -> Number:
        """log λ₁ at the start."""
        return np.log(self.scale) + np.log1p((self.size - 1) / self.ratio)

    @property
    def log_second(self) -> Number:
        """log λ₂ = log λ₃ at the start; −∞ for m = 1."""
        with np.errstate(divide="ignore", invalid="ignore"):
            near = np.log(self.ratio - 1) - np.log(self.ratio)  # exact differences near m = 1
            return np.log(self.scale) + np.where(self.ratio < 2, near, np.log1p(-1 / self.ratio))
