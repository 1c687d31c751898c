"""connectivity, Figure S6: the training behind Figure 5, and the spectra of all four matrices.

The comparison: loss and accuracy on training and validation sentences over epochs; singular values
of input and recurrent weights of both layers before and after training, and of their change. The
networks are those of Figure 5.
"""

import numpy as np
import xarray

from tacit.draw import Axis, Figure, Panel, range_lines
from tacit.experiments import Claims
from tacit.experiments.connectivity.sentiment import MATRICES, SPLITS, SentimentExperiment


class FigS6(SentimentExperiment):
    """An LSTM that reads film reviews: loss and accuracy, spectra of all its matrices."""

    id, figure = "connectivity/figs6", "Figure S6"

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure S6(c)–(f)")
        losses = runs["loss"].sel(split="train")
        rises = losses.diff("step").fillna(np.inf).max("step")
        claim.median(
            "learning is smooth",
            rises / losses.isel(step=0),
            at_most=0.1,
            place="Figure S6(a), section S6",
            says=f"In {self.epochs:g} epochs the training loss hardly rises from one point of its "
            "curve to the next: by a tenth of its start at most.",
        )
        for matrix, words in MATRICES.items():
            claim.median(
                f"{matrix}: nearly low-rank",
                self.leading_share(runs, matrix),
                at_least=0.5,
                says=f"After {self.epochs:g} epochs, {self.few} singular values of the change of "
                f"the {words} carry half of its squared norm or more.",
                fails_because=self.memorised if matrix == "input 1" else "",
            )
            claim.median(
                f"{matrix}: W₀ dominates",
                self.relative_change(runs, matrix),
                at_most=1.0,
                says=f"‖ΔW‖ is at most ‖W₀‖ for the {words}.",
            )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        return Figure(
            "How the LSTM learned, and what it did to each of its matrices",
            [
                *(_curve_panel(runs, name) for name in ("loss", "accuracy")),
                *(self.singular_panel(runs, matrix) for matrix in MATRICES),
            ],
            columns=3,
            caption=f"{self.caption(runs)} Curves without dropout, on up to {self.watched} "
            "sentences of each split.",
        )


def _curve_panel(runs: xarray.Dataset, name: str) -> Panel:
    """Loss or accuracy against epochs, on training and validation sentences, of all networks."""
    curves = runs[name].assign_coords(step=runs["epoch"].isel(seed=0).values)
    marks = range_lines(curves, "step", by="split", label=lambda split: SPLITS[split])
    return Panel(name, Axis("epoch"), Axis(name), marks)
