"""kernel, Figure 4: decoding movement from a recording, along the training.

The comparison: R² on test data along the training, in both directions, for a linear RNN, a scaled
convolution and a plain one, on all training data and on two limited portions.
"""

import xarray

from tacit.data import M1_FLINT
from tacit.draw import Axis, Figure, Panel, range_lines
from tacit.experiments import Claims
from tacit.experiments.kernel.decoding import (
    COLOURS,
    DIRECTIONS,
    MODELS,
    NOTE,
    PORTIONS,
    DecodingExperiment,
)

BELOW = (
    "before that, where R² is far below zero and has no bound, they differ by more: by {:.2f} at "
    "most on the whole way, in the median"
)
STYLES = {"rnn": "solid", "scaled": "dashed", "plain": "solid"}


class Fig4(DecodingExperiment):
    """Decoding hand velocity: R² along the training of an RNN and two convolutions."""

    id, figure = "kernel/fig4", "Figure 4"

    presets = {
        "smoke": dict(portion="share", seed=range(2), width=40, steps=(0, 10, 30)),
        "quick": dict(width=600, seed=range(20), steps=(0, 3, 10, 20, 30, 50, 75, 100)),
        "paper": {},
    }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure 4: identical dynamics")
        rnn, scaled = (runs["r2"].sel(model=name, drop=True) for name in ("rnn", "scaled"))
        gap = abs(rnn - scaled)
        positive, way = gap.where(scaled >= 0), ("step", "direction")
        for portion in self.portion:
            anywhere = float(gap.sel(portion=portion).max(way).median())
            claim.median(
                f"{portion}: together once R² is positive",
                positive.sel(portion=portion).max(way),
                at_most=0.1,
                says=f"On {PORTIONS[portion]} the test R² of the RNN with n = {self.width:,} and "
                "of the scaled convolution never differ by more than 0.1 from where the latter's "
                "is positive on, which is what the paper's figure shows (all start far below "
                "zero), in either direction.",
                note=BELOW.format(anywhere),
            )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        x = Axis("gradient step", scale="symlog", threshold=10)
        y = Axis("R² on test data", limits=(-0.2, 0.75))
        panels = [
            Panel(
                f"{direction}, {PORTIONS[portion]}",
                x,
                y,
                range_lines(
                    runs["r2"].sel(portion=portion, direction=direction),
                    "step",
                    by="model",
                    label=lambda model: MODELS[model],
                    colour=COLOURS,
                    style=STYLES,
                ),
                legend="best",
            )
            for direction in DIRECTIONS
            for portion in self.portion
        ]
        return Figure(
            "Decoding hand velocity: the RNN goes with the scaled convolution",
            panels,
            columns=len(self.portion),
            caption=f"{NOTE} RNN with n = {self.width:,}, T = {self.length}, batches of "
            f"{self.batch}, rate {self.rate:g} on half the summed squared error; all "
            f"models from one start and on the same batches. Medians and whole range over "
            f"{len(self.seed)} seeds; R² below −0.2 is not shown. Data: {M1_FLINT.credit}.",
        )
