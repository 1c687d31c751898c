"""regimes/map (ours): where gradient descent on linear RNNs extrapolates, and where it cannot.

The comparison: how well a student continues its teacher beyond the k lags that it was trained on,
and how large a state space it uses, against k and against γ₀, at the same training error. One
paper finds that wide linear RNNs learn filters with a short memory, another that they find the
teacher's state space from k > 2d̂ lags; both are corners of this map.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim
from tacit.draw import Figure
from tacit.experiments._base import Experiment
from tacit.experiments._parameter import parameter
from tacit.experiments.regimes import _setting
from tacit.experiments.regimes._map_claims import map_claims
from tacit.experiments.regimes._map_draw import draw_map
from tacit.experiments.regimes._setting import LONGEST, RegimeConfig
from tacit.store import SEED, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class MapConfig(RegimeConfig):
    """Parameters of regimes/map."""

    length: tuple[int, ...] = parameter(
        (4, 6, 7, 8, 10, 12),
        "training length k",
        low=2,
        high=LONGEST,
        units="lags",
        swept=True,
    )
    gamma0: tuple[float, ...] = parameter(
        (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
        "γ₀ = γ/√n, what decides between the regimes",
        low=1e-4,
        high=10.0,
        swept=True,
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(10)), "seed of the student's start", low=0, swept=True
    )
    width: int = parameter(96, "hidden units n of the student", low=2, high=2000)


class Map(Experiment):
    """Error and Hankel rank on the plane of k and γ₀."""

    id = "regimes/map"
    paper = "regimes"
    figure = "ours: kernel and lowdim in one plane"
    summary = "error beyond k and Hankel rank of a linear RNN, against k and γ₀ at one train error"
    version = 1
    Config = MapConfig
    presets: ClassVar[Mapping[str, MapConfig]] = {
        "smoke": MapConfig(
            length=(4, 8, 10), gamma0=(0.03, 0.3, 3.0), seed=(0, 1), width=32, steps=2000
        ),
        "quick": MapConfig(length=(4, 6, 8, 12), gamma0=(0.01, 0.1, 0.3, 1.0, 10.0)),
        "paper": MapConfig(seed=tuple(range(30))),
    }
    chunk: ClassVar[Mapping[str, int]] = {SEED: 5}

    def variables(self, config: MapConfig) -> dict[str, Variable]:
        """What every cell of regimes stores."""
        return _setting.variables()

    def coordinates(self, config: MapConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """The lags of responses."""
        return _setting.coordinates(config)

    def cell(self, batch: Batch, config: MapConfig) -> Mapping[str, Any]:
        """Train all lengths and γ₀ of some seeds as one program."""
        from tacit.experiments.regimes._training import bounded, train

        return train(
            width=config.width,
            gamma0=batch.column("gamma0"),
            length=batch.column("length"),
            seed=batch.column("seed"),
            config=config,
            method=bounded(config),
            title=batch.label,
        )

    def claims(self, dataset: "xarray.Dataset", config: MapConfig) -> list[Claim]:
        """Both k and γ₀ are needed; ranks; and where the threshold lies."""
        return map_claims(dataset, config)

    def draw(self, dataset: "xarray.Dataset", config: MapConfig, claims: Sequence[Claim]) -> Figure:
        """Two maps, and what the students of two corners learned."""
        return draw_map(dataset, config)
