"""connectivity, Figure 5: a language task changes a two-layer LSTM by matrices of low rank.

The comparison: singular values of the recurrent weights before and after training and of their
change; validation accuracy when the change ΔW is truncated at a rank, W₀ being kept, against
truncating W itself.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_fraction, claim_about_median
from tacit.draw import Figure
from tacit.experiments.connectivity._sentiment import (
    NOTE,
    SentimentConfig,
    SentimentExperiment,
    leading,
    leading_share,
    learned,
    relative_change,
    sufficient_ranks,
    surprise,
)
from tacit.experiments.connectivity._sentiment_draw import singular_panel, truncation_panel
from tacit.store import SEED, SPLIT

if TYPE_CHECKING:
    import xarray

SMOKE = SentimentConfig(
    seed=(0, 1), width=8, epochs=3.0, rate=0.1, longest=8, groups=1, watched=50, points=3
)
QUICK = SentimentConfig(width=32, epochs=12.0, longest=16, groups=1, watched=100, points=10)
"""A small version: an eighth of the units, sentences of 16 words at most."""


class Fig5(SentimentExperiment):
    """Spectra of the second layer, and accuracy after truncation."""

    id = "connectivity/fig5"
    figure = "Figure 5"
    summary = "an LSTM that reads film reviews: low-rank change, truncating ΔW against W"
    presets: ClassVar[Mapping[str, SentimentConfig]] = {
        "smoke": SMOKE,
        "quick": QUICK,
        "paper": SentimentConfig(),
    }

    def claims(self, dataset: "xarray.Dataset", config: SentimentConfig) -> list[Claim]:
        """The paper's ranks, and what it says of the spectra."""
        runs = learned(dataset)
        point = f"{100 * config.margin:g} point{'' if config.margin == 0.01 else 's'}"
        ranks = {kept: sufficient_ranks(runs, kept, config.margin) for kept in ("change", "whole")}
        accuracy = runs["final_accuracy"].sel({SPLIT: "dev"}).values
        told = f" Median validation accuracy: {np.median(accuracy):.3f}." if len(accuracy) else ""
        half, few = config.width / 2, leading(config)
        return [
            claim_about_fraction(
                runs.sizes[SEED],
                dataset.sizes[SEED],
                name="networks learn",
                statement="Most networks learn the task: their training loss falls to three "
                f"quarters of its start or less.{told}",
                place="Figure S6(a)",
                at_least=0.5,
            ),
            claim_about_median(
                ranks["change"],
                name="rank of ΔW that is enough",
                statement="Truncating ΔW at rank 10 is enough: from a median rank of 10 at most "
                f"on, validation accuracy stays within {point} of the trained network's.",
                place="Figure 5(b), section 4",
                at_most=10,
                **surprise(config),
            ),
            claim_about_median(
                ranks["whole"],
                name="rank of W that is enough",
                statement="Truncating W takes more than half of the rank: accuracy stays within "
                f"{point} only from a median rank of N/2 = {half:g} at least on.",
                place="Figure 5(b), section 4",
                at_least=half,
            ),
            claim_about_median(
                ranks["change"] / ranks["whole"],
                name="ΔW needs less than W",
                statement="The rank of ΔW that is enough is half of W's at most.",
                place="Figure 5(b)",
                at_most=0.5,
            ),
            claim_about_median(
                leading_share(runs, "recurrent 2", few),
                name="ΔW is nearly low-rank",
                statement=f"{few} singular values of the change of the second layer's recurrent "
                "weights carry half of its squared norm or more.",
                place="Figure 5(a)",
                at_least=0.5,
            ),
            claim_about_median(
                relative_change(runs, "recurrent 2"),
                name="W₀ dominates",
                statement="The change is smaller than what it changes: ‖ΔW‖ is at most ‖W₀‖ for "
                "the second layer's recurrent weights.",
                place="Figure 5(a)",
                at_most=1.0,
            ),
        ]

    def draw(
        self, dataset: "xarray.Dataset", config: SentimentConfig, claims: Sequence[Claim]
    ) -> Figure:
        """Spectra beside truncations."""
        return Figure(
            "Reading film reviews changes an LSTM by matrices of low rank",
            [
                singular_panel(dataset, "recurrent 2"),
                truncation_panel(dataset, "dev"),
                truncation_panel(dataset, "train"),
            ],
            columns=3,
            caption=caption(dataset, config)
            + " Truncated together: recurrent weights of both layers and input weights of the "
            "second. Shuffling W₀ is a control of ours. Ranks are even up to 10, then logarithmic.",
        )


def caption(dataset: "xarray.Dataset", config: SentimentConfig) -> str:
    """How the networks were trained, and how many learned."""
    shorter = f" Sentences of at most {config.longest} tokens." if config.longest < 60 else ""
    return (
        f"N = {config.width}, {config.epochs:g} epochs of Adam with rate {config.rate:g}/N, "
        f"batches of {config.batch}, dropout {config.dropout:g}; {learned(dataset).sizes[SEED]} of "
        f"{dataset.sizes[SEED]} networks learned: lines are medians, bands ranges. {NOTE}{shorter}"
    )
