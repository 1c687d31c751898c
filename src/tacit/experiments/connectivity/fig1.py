"""connectivity, Figure 1: learning three tasks, with and without initial connectivity.

The comparison: example trials, loss, singular values of ΔW and the loss when ΔW is truncated at a
rank, for the flip-flop, Mante and Romo tasks, at g = 0 and g = 0.9.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_mean, claim_about_median
from tacit.draw import Figure
from tacit.experiments.connectivity._task_draw import (
    loss_panel,
    singular_panel,
    trial_panel,
    truncation_panel,
)
from tacit.experiments.connectivity._tasks import (
    TaskConfig,
    TaskExperiment,
    epoch_ratios,
    finished,
    lost_again,
)
from tacit.experiments.connectivity._trial_run import WIDTH, as_in_the_trial
from tacit.store import SEED, SINGULAR_VALUE

if TYPE_CHECKING:
    import xarray


class Fig1(TaskExperiment):
    """Loss, singular values of the change and truncation on three tasks."""

    id = "connectivity/fig1"
    figure = "Figure 1"
    summary = "three tasks with and without initial connectivity: loss, low-rank change, truncation"
    presets: ClassVar[Mapping[str, TaskConfig]] = {
        "smoke": TaskConfig(
            task=("flip-flop",), width=24, effort=0.04, trials=32, ranks=4, shown=8, seed=(0, 1)
        ),
        "quick": TaskConfig(
            task=("flip-flop",), width=128, effort=0.2, trials=128, ranks=12, seed=tuple(range(10))
        ),
        "paper": TaskConfig(),
    }

    def claims(self, dataset: "xarray.Dataset", config: TaskConfig) -> list[Claim]:
        """Speed, rank and the shuffled control of each task."""
        found: list[Claim] = []
        strongest, weakest = max(config.g), min(config.g)
        for task in config.task:
            for g in config.g:
                found += _of_one(dataset, config, task, g)
            if strongest > weakest:
                found.append(
                    claim_about_median(
                        epoch_ratios(dataset, task, weakest, strongest),
                        name=f"{task}: faster with connectivity",
                        statement=f"On {task}, networks with g = {strongest:g} need fewer epochs "
                        f"than those with g = {weakest:g}: the median ratio is at most 1.",
                        place="Figure 1(d)–(f)",
                        at_most=1.0,
                    )
                )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: TaskConfig, claims: Sequence[Claim]
    ) -> Figure:
        """A row of trials, of losses, of singular values and of truncations."""
        makers = (trial_panel, loss_panel, singular_panel, truncation_panel)
        single = len(config.task) == 1
        panels = [maker(dataset, config, task) for maker in makers for task in config.task]
        return Figure(
            "Training changes the connectivity by a matrix of low rank",
            panels,
            columns=2 if single else len(config.task),
            caption=(
                f"N = {config.width}, Adam with rate {config.rate:g}/N, {config.batch} fresh "
                f"trials an epoch, {dataset.sizes[SEED]} seeds: lines are medians, bands ranges, "
                "of all networks for the loss and of those that learned the task below; "
                f"truncation on {config.trials} fixed trials." + lost_again(dataset)
            ),
        )


def _of_one(dataset: "xarray.Dataset", config: TaskConfig, task: str, g: float) -> list[Claim]:
    """Claims on one task and strength."""
    runs = finished(dataset, task, g)
    name, where = f"{task}, g = {g:g}", f"On {task} with g = {g:g}"
    found: list[Claim] = []
    if config.width == WIDTH and config.effort == 1:
        found += as_in_the_trial(dataset, task, g)
    if task == "flip-flop" and g == 0:
        values = runs["change_singular"].transpose(SEED, SINGULAR_VALUE).values
        found.append(
            claim_about_mean(
                values[:, 2] / values[:, 1],
                name=f"{name}: two stand out",
                statement=f"{where}, two singular values of ΔW stand out: the third is half of the "
                "second at most.",
                place="Figure 1(g)",
                at_most=0.5,
            )
        )
    found.append(
        claim_about_median(
            runs["rank_text"].values,
            name=f"{name}: functional rank",
            statement=f"{where}, the median functional rank (relative to the initial loss) is "
            + ("2 at most." if task == "flip-flop" and g == 0 else "10 at most."),
            place="Figure 1(j)–(l)",
            at_most=2 if task == "flip-flop" and g == 0 else 10,
        )
    )
    if g > 0:
        found.append(
            claim_about_median(
                np.nan_to_num(runs["shuffled_loss"].values, nan=np.inf, posinf=np.inf),
                name=f"{name}: shuffled",
                statement=f"{where}, shuffling W₀ after training brings the loss back: the median "
                "is 0.8 of the initial loss or more.",
                place="Figure 2(c)",
                at_least=0.8,
            )
        )
    return found
