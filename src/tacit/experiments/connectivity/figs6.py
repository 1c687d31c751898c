"""connectivity, Figure S6: the training behind Figure 5, and the spectra of all four matrices.

The comparison: loss and accuracy on training and validation sentences over epochs, at the printed
rate and at a tenth of it, with points of the published curves; singular values of input and
recurrent weights of both layers before and after training, and of their change. The networks are
those of Figure 5.
"""

import numpy as np
import xarray

from tacit.draw import Axis, Figure, Panel, Points, range_lines
from tacit.experiments import Claims
from tacit.experiments.connectivity.lstm_truncation import MATRICES
from tacit.experiments.connectivity.sentiment import SPLITS, SentimentExperiment

EPOCHS = (30, 50, 100, 200, 300, 400, 500)
PUBLISHED = {
    ("loss", "train"): (0.61, 0.58, 0.55, 0.505, 0.465, 0.42, 0.365),
    ("loss", "dev"): (0.595, 0.57, 0.535, 0.505, 0.485, 0.49, 0.50),
    ("accuracy", "train"): (0.69, 0.71, 0.735, 0.755, 0.785, 0.81, 0.84),
    ("accuracy", "dev"): (0.72, 0.735, 0.75, 0.755, 0.765, 0.78, 0.79),
}
"""The published network at `EPOCHS`, read off Figures S6(a) and (b) to about 0.005."""
PASSES = 24.0  # epochs; where its validation accuracy passes 0.6, read off to about 2
FROM = 50  # epochs; before, a few epochs sooner or later make all the difference


class FigS6(SentimentExperiment):
    """An LSTM that reads film reviews: loss and accuracy, spectra of all its matrices."""

    id, figure = "connectivity/figs6", "Figure S6"

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure S6(a, b)")
        slow, fast = runs.sel(rate=min(self.rate)), runs.sel(rate=max(self.rate))
        if self.published:
            at = f"At the rate {min(self.rate):g}/N,"
            late = _passes(slow) / PASSES
            claim.fraction(
                "starts as published",
                ((late >= 1 / 1.5) & (late <= 1.5)).where(np.isfinite(late)),
                at_least=0.5,
                says=f"{at} validation accuracy passes 0.6 within a factor of 1.5 of the published "
                f"network's epoch, about {PASSES:g}.",
            )
            for split, words in SPLITS.items():
                claim.median(
                    f"{words} accuracy as published",
                    _distance(slow, split),
                    at_most=0.03,
                    says=f"{at} {words} accuracy stays within 0.03 of the published curve from "
                    f"epoch {FROM} on.",
                )
            claim.median(
                "validation loss does not rise",
                _rise(slow),
                at_most=1.1,
                says=f"{at} validation loss ends within a tenth of its least.",
            )
        if len(self.rate) > 1:
            at = f"At the rate {max(self.rate):g}/N"
            claim.median(
                "the printed rate is faster",
                _passes(slow) / _passes(fast),
                at_least=5.0,
                place="ours",
                says=f"{at} validation accuracy passes 0.6 at least five times sooner than at "
                f"{min(self.rate):g}/N.",
            )
            claim.median(
                "the printed rate memorises",
                fast["final_accuracy"].sel(split="train"),
                at_least=0.99,
                place="ours",
                says=f"{at}, {self.epochs:g} epochs know the training sentences by heart: without "
                "dropout 99% of them are told right or more.",
            )
            claim.median(
                "memorising raises validation loss",
                _rise(fast),
                at_least=2.0,
                place="ours",
                says=f"{at} validation loss ends at twice its least or more.",
            )
        for matrix, words in MATRICES.items():
            claim.median(
                f"{matrix}: nearly low-rank",
                self.leading_share(slow, matrix),
                at_least=0.5,
                place="Figure S6(c)–(f), section 4",
                says=f"After {self.epochs:g} epochs, {self.few} singular values of the change of "
                f"the {words} carry half of its squared norm or more.",
            )
            claim.median(
                f"{matrix}: W₀ dominates",
                self.relative_change(slow, matrix),
                at_most=1.0,
                place="Figure S6(c)–(f), section 4",
                says=f"‖ΔW‖ is at most ‖W₀‖ for the {words}.",
            )
        return claim

    @property
    def published(self) -> bool:
        """Whether the published network is like these, but perhaps for its rate."""
        return (self.width, self.epochs, self.batch, self.dropout) == (256, EPOCHS[-1], 64, 0.5)

    def draw(self, runs: xarray.Dataset) -> Figure:
        rates = sorted(self.rate)
        curves = [self._curves(runs, rate, name) for rate in rates for name in ("loss", "accuracy")]
        spectra = [self.singular_panel(runs.sel(rate=rates[0]), matrix) for matrix in MATRICES]
        dots = " Dots: the published network, read off." if self.published else ""
        return Figure(
            "How the LSTM learned, and what it did to each of its matrices",
            [*curves, *spectra],
            columns=3 if len(rates) == 1 else 4,
            caption=f"{self.caption(runs)} Curves on up to {self.watched} sentences of each split, "
            f"training with dropout, validation without. Singular values at the rate "
            f"{rates[0]:g}/N.{dots}",
        )

    def _curves(self, runs: xarray.Dataset, rate: float, name: str) -> Panel:
        """Loss or accuracy against epochs, on training and validation sentences."""
        chosen = runs.sel(rate=rate)
        curves = chosen[name].assign_coords(step=chosen["epoch"].isel(seed=0).values)
        marks = range_lines(curves, "step", by="split", label=lambda split: SPLITS[split])
        if self.published:
            marks += [
                Points(EPOCHS, PUBLISHED[name, split], colour=place)
                for place, split in enumerate(SPLITS)
            ]
        return Panel(f"{name}, rate {rate:g}/N", Axis("epoch"), Axis(name), marks)


def _passes(runs: xarray.Dataset, level: float = 0.6) -> xarray.DataArray:
    """The epoch at which validation accuracy first passes a level, on straight lines; ∞: never."""
    accuracy, epoch = runs["accuracy"].sel(split="dev").values, runs["epoch"].values
    found = []
    for curve, at in zip(accuracy, epoch, strict=True):
        there = np.flatnonzero(curve >= level)
        k = there[0] if there.size else 0
        share = (level - curve[k - 1]) / (curve[k] - curve[k - 1]) if k else 0.0
        when = at[k - 1] + share * (at[k] - at[k - 1]) if k else at[0]
        found.append(when if there.size else np.nan if np.isnan(curve).all() else np.inf)
    return xarray.DataArray(found, {"seed": runs["seed"]}, "seed")


def _distance(runs: xarray.Dataset, split: str) -> xarray.DataArray:
    """The largest distance from the published accuracy at its epochs from `FROM` on."""
    published = np.array([EPOCHS, PUBLISHED["accuracy", split]])[:, np.array(EPOCHS) >= FROM]
    curves = runs["accuracy"].sel(split=split).values
    found = [
        np.abs(np.interp(published[0], at, curve) - published[1]).max()
        for curve, at in zip(curves, runs["epoch"].values, strict=True)
    ]
    return xarray.DataArray(found, {"seed": runs["seed"]}, "seed")


def _rise(runs: xarray.Dataset) -> xarray.DataArray:
    """Validation loss at the end, over its least."""
    losses = runs["loss"].sel(split="dev")
    return losses.isel(step=-1) / losses.min("step")
