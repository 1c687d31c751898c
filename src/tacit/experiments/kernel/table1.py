"""kernel, Table 1: who decodes best, on all data and on little?

The comparison: test R² in both directions at the end of the training for a linear RNN, a scaled
convolution and a plain one, beside the paper's numbers, and whether the paper's ordering holds: the
RNN is like the scaled convolution, both win on limited data, the plain one wins on all of it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median
from tacit.draw import Axis, Figure, Mark, Panel, Points, Text
from tacit.experiments._base import Experiment
from tacit.experiments.kernel import _decoding_config as shared
from tacit.experiments.kernel._decoding_config import (
    DIRECTIONS,
    MODELS,
    NOTE,
    PAPER,
    PORTIONS,
    DecodingConfig,
)
from tacit.store import DIRECTION, MODEL, PORTION, SEED, STEP, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray


class Table1(Experiment):
    """R² at the end of the training, beside the paper's."""

    id = "kernel/table1"
    paper = "kernel"
    figure = "Table 1"
    summary = "decoding hand velocity: final R² of an RNN and two convolutions, beside the paper's"
    version = 1
    Config = DecodingConfig
    presets: ClassVar[Mapping[str, DecodingConfig]] = {
        "smoke": DecodingConfig(portion=("share",), seed=(0, 1), width=40, steps=(0, 30)),
        "quick": DecodingConfig(width=300, seed=tuple(range(10)), steps=(0, 100, 400)),
        "paper": DecodingConfig(seed=tuple(range(10)), steps=(0, 100, 400, 1000)),
    }
    batch_by = (PORTION,)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 10}

    def missing(self) -> str | None:
        """The recording, where it is not at hand."""
        from tacit.data import M1_FLINT

        return M1_FLINT.missing()

    def variables(self, config: DecodingConfig) -> dict[str, Variable]:
        """R² of all models at all steps."""
        return shared.variables()

    def coordinates(self, config: DecodingConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """Models, steps and directions."""
        return shared.coordinates(config)

    def cell(self, batch: Batch, config: DecodingConfig) -> Mapping[str, Any]:
        """Train all three models on one portion of the data."""
        from tacit.data import motor_cortex
        from tacit.experiments.kernel._decoding import decode

        return decode(batch, config, motor_cortex())

    def claims(self, dataset: "xarray.Dataset", config: DecodingConfig) -> list[Claim]:
        """The ordering, portion by portion and direction by direction."""
        r2 = dataset["r2"].isel({STEP: -1})
        found = []
        for portion in config.portion:
            limited = portion != "whole"
            place = "Table 1" + (", limited data" if limited else "")
            theirs = PAPER["limited" if limited else "whole"]
            for number, direction in enumerate(DIRECTIONS):
                scores = {
                    name: r2.sel({PORTION: portion, DIRECTION: direction, MODEL: name}).values
                    for name in MODELS
                }
                told = "; ".join(
                    f"{words} {np.median(scores[name]):.3f} (paper {theirs[name][number]:.3f})"
                    for name, words in MODELS.items()
                )
                found.append(
                    claim_about_median(
                        abs(scores["rnn"] - scores["scaled"]),
                        name=f"{portion}, {direction}: RNN like scaled",
                        statement=f"On {PORTIONS[portion]} in {direction}, R² of RNN and scaled "
                        f"convolution differ by at most 0.02. {told}.",
                        place=place,
                        at_most=0.02,
                    )
                )
                better, worse = ("scaled", "plain") if limited else ("plain", "scaled")
                found.append(
                    claim_about_median(
                        scores[better] - scores[worse],
                        name=f"{portion}, {direction}: {better} convolution wins",
                        statement=f"On {PORTIONS[portion]} in {direction}, the {better} "
                        f"convolution's R² is above the {worse} one's. {told}.",
                        place=place,
                        at_least=0.0,
                    )
                )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: DecodingConfig, claims: Sequence[Claim]
    ) -> Figure:
        """Our R² beside the paper's, with the numbers."""
        r2 = dataset["r2"].isel({STEP: -1})
        panels = []
        for number, direction in enumerate(DIRECTIONS):
            marks: list[Mark] = []
            ticks = {}
            for place, portion in enumerate(config.portion):
                ticks[float(place)] = {"whole": "all", "minutes": "4.5 min", "share": "9%"}[portion]
                theirs = PAPER["whole" if portion == "whole" else "limited"]
                for colour, (name, words) in enumerate(MODELS.items()):
                    x = place + 0.31 * (colour - 1)
                    ours = r2.sel({PORTION: portion, DIRECTION: direction, MODEL: name}).values
                    middle = float(np.median(ours))
                    side = "above" if middle >= theirs[name][number] else "below"
                    marks += [
                        Points([x], [middle], label=words, colour=colour, size=8.0),
                        Points(
                            [x],
                            [theirs[name][number]],
                            label="the paper's" if colour == 0 else None,
                            colour=colour,
                            marker="D",
                            filled=False,
                            size=8.0,
                        ),
                        Text(x, middle, f"{middle:.3f}".replace("-", "−"), anchor=side),
                    ]
            panels.append(
                Panel(
                    f"direction {direction}",
                    Axis("training data", ticks=ticks, limits=(-0.6, len(config.portion) - 0.4)),
                    Axis("R² on test data"),
                    marks,
                    legend="outside",
                )
            )
        numbers = []
        for portion in config.portion:
            theirs = PAPER["whole" if portion == "whole" else "limited"]
            for number, direction in enumerate(DIRECTIONS):
                chosen = r2.sel({PORTION: portion, DIRECTION: direction})
                pairs = ", ".join(
                    f"{name} {float(chosen.sel({MODEL: name}).median()):.4f} "
                    f"({theirs[name][number]:.4f})"
                    for name in MODELS
                )
                numbers.append(f"{portion} {direction}: {pairs}")
        return Figure(
            "Who decodes best, on all data and on little",
            panels,
            size=(14.0, 6.0),
            caption=(
                f"{NOTE} Filled: ours, medians over {len(config.seed)} starts, after "
                f"{max(config.steps):,} steps, n = {config.width:,}; open: the paper's, of another "
                f"recording (its limited case beside both of ours). Ours (the paper's): "
                f"{'; '.join(numbers)}. {ordering(claims)}"
            ),
        )


def ordering(claims: Sequence[Claim]) -> str:
    """Whether the paper's ordering holds, in a sentence."""
    asked = [claim for claim in claims if "wins" in claim.name]
    words = [f"{claim.name.split(':')[0]} {claim.verdict}" for claim in asked]
    return f"The paper's ordering of scaled and plain convolution: {'; '.join(words)}."
