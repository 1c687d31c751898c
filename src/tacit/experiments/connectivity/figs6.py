"""connectivity, Figure S6: the training behind Figure 5, and the spectra of all four matrices.

The comparison: loss and accuracy on training and validation sentences over epochs; singular values
of input and recurrent weights of both layers before and after training, and of their change.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median
from tacit.draw import Figure
from tacit.experiments.connectivity._sentiment import (
    MATRICES,
    SentimentConfig,
    SentimentExperiment,
    leading,
    leading_share,
    learned,
    relative_change,
    surprise,
)
from tacit.experiments.connectivity._sentiment_draw import curve_panel, singular_panel
from tacit.experiments.connectivity.fig5 import QUICK, SMOKE, caption
from tacit.store import SEED, SPLIT, STEP

if TYPE_CHECKING:
    import xarray


class FigS6(SentimentExperiment):
    """Curves, and spectra of every matrix; the networks are those of Figure 5."""

    id = "connectivity/figs6"
    figure = "Figure S6"
    summary = "an LSTM that reads film reviews: loss and accuracy, spectra of all its matrices"
    presets: ClassVar[Mapping[str, SentimentConfig]] = {
        "smoke": SMOKE,
        "quick": QUICK,
        "paper": SentimentConfig(),
    }

    def claims(self, dataset: "xarray.Dataset", config: SentimentConfig) -> list[Claim]:
        """Smooth learning, and the spectra matrix by matrix."""
        losses = dataset["loss"].sel({SPLIT: "train"}).transpose(SEED, STEP).values
        with np.errstate(invalid="ignore"):
            rises = np.nan_to_num(np.diff(losses, axis=1), nan=np.inf).max(axis=1)
        found = [
            claim_about_median(
                rises / losses[:, 0],
                name="learning is smooth",
                statement="The training loss hardly rises from one point of its curve to the next: "
                "by a tenth of its start at most.",
                place="Figure S6(a), section S6",
                at_most=0.1,
            )
        ]
        runs, few = learned(dataset), leading(config)
        for matrix, words in MATRICES.items():
            found += [
                claim_about_median(
                    leading_share(runs, matrix, few),
                    name=f"{matrix}: nearly low-rank",
                    statement=f"{few} singular values of the change of the {words} carry half of "
                    "its squared norm or more.",
                    place="Figure S6(c)–(f)",
                    at_least=0.5,
                    **(surprise(config) if matrix == "input 1" else {}),
                ),
                claim_about_median(
                    relative_change(runs, matrix),
                    name=f"{matrix}: W₀ dominates",
                    statement=f"‖ΔW‖ is at most ‖W₀‖ for the {words}.",
                    place="Figure S6(c)–(f)",
                    at_most=1.0,
                ),
            ]
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: SentimentConfig, claims: Sequence[Claim]
    ) -> Figure:
        """Two panels of curves, four of spectra."""
        return Figure(
            "How the LSTM learned, and what it did to each of its matrices",
            [
                curve_panel(dataset, "loss", "loss"),
                curve_panel(dataset, "accuracy", "accuracy"),
                *(singular_panel(dataset, matrix) for matrix in MATRICES),
            ],
            columns=3,
            caption=caption(dataset, config)
            + f" Curves without dropout, on up to {config.watched} sentences of each split.",
        )
