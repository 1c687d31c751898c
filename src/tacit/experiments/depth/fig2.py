"""depth, Figure 2: the limits of Theorem 3.3 for a diagonal of ten ones."""

from collections.abc import Mapping
from typing import ClassVar

from tacit.experiments.depth._limit_curves import LimitCurves, LimitCurvesConfig, smoke


class Fig2(LimitCurves):
    """(w*, n, s) = (1, 10, 1)."""

    id = "depth/fig2"
    figure = "Figure 2"
    summary = "singular values of the limit against scale, depth and ratio: w* = 1, n = 10, s = 1"
    presets: ClassVar[Mapping[str, LimitCurvesConfig]] = {
        "smoke": smoke(),
        "quick": LimitCurvesConfig(),
        "paper": LimitCurvesConfig(),
    }
