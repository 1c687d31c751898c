"""kernel, Figure 4: decoding movement from a recording, along the training.

The comparison: R² on test data along the training, in both directions, for a linear RNN, a scaled
convolution and a plain one, on all training data and on limited portions.
"""

import xarray

from tacit.draw import Axis, Figure, Panel, range_lines
from tacit.experiments import Claims
from tacit.experiments.kernel.decoding import (
    COLOURS,
    DIRECTIONS,
    MODELS,
    PAPERS,
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
        "smoke": dict(portion="minutes", seed=range(2), width=40, steps=(0, 10, 30)),
        "quick": dict(
            portion=("whole", "minutes"), width=300, steps=(0, 3, 10, 30, 100), seed=range(12)
        ),
        "paper": dict(recording=("synthetic", "m1")),
    }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims()
        rnn, scaled = (runs["r2"].sel(model=name, drop=True) for name in ("rnn", "scaled"))
        gap = abs(rnn - scaled)
        positive, way = gap.where(scaled >= 0), ("step", "direction")
        for recording in self.recording:
            for portion in self.portion:
                case = dict(recording=recording, portion=portion)
                anywhere = float(gap.sel(case).max(way).median())
                claim.median(
                    f"{recording}, {portion}: together once R² is positive",
                    positive.sel(case).max(way),
                    at_most=0.1,
                    says=f"On {recording}, {PORTIONS[portion]}, the test R² of the RNN with "
                    f"n = {self.width:,} and of the scaled convolution never differ by more than "
                    "0.1 from where the latter's is positive on, in either direction.",
                    place="Figure 4: identical dynamics"
                    if recording == PAPERS
                    else "ours: Figure 4 on another recording",
                    note=BELOW.format(anywhere),
                )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        x = Axis("gradient step", scale="symlog", threshold=10)
        y = Axis("R² on test data", limits=(-0.2, 0.75))
        panels = [
            Panel(
                f"{direction}, {recording}, {PORTIONS[portion]}",
                x,
                y,
                range_lines(
                    runs["r2"].sel(recording=recording, portion=portion, direction=direction),
                    "step",
                    by="model",
                    label=lambda model: MODELS[model],
                    colour=COLOURS,
                    style=STYLES,
                ),
                legend="best",
            )
            for recording in self.recording
            for direction in DIRECTIONS
            for portion in self.portion
        ]
        return Figure(
            "Decoding hand velocity: the RNN goes with the scaled convolution",
            panels,
            columns=len(self.portion),
            caption=f"{self.caption()} RNN with n = {self.width:,}, T = {self.length}, batches of "
            f"{self.batch}, rate {self.rate:g} on the summed squared error; all models from one "
            f"start and on the same batches. Medians and whole range over {len(self.seed)} seeds; "
            "R² below −0.2 is not shown.",
        )
