"""connectivity, Figure 2: how the strength of initial connectivity changes learning.

The comparison: epochs to 5% of the initial loss, norm of ΔW, loss after shuffling W₀ and functional
rank against g, on three tasks. Networks that did not learn are counted, and left out of the last
three, which say nothing about a task that was not learned.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_mean, claim_about_median
from tacit.draw import Axis, Band, Figure, HorizontalRule, Line, Mark, Panel, Points
from tacit.experiments.connectivity._tasks import (
    TaskConfig,
    TaskExperiment,
    epoch_ratios,
    finished,
    lost_again,
)
from tacit.store import SEED, STRENGTH, TASK

if TYPE_CHECKING:
    import xarray

QUANTITIES = {
    "epochs_needed": "epochs to learn",
    "change_norm": "norm of ΔW",
    "shuffled_loss": "loss with W₀ shuffled / initial loss",
    "rank_text": "functional rank",
}
BEST = 0.9  # up to about here networks are not chaotic


class Fig2(TaskExperiment):
    """Epochs, change, shuffled loss and functional rank against g."""

    id = "connectivity/fig2"
    figure = "Figure 2"
    summary = "three tasks against the strength of initial connectivity"
    presets: ClassVar[Mapping[str, TaskConfig]] = {
        "smoke": TaskConfig(
            task=("flip-flop",), g=(0.0, 0.9), width=24, effort=0.04, trials=32, ranks=4, shown=8,
            seed=(0, 1),
        ),
        "quick": TaskConfig(
            task=("flip-flop",), g=(0.0, 0.3, 0.6, 0.9, 1.2), width=64, effort=0.2, trials=128,
            ranks=12, seed=tuple(range(10)),
        ),
        "paper": TaskConfig(g=(0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1.05, 1.2, 1.35, 1.5)),
    }  # fmt: skip

    def claims(self, dataset: "xarray.Dataset", config: TaskConfig) -> list[Claim]:
        """Faster with a smaller change, which relies on W₀."""
        found: list[Claim] = []
        strengths = [g for g in config.g if g <= BEST]
        weak, strong = min(strengths), max(strengths)
        if weak == strong:
            return found
        for task in config.task:
            slow, fast = (dataset.sel({TASK: task, STRENGTH: g}) for g in (weak, strong))
            where = f"On {task}, from g = {weak:g} to g = {strong:g}"
            both = np.isfinite(slow["epochs_needed"].values) & np.isfinite(
                fast["epochs_needed"].values
            )
            found.append(
                claim_about_median(
                    epoch_ratios(dataset, task, weak, strong),
                    name=f"{task}: faster",
                    statement=f"{where}, learning gets faster: the median ratio of epochs is at "
                    "most 1.",
                    place="Figure 2(a)",
                    at_most=1.0,
                )
            )
            norms = (fast["change_norm"].values / slow["change_norm"].values)[both]
            found.append(
                claim_about_mean(
                    norms,
                    name=f"{task}: smaller change",
                    statement=f"{where}, the norm of ΔW shrinks: the mean ratio is at most 1.",
                    place="Figure 2(b)",
                    at_most=1.0,
                )
            )
            found.append(
                claim_about_median(
                    finished(dataset, task, strong)["shuffled_loss"].values,
                    name=f"{task}: shuffled",
                    statement=f"On {task} with g = {strong:g}, shuffling W₀ brings the loss back: "
                    "the median is 0.5 of the initial loss or more.",
                    place="Figure 2(c)",
                    at_least=0.5,
                )
            )
            ranks = np.concatenate(
                [finished(dataset, task, g)["rank_text"].values for g in strengths]
            )
            found.append(
                claim_about_median(
                    ranks,
                    name=f"{task}: functional rank",
                    statement=f"On {task}, the median functional rank of the networks with g ≤ "
                    f"{strong:g} that learned is 10 at most.",
                    place="Figure 2(d)",
                    at_most=10,
                )
            )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: TaskConfig, claims: Sequence[Claim]
    ) -> Figure:
        """One panel a quantity, one colour a task."""
        return Figure(
            "With initial connectivity networks learn faster, with a smaller change that needs it",
            [_panel(dataset, config, name) for name in QUANTITIES],
            columns=2,
            caption=(
                f"N = {config.width}, {dataset.sizes[SEED]} networks for each g: mean and standard "
                "deviation over those that learned the task, points: each of them. "
                + _left_out(dataset, config)
                + lost_again(dataset)
            ),
        )


def _panel(dataset: "xarray.Dataset", config: TaskConfig, name: str) -> Panel:
    marks: list[Mark] = []
    if name == "shuffled_loss":
        marks.append(HorizontalRule(1.0, label="before training"))
    for colour, task in enumerate(config.task):
        xs, means, deviations = [], [], []
        for g in sorted(config.g):
            values = finished(dataset, task, g)[name].values
            values = values[np.isfinite(values)]
            if values.size:
                xs.append(g)
                means.append(values.mean())
                deviations.append(values.std())
                marks.append(
                    Points(np.full(values.size, g), values, colour=colour, size=3.0, opacity=0.5)
                )
        if not xs:
            continue
        x, mean, deviation = np.array(xs), np.array(means), np.array(deviations)
        marks.append(Band(x, mean - deviation, mean + deviation, colour=colour))
        marks.append(Line(x, mean, label=task, colour=colour, marker="o"))
    log = name == "epochs_needed"
    return Panel(
        QUANTITIES[name],
        Axis("g"),
        Axis(QUANTITIES[name], scale="log" if log else "linear", limits=None if log else (0, None)),
        marks,
        legend="outside",
    )


def _left_out(dataset: "xarray.Dataset", config: TaskConfig) -> str:
    """The networks that did not learn, by task and g, and how many have no functional rank."""
    words = []
    for task in config.task:
        for g in sorted(config.g):
            runs = dataset.sel({TASK: task, STRENGTH: g})
            missing = runs.sizes[SEED] - finished(dataset, task, g).sizes[SEED]
            if missing:
                words.append(f"{missing} of {task} at g = {g:g}")
    found = f"Did not learn: {', '.join(words)}." if words else "Every network learned."
    learned = dataset["outcome"].values == "converged"
    endless = int((learned & np.isinf(dataset["rank_text"].values)).sum())
    if endless:
        found += (
            f" {endless} of the others are below {config.fraction:.0%} on the fixed trials at no "
            f"rank up to {config.ranks}: not drawn in the last panel."
        )
    return found
