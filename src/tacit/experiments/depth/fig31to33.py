"""depth, Figures 31 to 33: warm against cold start on one entry more of a 2 × 2 matrix.

Figure 31's caption says w₁₂ = 0.5, the text about it w₁₂ = 0.1: both are shown. The text's numbers
(a bound of 1.45 on the stable rank, 1.8 observed) belong to one of them.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_value
from tacit.experiments.depth._two_by_two import TwoByTwo, TwoByTwoConfig
from tacit.store import ADDED, RATIO, STAGE

if TYPE_CHECKING:
    import xarray

TEXT, CAPTION = 0.1, 0.5
MEASURED = 1.8189
"""Stable rank after the warm start at m = ∞, w* = 1, w₁₂ = 0.1, in an earlier run."""


def _presets(**options: Any) -> Mapping[str, TwoByTwoConfig]:
    whole = TwoByTwoConfig(**options)
    return {
        "smoke": TwoByTwoConfig(**options, ratio=(2.0, 100.0, float("inf"))),
        "quick": whole,
        "paper": whole,
    }


class Fig31(TwoByTwo):
    """w* = 1 on the diagonal; w₁₂ as in the caption and as in the text."""

    id = "depth/fig31"
    figure = "Figure 31"
    summary = "warm against cold start, 2 × 2: the caption's w₁₂ = 0.5 and the text's 0.1"
    presets: ClassVar[Mapping[str, TwoByTwoConfig]] = _presets(added=(CAPTION, TEXT))

    def claims(self, dataset: "xarray.Dataset", config: TwoByTwoConfig) -> list[Claim]:
        """Those of all three figures, and which w₁₂ the text's numbers belong to."""
        found = super().claims(dataset, config)
        setting = (config.first, config.second, config.depth, config.scale)
        if setting != (1.0, 1.0, 2, 1e-3) or np.inf not in config.ratio:
            return found
        ends = dataset["stable_rank"].sel({RATIO: np.inf, STAGE: "warm"})
        for value, name in ((TEXT, "text"), (CAPTION, "caption")):
            if value not in config.added:
                continue
            rank = float(ends.sel({ADDED: value}))
            found.append(
                claim_about_value(
                    abs(rank - 1.8),
                    name=f"the text's 1.8 with the {name}'s w₁₂",
                    statement=f"With w₁₂ = {value:g} the stable rank is about 1.8: within 0.05.",
                    place="appendix C.2 and Figure 31's caption",
                    at_most=0.05,
                    expected="holds" if value == TEXT else "fails",
                    because=""
                    if value == TEXT
                    else "The caption of Figure 31 says w₁₂ = 0.5 and the text 0.1; the text's "
                    "numbers are those of 0.1.",
                )
            )
        if TEXT in config.added:
            found.append(
                claim_about_value(
                    abs(float(ends.sel({ADDED: TEXT})) - MEASURED),
                    name="an earlier run's stable rank",
                    statement=f"With w₁₂ = {TEXT:g} the stable rank is {MEASURED:g} ± 0.001.",
                    place="(ours)",
                    at_most=1e-3,
                )
            )
        return found

    def words(self, config: TwoByTwoConfig) -> str:
        """The contradiction."""
        return (
            f"The paper's caption says w₁₂ = {CAPTION:g}, its text w₁₂ = {TEXT:g} with a stable "
            "rank of about 1.8 at m = ∞ and a bound of 1.45: those numbers belong to the latter."
        )


class Fig32(TwoByTwo):
    """w₁₂ = 10: much to learn."""

    id = "depth/fig32"
    figure = "Figure 32"
    summary = "warm against cold start, 2 × 2: w₁₂ = 10, so that w₂₁ should be 0.1"
    presets: ClassVar[Mapping[str, TwoByTwoConfig]] = _presets(added=(10.0,))

    def title(self, config: TwoByTwoConfig) -> str:
        """Rank does not tell it here, the hidden entry does."""
        return "With much to learn the rank falls, and the hidden entry is wrong all the same"


class Fig33(TwoByTwo):
    """w₁₁ = 1, w₂₂ = 2: unequal entries on the diagonal."""

    id = "depth/fig33"
    figure = "Figure 33"
    summary = "warm against cold start, 2 × 2: diagonal 1 and 2, w₁₂ = 0.5"
    presets: ClassVar[Mapping[str, TwoByTwoConfig]] = _presets(second=2.0, added=(0.5,))

    def title(self, config: TwoByTwoConfig) -> str:
        """As in Figure 31."""
        return "A warm start keeps the rank of the first fit, also from an unequal diagonal"
