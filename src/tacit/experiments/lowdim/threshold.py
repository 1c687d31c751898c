"""lowdim, beyond the paper: the threshold k = 2d̂ + 1 of Lemma 7 without any optimiser.

The comparison: how far apart two balanced students of any width can be at a later lag, although
both fit the first k lags of the teacher exactly, against k. That is the range of a moment over all
positive measures with the first k moments of the teacher's (`tacit.theory.lowdim.moment_range`):
no training, no loss, no tolerance. Teachers have their atoms inside the support, or one or two of
them on its ends, each of which saves a lag.

The teachers are made of rational numbers, so that their moments are exact and a range that is a
point is one to the last digit; beside it stands the range found from the same moments rounded to
float64, as anyone who measures a response has them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_value
from tacit.draw import Figure
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._errors import UsageError
from tacit.experiments._parameter import parameter
from tacit.experiments.lowdim._threshold_draw import draw_threshold
from tacit.experiments.lowdim._threshold_widths import widths_at
from tacit.store import ENDS, ORDER, SEED, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

WORDS = {
    0: "atoms inside the support",
    1: "one atom on an end of the support",
    2: "atoms on both ends of the support",
}


@dataclass(frozen=True, kw_only=True)
class ThresholdConfig(Config):
    """Parameters of lowdim/threshold."""

    order: tuple[int, ...] = parameter(
        (1, 2, 3, 4, 5, 6), "order d̂ of the teacher, its atoms", low=1, high=10, swept=True
    )
    ends: tuple[int, ...] = parameter(
        (0, 1, 2), "how many of its atoms lie on an end of the support", low=0, high=2, swept=True
    )
    length: tuple[int, ...] = parameter(
        tuple(range(1, 15)), "known lags k", low=1, high=40, units="lags", swept=True
    )
    seed: tuple[int, ...] = parameter(tuple(range(10)), "seed of the teacher", low=0, swept=True)
    lag: int = parameter(20, "the later lag whose range is taken", low=1, high=200)
    jitter: float = parameter(
        0.3, "how far atoms are from even places, in their spacing", low=0.0, high=0.45
    )
    point: float = parameter(
        1e-8, "a range narrower than this is a point", low=0.0, high=1.0, analysis=True
    )

    def check(self) -> None:
        """The lag must be a later one."""
        if self.lag < max(self.length):
            raise UsageError(
                f"lag: received {self.lag}, it must not be among the {max(self.length)} known lags "
                f"0 … {max(self.length) - 1}"
            )


class Threshold(Experiment):
    """The range of a later lag against the number of known lags, for teachers of several orders."""

    id = "lowdim/threshold"
    paper = "lowdim"
    figure = "Lemma 7, beyond the paper"
    summary = "what k lags leave open of a later one, over all balanced students, without training"
    version = 1
    Config = ThresholdConfig
    presets: ClassVar[Mapping[str, ThresholdConfig]] = {
        "smoke": ThresholdConfig(order=(1, 3), ends=(0, 2), length=(1, 2, 4, 5, 6, 7), seed=(0, 1)),
        "quick": ThresholdConfig(),
        "paper": ThresholdConfig(seed=tuple(range(50))),
    }
    batch_by = (ORDER, ENDS)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 10}

    def variables(self, config: ThresholdConfig) -> dict[str, Variable]:
        """Both ends of the range stand beside the truth that lies between them."""
        return {
            "outcome": OUTCOME,
            "low": Variable((), "1", "least value of the later lag"),
            "high": Variable((), "1", "largest value of the later lag"),
            "truth": Variable((), "1", "the teacher's value"),
            "width": Variable((), "1", "width of the range, from exact moments"),
            "width_rounded": Variable((), "1", "width of the range, from moments in float64"),
        }

    def cell(self, batch: Batch, config: ThresholdConfig) -> Mapping[str, Any]:
        """The ranges of one order and placement: all lengths and teachers."""
        from tacit.experiments.lowdim._threshold_ranges import ranges

        return ranges(batch, config)

    def claims(self, dataset: "xarray.Dataset", config: ThresholdConfig) -> list[Claim]:
        """A point from exactly the threshold on, for every teacher."""
        place = "Lemma 7 (ours)"
        found = []
        for ends in config.ends:
            orders = [order for order in config.order if order >= ends]
            if not orders:
                continue
            words = f"With {WORDS[ends]}, for every order and teacher"
            formula = {0: "2d̂ + 1", 1: "2d̂", 2: "2d̂ − 1"}[ends]
            above = widths_at(dataset, "width", orders, ends, lambda k, edge: k >= edge)
            below = widths_at(dataset, "width", orders, ends, lambda k, edge: k < edge)
            found += [
                claim_about_value(
                    above.max() if above.size else np.nan,
                    name=f"{ends} on the ends: a point from {formula}",
                    statement=f"{words}, k ≥ {formula} lags leave one value of lag {config.lag}: "
                    "the widest range is a point.",
                    place=place,
                    at_most=config.point,
                ),
                claim_about_value(
                    below.min() if below.size else np.nan,
                    name=f"{ends} on the ends: open below {formula}",
                    statement=f"{words}, k < {formula} lags leave a range of values of lag "
                    f"{config.lag}: the narrowest range is wider than a point.",
                    place=place,
                    at_least=config.point,
                ),
            ]
        exact, rounded = dataset["width"].values, dataset["width_rounded"].values
        differ = (exact <= config.point) != (rounded <= config.point)
        found.append(
            claim_about_value(
                float(np.sum(differ)),
                name="rounding does not move the threshold",
                statement="Moments rounded to float64 give a point wherever exact ones do, and "
                "only there: ranges that differ in this.",
                place="(ours)",
                at_most=0,
            )
        )
        inside = (dataset["low"] - 1e-9 <= dataset["truth"]) & (
            dataset["truth"] <= dataset["high"] + 1e-9
        )
        found.append(
            claim_about_value(
                float((~inside).sum()),
                name="the teacher is among its students",
                statement="The teacher's own value lies in every range, to 1e-9: ranges that miss "
                "it.",
                place="(ours)",
                at_most=0,
            )
        )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: ThresholdConfig, claims: Sequence[Claim]
    ) -> Figure:
        """Widths against k for each placement, the thresholds found, and what one range does."""
        return draw_threshold(dataset, config, WORDS)
