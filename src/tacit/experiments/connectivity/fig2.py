"""connectivity, Figure 2: how the strength of initial connectivity changes learning.

The comparison: epochs to 5% of the initial loss, norm of ΔW, loss after shuffling W₀ and functional
rank against g, on three tasks. Networks that did not learn are counted, and left out of the last
three, which say nothing about a task that was not learned.
"""

import numpy as np
import xarray

from tacit.draw import Axis, Figure, HorizontalRule, Mark, Panel, mean_lines, run_points
from tacit.experiments import Claims
from tacit.experiments.connectivity.tasks import WeightsExperiment

QUANTITIES = {
    "epochs_needed": "epochs to learn",
    "change_norm": "norm of ΔW",
    "shuffled_loss": "loss with W₀ shuffled / initial loss",
    "rank_text": "functional rank",
}
BEST = 0.9  # up to about here networks are not chaotic


class Fig2(WeightsExperiment):
    """Three tasks against the strength of initial connectivity."""

    id, figure = "connectivity/fig2", "Figure 2"

    g: tuple[float, ...] = (0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1.05, 1.2, 1.35, 1.5)

    presets = {
        "smoke": dict(task="flip-flop", g=(0.0, 0.9), width=24, effort=0.04, trials=32, ranks=4,
                      shown=8, seed=range(2)),
        "quick": dict(task="flip-flop", g=(0.0, 0.3, 0.6, 0.9, 1.2), width=64, effort=0.2,
                      trials=128, ranks=12, seed=range(10)),
        "paper": {},
    }  # fmt: skip

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure 2(a)")
        strengths = [g for g in self.g if g <= BEST]
        weak, strong = min(strengths), max(strengths)
        if weak == strong:
            return claim
        shuffled, ranks = (self.counted(runs, name) for name in ("shuffled_loss", "rank_text"))
        for task in self.task:
            slow, fast = (runs.sel(task=task, g=g, drop=True) for g in (weak, strong))
            both = np.isfinite(slow["epochs_needed"]) & np.isfinite(fast["epochs_needed"])
            where = f"On {task}, from g = {weak:g} to g = {strong:g}"
            claim.median(
                f"{task}: faster",
                self.epoch_ratios(runs, task, weak, strong),
                at_most=1.0,
                says=f"{where}, learning gets faster: the median ratio of epochs is at most 1.",
            )
            claim.median(
                f"{task}: smaller change",
                (fast["change_norm"] / slow["change_norm"]).where(both),
                at_most=1.0,
                place="Figure 2(b)",
                says=f"{where}, the norm of ΔW shrinks: the median ratio is at most 1.",
            )
            claim.median(
                f"{task}: shuffled",
                shuffled.sel(task=task, g=strong),
                at_least=0.5,
                place="Figure 2(c)",
                says=f"On {task} with g = {strong:g}, shuffling W₀ brings the loss back: the "
                "median is 0.5 of the initial loss or more.",
            )
            claim.median(
                f"{task}: functional rank",
                ranks.sel(task=task, g=strengths).median("g"),
                at_most=10,
                place="Figure 2(d)",
                says=f"On {task}, the functional rank is 10 at most: the median over seeds of "
                f"each seed's median over the g ≤ {strong:g} with which it learned.",
            )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        return Figure(
            "With initial connectivity networks learn faster, with a smaller change that needs it",
            [self._panel(runs, name) for name in QUANTITIES],
            columns=2,
            caption=f"N = {self.width}, {len(self.seed)} networks for each g: mean and standard "
            "deviation over those that learned the task, points: each of them. "
            f"{self._left_out(runs)}{self.lost_again(runs)}",
        )

    def _panel(self, runs: xarray.Dataset, name: str) -> Panel:
        values = self.counted(runs, name)
        values = values.where(np.isfinite(values))
        marks: list[Mark] = []
        if name == "shuffled_loss":
            marks.append(HorizontalRule(1.0, label="before training"))
        marks += run_points(values, "g", by="task") + mean_lines(values, "g", by="task")
        log = name == "epochs_needed"
        look = dict(scale="log") if log else dict(limits=(0, None))
        return Panel(QUANTITIES[name], Axis("g"), Axis(QUANTITIES[name], **look), marks)

    def _left_out(self, runs: xarray.Dataset) -> str:
        """The networks that did not learn, by task and g, and how many have no functional rank."""
        missing = (~self.counts(runs)).sum("seed")
        words = [
            f"{count} of {task} at g = {g:g}"
            for task in self.task
            for g in sorted(self.g)
            if (count := missing.sel(task=task, g=g).item())
        ]
        found = f"Did not learn: {', '.join(words)}." if words else "Every network learned."
        endless = int((self.counts(runs) & np.isinf(runs["rank_text"])).sum())
        if endless:
            found += (
                f" {endless} of the others are below {self.fraction:.0%} on the fixed trials at no "
                f"rank up to {self.ranks}: not drawn in the last panel."
            )
        return found
