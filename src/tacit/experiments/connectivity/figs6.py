"""connectivity, Figure S6: the training behind Figure 5, and the spectra of all four matrices.

The comparison: loss and accuracy on training and validation sentences over epochs, at the printed
rate and at a tenth of it, with points of the published curves; singular values of input and
recurrent weights of both layers before and after training, and of their change. The networks are
those of Figure 5.
"""

import numpy as np
import xarray

from tacit.claims import Finding
from tacit.draw import Axis, Figure, Panel, Points, range_lines
from tacit.experiments import Claims
from tacit.experiments.connectivity.lstm_truncation import MATRICES
from tacit.experiments.connectivity.sentiment import SPLITS, SentimentExperiment
from tacit.measures import crossing

EPOCHS = (30, 50, 100, 200, 300, 400, 500)
PUBLISHED = {
    ("loss", "train"): (0.61, 0.58, 0.55, 0.505, 0.465, 0.42, 0.365),
    ("loss", "dev"): (0.595, 0.57, 0.535, 0.505, 0.485, 0.49, 0.50),
    ("accuracy", "train"): (0.69, 0.71, 0.735, 0.755, 0.785, 0.81, 0.84),
    ("accuracy", "dev"): (0.72, 0.735, 0.75, 0.755, 0.765, 0.78, 0.79),
}
"""The published network at `EPOCHS`, read off Figures S6(a) and (b) to about 0.01."""
CURVES = "Figure S6(a, b)"
SOONER = "at the printed rate learning begins about ten times sooner than in the published network"
PASSES = 24  # epochs; where its validation accuracy passes 0.6, read off to about 2


class FigS6(SentimentExperiment):
    """An LSTM that reads film reviews: loss and accuracy, spectra of all its matrices."""

    id, figure = "connectivity/figs6", "Figure S6"
    published = dict(rate=0.01, seed=range(1))
    finding = Finding(
        "At the larger rate, which is the printed one, networks learn {faster|holds|.0f} times "
        "sooner than at the smaller, and know the training sentences by heart in the end "
        "({heart|holds|.0%} told right).",
        "At the smaller they follow the published curves from epoch fifty on, to {train|holds} "
        "of training and {dev|holds} of validation accuracy{?start|holds}.",
        "The change is of low rank and smaller than what it changes in the second layer's "
        "recurrent weights, with {share|holds} of its squared norm in its largest singular values "
        "and {small|holds} times the norm of W₀.",
        faster="the larger rate is faster",
        heart="the larger rate memorises",
        train="training accuracy as published",
        dev="validation accuracy as published",
        start="starts as published",
        share="recurrent 2: nearly low-rank",
        small="recurrent 2: W₀ dominates",
    )

    @property
    def comparable(self) -> bool:
        """Whether the published network is like these, but perhaps for its rate."""
        return (self.width, self.epochs, self.batch, self.dropout) == (256, EPOCHS[-1], 64, 0.5)

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure S6(c)–(f), section 4")
        slow, fast = (runs.sel(rate=choose(self.rate)) for choose in (min, max))
        if self.comparable:
            _as_published(claim, slow, f"At the rate {min(self.rate):g}/N")
            if len(self.rate) > 1:
                _starts(claim, fast, "starts as published, larger rate",
                        f"At the rate {max(self.rate):g}/N", fails_because=SOONER)  # fmt: skip
        if len(self.rate) > 1:
            claim.median(
                "the larger rate is faster",
                _passes(slow) / _passes(fast),
                at_least=5.0,
                place="ours",
                says=f"At the rate {max(self.rate):g}/N validation accuracy passes 0.6 at least "
                f"{{bound}} times sooner than at {min(self.rate):g}/N.",
            )
            claim.median(
                "the larger rate memorises",
                fast["final_accuracy"].sel(split="train"),
                at_least=0.99,
                place="ours",
                says=f"At the rate {max(self.rate):g}/N, {self.epochs:g} epochs know the training "
                "sentences by heart: without dropout {bound:.0%} of them are told right, or more.",
            )
        for matrix, words in MATRICES.items():
            claim.median(
                f"{matrix}: nearly low-rank",
                self.leading_share(slow, matrix),
                at_least=0.5,
                says=f"At the rate {min(self.rate):g}/N, after {self.epochs:g} epochs, {self.few} "
                f"singular values of the change of the {words} carry {{bound}} of its squared norm "
                "or more.",
            )
            claim.median(
                f"{matrix}: W₀ dominates",
                self.relative_change(slow, matrix),
                at_most=1.0,
                says=f"At the rate {min(self.rate):g}/N ‖ΔW‖ is at most {{bound}} times ‖W₀‖ for "
                f"the {words}.",
            )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        rates = sorted(self.rate)
        curves = [self._curves(runs, rate, name) for rate in rates for name in ("loss", "accuracy")]
        spectra = [self.singular_panel(runs.sel(rate=rates[0]), matrix) for matrix in MATRICES]
        dots = " Points: the published network, read off." if self.comparable else ""
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
        points = [
            Points(EPOCHS, PUBLISHED[name, split], colour=place)
            for place, split in enumerate(SPLITS if self.comparable else ())
        ]
        return Panel(f"{name}, rate {rate:g}/N", Axis("epoch"), Axis(name), marks, ours=points)


def _as_published(claim: Claims, runs: xarray.Dataset, at: str) -> None:
    """The learning curve against that of the published network."""
    _starts(claim, runs, "starts as published", at)
    for split, words in SPLITS.items():
        # Before epoch 50 a few epochs sooner or later make all the difference.
        points = np.array([EPOCHS, PUBLISHED["accuracy", split]])[:, np.array(EPOCHS) >= 50]
        each = zip(runs["epoch"].values, runs["accuracy"].sel(split=split).values, strict=True)
        claim.median(
            f"{words} accuracy as published",
            [np.abs(np.interp(points[0], *curve) - points[1]).max() for curve in each],
            at_most=0.03,
            place=CURVES,
            says=f"{at} {words} accuracy stays within {{bound}} of the published curve from epoch "
            "50 on.",
        )
    losses = runs["loss"].sel(split="dev")
    claim.median(
        "validation loss does not rise",
        losses.isel(step=-1) / losses.min("step"),
        at_most=1.1,
        place=CURVES,
        says=f"{at} validation loss ends at {{bound}} times its least or less.",
    )


def _starts(claim: Claims, runs: xarray.Dataset, name: str, at: str, **words: str) -> None:
    """When learning begins, against the published network."""
    claim.fraction(
        name,
        np.abs(np.log(_passes(runs) / PASSES)) <= np.log(1.5),
        at_least=0.5,
        place=CURVES,
        says=f"{at} validation accuracy passes 0.6 within a factor of 1.5 of the epoch at which "
        f"the published network's does, about {PASSES}, in most networks.",
        fails_because=words.get("fails_because", ""),
    )


def _passes(runs: xarray.Dataset) -> np.ndarray:
    """The epoch at which each network's validation accuracy first passes 0.6."""
    return np.asarray(crossing(runs["epoch"], runs["accuracy"].sel(split="dev"), 0.6))
