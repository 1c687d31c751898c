"""kernel, Figure 1: does a wide linear RNN learn along the curve of a scaled convolution?

The comparison: training and test error of an RNN with n = 1000 under full-batch gradient descent
beside two predictions in closed form, started from the same impulse response: the scaled
convolution, which is the limit of infinite width, and the kernel of this very network at its start.
"""

import xarray

from tacit.draw import Axis, Figure, Panel, median_lines
from tacit.experiments import Claims, Finding
from tacit.experiments.kernel.dynamics import COLOURS, KERNELS, MODELS, STYLES, DynamicsExperiment

SHORT = (*range(11), 12, 15, 20, 25, 30, 40, 50, 65, 80, 100, 130, 160, 200, 250, 300)


class Fig1(DynamicsExperiment):
    """Learning curves of a wide linear RNN, of a scaled convolution, of its own kernel.

    The paper does not say how many epochs it shows.
    """

    id, figure = "kernel/fig1", "Figure 1"
    published = dict(seed=range(1))
    finding = Finding(
        "The errors of a wide linear RNN and of the scaled convolution lie together on the scale "
        "of the paper's figure, {scale|.1%|holds} of the initial error apart at most.",
        "They do not perfectly match: of the error at that epoch they come {apart|.0%|fails} "
        "apart.",
        "The kernel of the network at its start predicts its error to {start|.1%|holds} all the "
        "way.",
        scale="training curves coincide on the scale of the figure",
        apart="limit, of the momentary error",
        start="kernel at start, of the momentary error",
    )

    epochs: tuple[int, ...] = (*SHORT, 400, 500, 650, 800, 1000)

    presets = {
        "smoke": dict(width=160, seed=range(2), epochs=(0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20)),
        "quick": dict(width=500, seed=range(30), epochs=SHORT),
        "paper": {},
    }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, n = Claims("Figure 1"), max(self.width)
        runs = runs.sel(width=n)
        for quantity, words in (("train", "training"), ("test", "test")):
            claim.median(
                f"{words} curves coincide on the scale of the figure",
                self.gaps(runs, quantity).sel(model="limit"),
                at_most=0.05,
                says=f"At n = {n} the {words} errors of the RNN and of the scaled "
                "convolution never differ by more than {bound:.0%} of the initial error.",
            )
        momentary = self.momentary(runs).max("step")
        claim.median(
            "limit, of the momentary error",
            momentary.sel(model="limit"),
            at_most=0.05,
            says=f"At n = {n} the training errors of the RNN and of the scaled "
            "convolution never differ by more than {bound:.0%} of what they are at that epoch.",
            place="Figure 1: the dynamics of these models perfectly match",
            fails_because=f"the kernel at n = {n} is still some per cent away from its limit (like "
            "1/√n), and a rate that is off by so much shows in an error that falls by "
            "orders of magnitude",
        )
        claim.median(
            "kernel at start, of the momentary error",
            momentary.sel(model="start"),
            at_most=0.05,
            says=f"At n = {n} the training errors of the RNN and of its own kernel at "
            "the start never differ by more than {bound:.0%} of what they are at that epoch.",
            place="Proposition 3.1 (ours: with the kernel of the network itself)",
        )
        claim.median(
            "the RNN learns the teacher",
            runs["test"].sel(model="rnn").isel(step=-1) / runs["noise"],
            at_most=2.0,
            says=f"After {max(self.epochs):,} epochs the RNN's test error is at most {{bound}} "
            "times the noise.",
        )
        return claim

    def momentary(self, runs: xarray.Dataset) -> xarray.DataArray:
        """The differences of the training errors over the kernel model's error at that epoch."""
        return self.differences(runs, "train") / runs["train"].sel(model=KERNELS)

    def draw(self, runs: xarray.Dataset) -> Figure:
        later = self.momentary(runs.sel(width=max(self.width))).isel(step=slice(1, None))
        marks = median_lines(
            later,
            "step",
            by="model",
            label=lambda model: MODELS[model],
            colour=COLOURS,
            style=STYLES,
            marker=None,
        )
        return Figure(
            f"A linear RNN with n = {max(self.width):,} learns along its kernel's curve",
            [
                self.curves(runs, "train", title="training error, seed 0", scale="symlog"),
                self.curves(runs, "test", title="test error, seed 0", scale="symlog"),
            ],
            ours=[
                Panel(
                    "how far the RNN is from each",
                    Axis("epoch", scale="log"),
                    Axis("|difference| / error at that epoch", scale="log"),
                    marks,
                    legend="best",
                ),
            ],
            columns=3,
            caption=f"Teacher with {self.units} hidden units, {self.sequences} training and "
            f"{self.sequences} test sequences of length {self.length}, noise at "
            f"{self.decibels:g} dB, full-batch gradient descent with rate {self.rate:g} on "
            "the summed squared error. The predictions are closed forms, not iterated. (c): "
            f"medians over {len(self.seed)} seeds, bands the middle half.",
        )
