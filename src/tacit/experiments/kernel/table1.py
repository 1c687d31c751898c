"""kernel, Table 1: who decodes best, on all data and on little?

The comparison: test R² in both directions at the end of the training for a linear RNN, a scaled
convolution and a plain one, beside the paper's numbers, and whether the paper's ordering holds: the
RNN is like the scaled convolution, both win on limited data, the plain one wins on all of it.
"""

import numpy as np
import xarray

from tacit.draw import Axis, Figure, Mark, Panel, Points, Text
from tacit.experiments import Claims
from tacit.experiments.kernel.decoding import (
    COLOURS,
    DIRECTIONS,
    MODELS,
    NOTE,
    PORTIONS,
    DecodingExperiment,
)

TICKS = {"whole": "all", "minutes": "4.5 min", "share": "9%"}
WHOLE = {"rnn": (0.6462, 0.5911), "scaled": (0.6442, 0.5860), "plain": (0.6565, 0.6027)}
LIMITED = {"rnn": (0.6043, 0.4257), "scaled": (0.6046, 0.4234), "plain": (0.5856, 0.3918)}
PAPER = {"whole": WHOLE, "minutes": LIMITED, "share": LIMITED}  # Table 1: R² in x and y


class Table1(DecodingExperiment):
    """Decoding hand velocity: final R² of an RNN and two convolutions, beside the paper's."""

    id, figure = "kernel/table1", "Table 1"

    presets = {
        "smoke": dict(portion="share", seed=range(2), width=40, steps=(0, 30)),
        "quick": dict(width=300, seed=range(20), steps=(0, 100, 400)),
        "paper": dict(seed=range(10), steps=(0, 100, 400, 1000)),
    }

    def scores(self, runs: xarray.Dataset, portion: str, direction: str) -> dict[str, np.ndarray]:
        """R² of each model at the end of the training, seed by seed."""
        final = runs["r2"].isel(step=-1).sel(portion=portion, direction=direction)
        return {name: final.sel(model=name).values for name in MODELS}

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims()
        for portion in self.portion:
            whole = portion == "whole"
            place = "Table 1" if whole else "Table 1, limited data"
            better, worse = ("plain", "scaled") if whole else ("scaled", "plain")
            for number, direction in enumerate(DIRECTIONS):
                scores = self.scores(runs, portion, direction)
                data = f"{PORTIONS[portion]} in {direction}, after {max(self.steps):,} steps"
                told = "; ".join(
                    f"{words} {np.median(scores[name]):.3f} "
                    f"(paper {PAPER[portion][name][number]:.3f})"
                    for name, words in MODELS.items()
                )
                claim.median(
                    f"{portion}, {direction}: RNN like scaled",
                    abs(scores["rnn"] - scores["scaled"]),
                    at_most=0.02,
                    says=f"On {data}, R² of RNN and scaled "
                    f"convolution differ by at most 0.02. {told}.",
                    place=place,
                )
                claim.median(
                    f"{portion}, {direction}: {better} convolution wins",
                    scores[better] - scores[worse],
                    at_least=0.0,
                    says=f"On {data}, the {better} "
                    f"convolution's R² is above the {worse} one's. {told}.",
                    place=place,
                )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        ticks = {float(place): TICKS[portion] for place, portion in enumerate(self.portion)}
        x = Axis("training data", ticks=ticks, limits=(-0.6, len(ticks) - 0.4))
        panels = [
            Panel(
                f"direction {direction}",
                x,
                Axis("R² on test data"),
                [
                    mark
                    for place, portion in enumerate(self.portion)
                    for name, ours in self.scores(runs, portion, direction).items()
                    for mark in _beside(name, place, ours, PAPER[portion][name][number])
                ],
            )
            for number, direction in enumerate(DIRECTIONS)
        ]
        return Figure(
            "Who decodes best, on all data and on little",
            panels,
            size=(14.0, 6.0),
            caption=f"{NOTE} Filled: ours, medians over {len(self.seed)} starts, after "
            f"{max(self.steps):,} steps, n = {self.width:,}; open: the paper's, of another "
            f"recording (its limited case beside both of ours). Ours (the paper's): "
            f"{self._numbers(runs)}. {self.ordering(runs)}",
        )

    def _numbers(self, runs: xarray.Dataset) -> str:
        rows = []
        for portion in self.portion:
            for number, direction in enumerate(DIRECTIONS):
                pairs = ", ".join(
                    f"{name} {np.median(ours):.4f} ({PAPER[portion][name][number]:.4f})"
                    for name, ours in self.scores(runs, portion, direction).items()
                )
                rows.append(f"{portion} {direction}: {pairs}")
        return "; ".join(rows)

    def ordering(self, runs: xarray.Dataset) -> str:
        """Whether the paper's ordering holds, in a sentence."""
        asked = [claim for claim in self.claims(runs) if "wins" in claim.name]
        words = [f"{claim.name.split(':')[0]} {claim.verdict}" for claim in asked]
        return f"The paper's ordering of scaled and plain convolution: {'; '.join(words)}."


def _beside(name: str, place: int, ours: np.ndarray, theirs: float) -> list[Mark]:
    """Our median and the paper's number as points, with ours in words."""
    middle, colour = float(np.median(ours)), COLOURS[name]
    x = place + 0.31 * (colour - 1)
    words = "the paper's" if colour == 0 else None
    side = "above" if middle >= theirs else "below"
    return [
        Points([x], [middle], label=MODELS[name], colour=colour, size=8.0),
        Points([x], [theirs], label=words, colour=colour, marker="D", filled=False, size=8.0),
        Text(x, middle, f"{middle:.3f}".replace("-", "−"), anchor=side),
    ]
