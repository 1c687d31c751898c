"""regimes/width (ours): does a wider linear RNN extrapolate better or worse? It depends on γ.

The comparison: the error beyond k on the plane of the width n and of γ, by which the output is
divided. γ = 1 is the kernel paper's scaling: along it a wider network is closer to its kernel, and
extrapolation goes. Along γ ∝ √n, where γ₀ = γ/√n stays, width changes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median
from tacit.draw import Figure
from tacit.experiments._base import Experiment
from tacit.experiments._parameter import parameter
from tacit.experiments.regimes import _setting
from tacit.experiments.regimes._setting import LEVEL, LONGEST, RegimeConfig
from tacit.experiments.regimes._summary import counted, limit, present
from tacit.experiments.regimes._width_draw import draw_width
from tacit.store import GAMMA, SEED, WIDTH, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

PLACE = "regimes (ours)"


@dataclass(frozen=True, kw_only=True)
class WidthConfig(RegimeConfig):
    """Parameters of regimes/width."""

    width: tuple[int, ...] = parameter(
        (16, 32, 64, 128, 256, 512), "hidden units n", low=2, high=4096, swept=True
    )
    gamma: tuple[float, ...] = parameter(
        (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0),
        "γ, by which the output is divided",
        low=1e-3,
        high=1000.0,
        swept=True,
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(10)), "seed of the student's start", low=0, swept=True
    )
    length: int = parameter(12, "training length k", low=2, high=LONGEST, units="lags")
    steps: int = parameter(2_000, "cap on the steps of the flow's solver", low=1, high=10_000_000)
    rtol: float = parameter(1e-3, "tolerance of the flow's solver", low=1e-10, high=0.1)


class Width(Experiment):
    """The error on the plane of n and γ."""

    id = "regimes/width"
    paper = "regimes"
    figure = "ours: the scaling that decides what width does"
    summary = "error beyond k against width and γ: at γ = 1 widening destroys extrapolation"
    version = 1
    Config = WidthConfig
    presets: ClassVar[Mapping[str, WidthConfig]] = {
        "smoke": WidthConfig(
            width=(16, 32), gamma=(0.5, 1.0, 2.0, 4.0), seed=(0, 1), length=8, steps=200
        ),
        "quick": WidthConfig(width=(16, 32, 64, 128, 256), gamma=(0.5, 1.0, 2.0, 4.0, 8.0)),
        "paper": WidthConfig(seed=tuple(range(20))),
    }
    batch_by = (WIDTH,)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 10}

    def variables(self, config: WidthConfig) -> dict[str, Variable]:
        """What every cell of regimes stores."""
        return _setting.variables()

    def coordinates(self, config: WidthConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """The lags of responses."""
        return _setting.coordinates(config)

    def cell(self, batch: Batch, config: WidthConfig) -> Mapping[str, Any]:
        """Train all γ and seeds of one width."""
        from tacit.experiments.regimes._training import flow, train

        width = batch.one("width")
        return train(
            width=width,
            gamma0=batch.column("gamma") / np.sqrt(width),
            length=np.full(len(batch), config.length),
            seed=batch.column("seed"),
            config=config,
            method=flow(config.rtol),
            title=batch.label,
        )

    def claims(self, dataset: "xarray.Dataset", config: WidthConfig) -> list[Claim]:
        """What widening does at γ = 1, and what it does not at one γ₀."""
        error = counted(dataset, "error")
        narrow, wide = min(config.width), max(config.width)
        found = []
        if 1.0 in config.gamma and narrow < wide:
            line = error.sel({GAMMA: 1.0})
            # Seeds of two widths have nothing in common; any pairing of them will do.
            ratio = line.sel({WIDTH: wide}) / line.sel({WIDTH: narrow})
            found += [
                claim_about_median(
                    present(line.sel({WIDTH: narrow})),
                    name="γ = 1, narrow: extrapolates",
                    statement=f"At γ = 1 and n = {narrow} the relative error beyond k = "
                    f"{config.length} is at most {LEVEL}.",
                    place=PLACE,
                    at_most=LEVEL,
                ),
                claim_about_median(
                    present(line.sel({WIDTH: wide})),
                    name="γ = 1, wide: does not",
                    statement=f"At γ = 1 and n = {wide} it is at least {LEVEL}: widening destroys "
                    "extrapolation.",
                    place=PLACE,
                    at_least=LEVEL,
                ),
                claim_about_median(
                    present(ratio),
                    name="γ = 1: widening makes it worse",
                    statement=f"At γ = 1 the error at n = {wide} is at least twice that at "
                    f"n = {narrow}.",
                    place=PLACE,
                    at_least=2,
                ),
            ]
        pairs = quadrupled(error, config)
        for side, bound in (("at_most", 1.5), ("at_least", 1 / 1.5)):
            words = "more" if side == "at_most" else "less"
            found.append(
                claim_about_median(
                    pairs,
                    name=f"one γ₀: width makes it no {'worse' if side == 'at_most' else 'better'}",
                    statement="From (n, γ) to (4n, 2γ), which has the same γ₀, the error becomes "
                    f"no {words} than {bound:.2f} times as large, in the median over all such "
                    "pairs and seeds.",
                    place=PLACE,
                    **limit(side, bound),
                )
            )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: WidthConfig, claims: Sequence[Claim]
    ) -> Figure:
        """The plane, and cuts along γ = 1 and along one γ₀."""
        return draw_width(dataset, config)


def quadrupled(error: "xarray.DataArray", config: WidthConfig) -> np.ndarray:
    """Error at (4n, 2γ) over that at (n, γ), for all pairs on the grid and all seeds."""
    ratios = [
        present(
            error.sel({WIDTH: 4 * width, GAMMA: 2 * gamma})
            / error.sel({WIDTH: width, GAMMA: gamma})
        )
        for width in config.width
        for gamma in config.gamma
        if 4 * width in config.width and 2 * gamma in config.gamma
    ]
    return np.concatenate([np.zeros(0), *ratios])
