"""regimes/ssm-practice (ours): does a stack of state-space layers hold beyond its training window?

The comparison: a small stack (encoder, state-space layers with a gated nonlinearity and skips,
decoder) is trained by Adam on windows of k steps and tested on sequences up to 16 k, with the usual
recipe (C of order one, A at a tenth of the rate) and with the one that the map of linear layers
recommends (C small, A at the full rate). The answers are known. `average` is tanh of a leaky
average with a memory of 33 steps, longer than the window. `copy` repeats the input 5 steps later,
which a filter within the window does, so the recipe should not matter. `induction` says at a mark
what followed the mark 5 steps ago: such a filter, and a product with what is there now.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray

from tacit.claims import Finding
from tacit.draw import Figure
from tacit.experiments import Batch, Claims, swept
from tacit.experiments.regimes.stacks import BEYOND, RECIPES, TIMES, StackExperiment
from tacit.experiments.regimes.state_space import PLACE
from tacit.problems import delayed_copy, induction, leaky_average
from tacit.store import Variable

TASKS = {"average": "a leaky average", "copy": "a delayed copy", "induction": "an induction"}
DECAY, DELAY = 0.97, 5
SLOWER = (
    "with A at a tenth of the rate a stack learns the windows more slowly: after equally many "
    "steps its train error is several times as large too"
)


class SSMPractice(StackExperiment):
    """Error of a small stack on sequences up to 16 times its training window, by recipe."""

    id, figure = "regimes/ssm-practice", "ours: a stack beyond its window"
    version = 2
    finding = Finding(
        "Where the memory is longer than the window neither recipe holds; at sixteen windows the "
        "usual one has {better|holds|.1f} times the error of the map's.",
        "For a copy it has {copy|holds|.2f} times, and for an induction, where the recipe was to "
        "matter as little, {induction|fails|.1f} times.",
        better="average: the map's recipe does better",
        copy="copy: the recipe matters little: not less",
        induction="induction: the recipe matters little: not more",
    )
    unspecific = {
        "*: the usual recipe does not hold": "the map's recipe does not hold either; which of "
        "the two is better is claimed beside it",
        "copy: the recipe matters little: not less": "no dependence on the recipe is the claim, "
        "and data without any satisfy it",
    }

    task: tuple[str, ...] = swept(tuple(TASKS), "what is to be learned", choices=tuple(TASKS))

    presets = {
        "smoke": dict(
            task=("average", "induction"), seed=range(200, 202), steps=40, windows=8, layers=1
        ),
        "quick": dict(seed=range(200, 300), steps=1_500, windows=64, layers=1),
        "paper": {},
    }
    batch_by = "task"

    def variables(self) -> dict[str, Variable]:
        return {
            "error": Variable("squared error over the answer's variance, by stretch", "times"),
            "train_error": Variable("the same on the training windows"),
        }

    def cell(self, batch: Batch) -> Mapping[str, Any]:
        task, problems, tests = batch.one("task"), [], []
        for recipe, seed in zip(batch.column("recipe"), batch.column("seed"), strict=True):
            rng = np.random.default_rng([2026, int(seed)])
            train = sequences(task, rng, self.windows, self.window)
            tests.append(sequences(task, rng, 8, self.window * TIMES[-1]))
            problems.append(self.problem(str(recipe), int(seed), *train))
        return self.trained(problems, tests, batch.label)

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, error = Claims(PLACE), self.counted(runs, "error").reindex(recipe=list(RECIPES))
        for task in self.task:
            one = error.sel(task=task)
            last, usual = one.sel(times=TIMES[-1]), one.sel(recipe="usual")
            ratio, words = last.sel(recipe="usual") / last.sel(recipe="map"), f"of {TASKS[task]}"
            if task != "copy":
                claim.median(
                    f"{task}: the usual recipe does not hold",
                    usual.sel(times=TIMES[-1]) / usual.sel(times=1),
                    at_least=2,
                    says=f"{BEYOND} {words}, the usual recipe's error is at least {{bound}} times "
                    "that within the window.",
                )
            if task == "average":
                claim.median(
                    "average: the map's recipe does better",
                    ratio,
                    at_least=1.5,
                    says=f"{BEYOND} {words}, the usual recipe's error is at least {{bound}} times "
                    "that of the map's recipe.",
                )
            else:
                name = f"{task}: the recipe matters little"
                says = f"{BEYOND} {words}, the two errors are within a factor of 3."
                reason = SLOWER if task == "induction" else ""
                claim.median(f"{name}: not less", ratio, at_least=1 / 3, says=says)
                claim.median(f"{name}: not more", ratio, at_most=3, says=says, fails_because=reason)
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        error = self.counted(runs, "error")
        return Figure(
            "A stack beyond its training window, with two recipes",
            [self.panel(TASKS[task], error.sel(task=task)) for task in self.task],
            columns=3,
            caption=self.caption(),
            size=(5.2 * len(self.task), 4.8),
        )


def sequences(
    task: str, rng: np.random.Generator, count: int, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """White inputs (count, steps, inputs) with their answers (count, steps)."""
    x = rng.normal(size=(count, steps, 1))
    if task == "copy":
        return x, delayed_copy(x, DELAY)
    if task == "average":
        return x, leaky_average(x, DECAY)
    marked = np.concatenate([x, rng.integers(0, 2, size=x.shape)], axis=2)
    return marked, induction(marked, DELAY)
