"""depth, Figure 2: the limits of Theorem 3.3 for a diagonal of ten ones."""

from tacit.experiments.depth.limit_curves import LimitCurves


class Fig2(LimitCurves):
    """Singular values of the limit against scale, depth and ratio: w* = 1, n = 10, s = 1."""

    id, figure = "depth/fig2", "Figure 2"
