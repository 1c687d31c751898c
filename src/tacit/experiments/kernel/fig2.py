"""kernel, Figure 2: the first ten epochs, and what width does to the differences there.

The comparison is that of kernel/fig1 over the first ten epochs, at several widths.
"""

import xarray

from tacit.draw import Axis, Figure, Panel, lines
from tacit.experiments import Claims, Finding
from tacit.experiments.kernel.dynamics import COLOURS, MODELS, STYLES, DynamicsExperiment

PAPERS = 1000  # hidden units


class Fig2(DynamicsExperiment):
    """The first ten epochs of a wide linear RNN and of its kernels, at several widths.

    The paper has n = 1000 only.
    """

    id, figure = "kernel/fig2", "Figure 2"
    published = dict(seed=range(1))
    finding = Finding(
        "Over the first epochs, which the paper's figure enlarges, the training errors of the RNN "
        "and of the scaled convolution come {gap|.1%|holds} of the initial error apart, and this "
        "falls {falls|holds} times from the narrowest to the widest network.",
        gap="first epochs coincide",
        falls="the gap shrinks with width",
    )
    unspecific = {
        "first epochs coincide": "On this scale the curves of narrow networks coincide as well; "
        "what width does is claimed beside it, "
        "and fig1 compares errors with what they are at each epoch.",
    }

    width: tuple[int, ...] = (100, 300, 1000)

    presets = {
        "smoke": dict(width=(40, 160), seed=range(2)),
        "quick": dict(seed=range(20)),
        "paper": dict(seed=range(30), width=(100, 300, 1000, 3000)),
    }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, n, small = Claims("Figure 2"), max(self.width), min(self.width)
        gaps = self.gaps(runs, "train").sel(model="limit")
        claim.median(
            "first epochs coincide",
            gaps.sel(width=n),
            at_most=0.05,
            says=f"Over the first {max(self.epochs)} epochs at n = {n} the training "
            "errors of the RNN and of the scaled convolution never differ by more than "
            "{bound:.0%} of the initial error.",
        )
        if n > small:
            claim.median(
                "the gap shrinks with width",
                gaps.sel(width=small) / gaps.sel(width=n),
                at_least=2.0,
                says=f"From n = {small} to n = {n} the largest difference falls at least "
                "{bound} times.",
                place="section 5.1 (the limit n → ∞)",
            )
        return claim

    def draw_paper(self, runs: xarray.Dataset) -> Figure:
        """At the paper's width, if there is one of it."""
        n = PAPERS if PAPERS in self.width else max(self.width)
        return self.replace(width=n).draw(runs.sel(width=[n]))

    def draw(self, runs: xarray.Dataset) -> Figure:
        title = f"first {max(self.epochs)} epochs, n = {max(self.width):,}, seed 0"
        marks = lines(
            self.gaps(runs, "train").median("seed"),
            "width",
            by="model",
            label=lambda model: MODELS[model],
            colour=COLOURS,
            style=STYLES,
            marker="o",
        )
        return Figure(
            "The first epochs, and what width does",
            [self.curves(runs, "train", title=title, scale="linear")],
            ours=[
                Panel(
                    "largest difference on the way",
                    Axis("hidden units n", scale="log", ticks=sorted(self.width)),
                    Axis("|difference| / initial error", scale="log"),
                    marks,
                    legend="best",
                ),
            ],
            caption=f"As kernel/fig1. (b): medians over {len(self.seed)} seeds. kernel/width has "
            "more widths and the slopes.",
        )
