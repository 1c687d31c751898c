"""connectivity, Figure S1: learning and change against the size of the network.

The comparison: epochs to 5% of the initial loss, norms of ΔW and of W, and functional rank against
N, for three strengths of the initial connectivity. The paper chose N = 256 since learning no longer
depends on N there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_mean, claim_about_value
from tacit.draw import Axis, Band, Figure, Line, Mark, Panel, Points
from tacit.experiments._accelerator import accelerated
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._parameter import parameter
from tacit.experiments.connectivity._tasks import TASKS, TaskConfig
from tacit.store import SEED, STRENGTH, TASK, WIDTH, Variable
from tacit.sweep import Batch, Grid

if TYPE_CHECKING:
    import xarray

QUANTITIES = {
    "epochs_needed": "epochs to learn",
    "change_norm": "norm of ΔW",
    "weight_norm": "norm of W",
    "rank_text": "functional rank",
}
SAME = 1.5  # a factor between two sizes that still counts as no dependence


@dataclass(frozen=True, kw_only=True)
class FigS1Config(Config):
    """Parameters of connectivity/figs1; the defaults are the paper's."""

    task: tuple[str, ...] = parameter(
        tuple(TASKS), "what is learned", choices=tuple(TASKS), swept=True
    )
    width: tuple[int, ...] = parameter(
        (32, 64, 128, 256, 512), "number N of units", low=4, high=4096, swept=True
    )
    g: tuple[float, ...] = parameter(
        (0.0, 0.45, 0.9), "strength of the initial connectivity", low=0.0, high=3.0, swept=True
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(5)), "seed of network and trials", low=0, swept=True
    )
    effort: float = parameter(
        1.0, "epochs, relative to the paper's 1000, 2000 and 6000", low=0.001, high=100.0
    )
    trials: int = parameter(512, "trials of the fixed batch that truncation is judged on", low=1)
    ranks: int = parameter(20, "the largest rank at which ΔW is truncated", low=1, high=200)

    def of_width(self, width: int) -> TaskConfig:
        """The parameters of the networks of one size."""
        return TaskConfig(
            task=self.task, g=self.g, seed=self.seed, width=width, effort=self.effort,
            trials=self.trials, ranks=self.ranks, shown=2,
        )  # fmt: skip


class FigS1(Experiment):
    """Epochs, norms and functional rank against N."""

    id = "connectivity/figs1"
    paper = "connectivity"
    figure = "Figure S1"
    summary = "three tasks against the size of the network, for three strengths of connectivity"
    version = 1
    Config = FigS1Config
    presets: ClassVar[Mapping[str, FigS1Config]] = {
        "smoke": FigS1Config(
            task=("flip-flop",), width=(12, 24), g=(0.0, 0.9), effort=0.04, trials=32, ranks=4,
            seed=(0, 1),
        ),
        "quick": FigS1Config(
            task=("flip-flop",), width=(32, 64, 128), effort=0.15, trials=128, ranks=12,
            seed=tuple(range(6)),
        ),
        "paper": FigS1Config(),
    }  # fmt: skip
    batch_by = (TASK, WIDTH, STRENGTH)

    def grid(self, config: Any) -> Grid:
        """On an accelerator all networks of a task and size are one batch."""
        return Grid(config.axes(), batch_by=(TASK, WIDTH) if accelerated() else self.batch_by)

    def variables(self, config: FigS1Config) -> dict[str, Variable]:
        """What is drawn, one number a network."""
        return {
            "outcome": OUTCOME,
            **{name: Variable((), "1", words) for name, words in QUANTITIES.items()},
        }

    def cell(self, batch: Batch, config: FigS1Config) -> Mapping[str, Any]:
        """Train the networks of one task and size."""
        from tacit.experiments.connectivity._task_runs import task_runs

        found = task_runs(batch, config.of_width(batch.one(WIDTH)))
        return {name: found[name] for name in self.variables(config)}

    def claims(self, dataset: "xarray.Dataset", config: FigS1Config) -> list[Claim]:
        """No dependence on N between the two largest; W grows as its random part does."""
        found: list[Claim] = []
        if len(config.width) < 2:
            return found
        small, large = sorted(config.width)[-2:]
        for task in config.task:
            for g in config.g:
                where = f"{task}, g = {g:g}"
                for name in ("epochs_needed", "change_norm"):
                    a, b = (_learned(dataset, task, g, width)[name].values
                            for width in (small, large))  # fmt: skip
                    ratio, error = _ratio(a, b)
                    found.append(
                        claim_about_value(
                            abs(ratio),
                            error=error,
                            name=f"{QUANTITIES[name]}, {where}",
                            statement=f"On {where}, the mean of {QUANTITIES[name]} over networks "
                            f"that learned is the same at N = {small} and N = {large}, to a "
                            f"factor of {SAME:g}: log₂ of the ratio.",
                            place="Figure S1(a)–(f)",
                            at_most=np.log2(SAME),
                        )
                    )
                runs = _learned(dataset, task, g, large)
                if g > 0:
                    found.append(
                        claim_about_mean(
                            np.abs(runs["weight_norm"].values / (g * np.sqrt(large)) - 1),
                            name=f"norm of W, {where}",
                            statement=f"On {where}, W keeps the norm g√N of its random part at "
                            f"N = {large}: to a fifth.",
                            place="Figure S1(g)–(i)",
                            at_most=0.2,
                        )
                    )
                found.append(
                    claim_about_mean(
                        runs["rank_text"].values,
                        name=f"functional rank, {where}",
                        statement=f"On {where}, the functional rank stays low at N = {large}: 10 "
                        "at most on average.",
                        place="Figure S1(j)–(l)",
                        at_most=10,
                    )
                )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: FigS1Config, claims: Sequence[Claim]
    ) -> Figure:
        """One row a quantity, one column a task."""
        panels = [_panel(dataset, config, name, task) for name in QUANTITIES
                  for task in config.task]  # fmt: skip
        missing = int((dataset["outcome"].values != "converged").sum())
        return Figure(
            "The change is as small, and learned as fast, in networks of any size",
            panels,
            columns=len(config.task) if len(config.task) > 1 else 2,
            caption=(
                f"{dataset.sizes[SEED]} networks for each N and g: mean and standard deviation "
                "over those that learned the task, points: each of them. "
                f"{missing} of {dataset['outcome'].size} networks did not learn within "
                f"{config.effort:g} times the paper's epochs."
            ),
        )


def _learned(dataset: "xarray.Dataset", task: str, g: float, width: int) -> "xarray.Dataset":
    runs = dataset.sel({TASK: task, STRENGTH: g, WIDTH: width})
    return runs.isel({SEED: np.flatnonzero(runs["outcome"].values == "converged")})


def _ratio(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """log₂ of the ratio of two means, with two standard errors; NaN without enough networks."""
    if min(len(a), len(b)) < 2:
        return np.nan, 0.0
    relative = [x.std(ddof=1) / np.sqrt(len(x)) / x.mean() for x in (a, b)]
    return float(np.log2(b.mean() / a.mean())), float(2 * np.hypot(*relative) / np.log(2))


def _panel(dataset: "xarray.Dataset", config: FigS1Config, name: str, task: str) -> Panel:
    marks: list[Mark] = []
    widths = sorted(config.width)
    for colour, g in enumerate(config.g):
        xs, means, deviations = [], [], []
        for width in widths:
            values = _learned(dataset, task, g, width)[name].values
            values = values[np.isfinite(values)]
            if values.size:
                xs.append(width)
                means.append(values.mean())
                deviations.append(values.std())
                marks.append(
                    Points(np.full(values.size, width), values, colour=colour, size=3.0,
                           opacity=0.5)
                )  # fmt: skip
        if xs:
            mean, deviation = np.array(means), np.array(deviations)
            marks.append(Band(xs, mean - deviation, mean + deviation, colour=colour))
            marks.append(Line(xs, mean, label=f"g = {g:g}", colour=colour, marker="o"))
    return Panel(
        f"{task}: {QUANTITIES[name]}",
        Axis("N", scale="log", ticks={float(width): str(width) for width in widths}),
        Axis(QUANTITIES[name], limits=(0, None)),
        marks,
        legend="outside",
    )
