"""depth, Figures 2 and 5 to 8: limits for several targets, block sizes and numbers of blocks."""

from tacit.experiments.depth.limit_curves import LimitCurves


class Fig2(LimitCurves):
    """Singular values of the limit against scale, depth and ratio: w* = 1, n = 10, s = 1."""

    id, figure = "depth/fig2", "Figure 2"


class Fig5(LimitCurves):
    """Singular values of the limit against scale, depth and ratio: w* = 1, n = 5, s = 2."""

    id, figure = "depth/fig5", "Figure 5"

    blocks: int = 5
    block_size: int = 2


class Fig6(LimitCurves):
    """Singular values of the limit against scale, depth and ratio: w* = 10, n = 10, s = 1."""

    id, figure = "depth/fig6", "Figure 6"

    target: float = 10.0


class Fig7(LimitCurves):
    """Singular values of the limit against scale, depth and ratio: w* = 0.1, n = 10, s = 1."""

    id, figure = "depth/fig7", "Figure 7"

    target: float = 0.1


class Fig8(LimitCurves):
    """Singular values of the limit against scale, depth and ratio: w* = 1, n = 3, s = 1."""

    id, figure = "depth/fig8", "Figure 8"

    blocks: int = 3
