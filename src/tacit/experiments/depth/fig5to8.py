"""depth, Figures 5 to 8: Figure 2 with other targets, block sizes and numbers of blocks."""

from collections.abc import Mapping
from typing import Any, ClassVar

from tacit.experiments.depth._limit_curves import LimitCurves, LimitCurvesConfig, smoke


def _presets(**options: Any) -> Mapping[str, LimitCurvesConfig]:
    whole = LimitCurvesConfig(**options)
    return {"smoke": smoke(**options), "quick": whole, "paper": whole}


class Fig5(LimitCurves):
    """(w*, n, s) = (1, 5, 2): blocks."""

    id = "depth/fig5"
    figure = "Figure 5"
    summary = "singular values of the limit against scale, depth and ratio: w* = 1, n = 5, s = 2"
    presets: ClassVar[Mapping[str, LimitCurvesConfig]] = _presets(blocks=5, block_size=2)


class Fig6(LimitCurves):
    """(w*, n, s) = (10, 10, 1): a larger target."""

    id = "depth/fig6"
    figure = "Figure 6"
    summary = "singular values of the limit against scale, depth and ratio: w* = 10, n = 10, s = 1"
    presets: ClassVar[Mapping[str, LimitCurvesConfig]] = _presets(target=10.0)


class Fig7(LimitCurves):
    """(w*, n, s) = (0.1, 10, 1): a smaller target."""

    id = "depth/fig7"
    figure = "Figure 7"
    summary = "singular values of the limit against scale, depth and ratio: w* = 0.1, n = 10, s = 1"
    presets: ClassVar[Mapping[str, LimitCurvesConfig]] = _presets(target=0.1)


class Fig8(LimitCurves):
    """(w*, n, s) = (1, 3, 1): the setting of Figure 9's training runs."""

    id = "depth/fig8"
    figure = "Figure 8"
    summary = "singular values of the limit against scale, depth and ratio: w* = 1, n = 3, s = 1"
    presets: ClassVar[Mapping[str, LimitCurvesConfig]] = _presets(blocks=3)
