"""kernel, Figure 4: decoding movement from a recording, along the training.

The comparison: R² on test data along the training, in both directions, for a linear RNN, a scaled
convolution and a plain one, on all training data and on limited portions.
"""

import xarray

from tacit.draw import Axis, Figure, Panel, range_lines
from tacit.experiments import Claims, Finding
from tacit.experiments.kernel.decoding import (
    COLOURS,
    DIRECTIONS,
    MODELS,
    PAPERS,
    PORTIONS,
    DecodingExperiment,
)

NEARER = 0.5  # of the plain convolution's distance: at one the RNN would be like either
LIKE = 0.0051  # the largest difference of the two in the paper's own Table 1
RISING = (
    "the kernel at this width is some per cent away from its limit, which shows where R² rises "
    "steeply; at the end the two are as near as in the paper's table (table1)"
)
STYLES = {"rnn": "solid", "scaled": "dashed", "plain": "solid"}


class Fig4(DecodingExperiment):
    """Decoding hand velocity: R² along the training of an RNN and two convolutions."""

    id, figure = "kernel/fig4", "Figure 4"
    finding = Finding(
        "On recordings that are not the paper's, R² of a linear RNN and of the scaled convolution "
        "differ along the training by {synthetic} at most once it is positive (synthetic).",
        "On motor cortex they differ by {m1}: much the same dynamics, if not identical ones.",
        synthetic="synthetic, whole: together once R² is positive",
        m1="m1, whole: together once R² is positive",
    )
    from_theory = ("train_sequences",)

    presets = {
        "smoke": dict(portion="minutes", seed=range(2), width=40, steps=(0, 10, 30)),
        "quick": dict(
            portion=("whole", "minutes"), width=300, steps=(0, 3, 10, 30, 100), seed=range(12)
        ),
        "paper": dict(recording=("synthetic", "m1")),
    }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims()
        rnn, scaled, plain = (runs["r2"].sel(model=name, drop=True) for name in MODELS)
        gap, other, way = abs(rnn - scaled), abs(plain - scaled), ("step", "direction")
        for recording in self.recording:
            for portion in self.portion:
                case = dict(recording=recording, portion=portion)
                place = "Figure 4" if recording == PAPERS else "ours: Figure 4, another recording"
                far = gap.where(scaled >= 0).sel(case).max(way)
                told = f"On {recording}, {PORTIONS[portion]}, from where the scaled convolution's"
                claim.median(
                    f"{recording}, {portion}: together once R² is positive",
                    far,
                    at_most=LIKE,
                    says=f"{told} test R² is positive on, that of the RNN with n = {self.width:,} "
                    "never differs from it by more than {bound}, in either direction.",
                    place=f"{place}: identical dynamics",
                    fails_because=RISING,
                )
                claim.median(
                    f"{recording}, {portion}: nearer to the scaled than the plain convolution",
                    far / other.where(scaled >= 0).sel(case).max(way),
                    at_most=NEARER,
                    says=f"{told} test R² is positive on, the RNN's largest distance from it is at "
                    "most {bound} of the plain convolution's.",
                    place=place,
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
