"""depth, Figures 13 to 17: is the bias of depth one of gradient flow alone?

The comparison: the stable rank of a completed 5 × 5 matrix, its diagonal of ones observed, against
depth and initial scale, for stochastic gradient descent (one entry a step), momentum, Adam,
RMSProp and Adagrad with PyTorch's default hyper-parameters. Runs are gated by the loss of their
best iterate, and how they ended is counted: not every one of these methods settles.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_fraction, claim_about_mean
from tacit.draw import Axis, Figure, HorizontalRule, Mark, Panel, Shade
from tacit.experiments._base import OUTCOME, OUTCOMES, Experiment
from tacit.experiments._config import Config
from tacit.experiments._lines import median_line
from tacit.experiments._parameter import parameter
from tacit.store import DEPTH, METHOD, SCALE, SEED, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

METHODS = {
    "sgd": "SGD, one entry a step",
    "momentum": "momentum",
    "adam": "Adam",
    "rmsprop": "RMSProp",
    "adagrad": "Adagrad",
}
FIGURES = dict(zip(METHODS, range(13, 18), strict=True))


@dataclass(frozen=True, kw_only=True)
class Fig13To17Config(Config):
    """Parameters of depth/fig13-17; the defaults are the paper's, rates those of PyTorch."""

    method: tuple[str, ...] = parameter(
        tuple(METHODS), "the optimiser", choices=tuple(METHODS), swept=True
    )
    depth: tuple[int, ...] = parameter(
        (2, 3, 4, 5), "number L of factors", low=2, high=10, swept=True
    )
    scale: tuple[float, ...] = parameter(
        (1e-1, 1e-3, 1e-5),
        "initial scale αᴸ of the product",
        low=1e-20,
        high=10.0,
        swept=True,
    )
    seed: tuple[int, ...] = parameter(tuple(range(10)), "trial: the start", low=0, swept=True)
    size: int = parameter(5, "rows and columns of the matrix", low=2, high=20)
    sgd_rate: float = parameter(1e-3, "learning rate of SGD", low=1e-8, high=1.0)
    momentum_rate: float = parameter(1e-3, "learning rate of momentum (0.9)", low=1e-8, high=1.0)
    adam_rate: float = parameter(1e-3, "learning rate of Adam", low=1e-8, high=1.0)
    rmsprop_rate: float = parameter(1e-2, "learning rate of RMSProp", low=1e-8, high=1.0)
    adagrad_rate: float = parameter(1e-2, "learning rate of Adagrad", low=1e-8, high=1.0)
    steps: int = parameter(1_000_000, "steps at most", low=1, high=100_000_000)
    patience: int = parameter(
        200_000,
        "steps without a best loss lower by a hundredth after which a run is stalled",
        low=1,
        high=100_000_000,
    )
    goal: float = parameter(1e-10, "loss of a converged run", low=0.0, high=1.0)
    gate: float = parameter(
        1e-4,
        "runs whose best loss is larger do not count",
        low=0.0,
        high=1.0,
        analysis=True,
    )


_SHALLOW = (
    "Ten trials are too few to decide: over 4,000 starts of 5 × 5 the flow's stable rank has the "
    "mean 1.56 and the standard deviation 0.27 in closed form."
)


class Fig13To17(Experiment):
    """Stable rank against depth and scale for five optimisers, with how every run ended."""

    id = "depth/fig13-17"
    paper = "depth"
    figure = "Figures 13 to 17"
    summary = "stable rank of a completed diagonal against depth: SGD to Adagrad"
    version = 1
    Config = Fig13To17Config
    presets: ClassVar[Mapping[str, Fig13To17Config]] = {
        "smoke": Fig13To17Config(
            method=("sgd", "adam"), depth=(2, 3), scale=(1e-3,), seed=(0, 1), sgd_rate=0.05,
            steps=6_000,
        ),
        "quick": Fig13To17Config(sgd_rate=0.02, momentum_rate=5e-3, steps=40_000, patience=10_000),
        "paper": Fig13To17Config(),
    }  # fmt: skip
    batch_by = (DEPTH, METHOD)

    def variables(self, config: Fig13To17Config) -> dict[str, Variable]:
        """Last and best iterate: an optimiser that does not settle ends anywhere near its best."""
        return {
            "outcome": OUTCOME,
            "stable_rank": Variable((), "1", "stable rank of the last product"),
            "best_stable_rank": Variable((), "1", "stable rank of the product of least loss"),
            "loss": Variable((), "1", "loss of the last product"),
            "best_loss": Variable((), "1", "least loss"),
            "steps_taken": Variable((), "1", "steps", "int64"),
        }

    def cell(self, batch: Batch, config: Fig13To17Config) -> Mapping[str, Any]:
        """All scales and trials of a depth and an optimiser as one program."""
        from tacit.experiments.depth._optimiser_cell import optimised

        return optimised(batch, config)

    def claims(self, dataset: "xarray.Dataset", config: Fig13To17Config) -> list[Claim]:
        """The trend of depth at the smallest scale, optimiser by optimiser."""
        fits = dataset["best_loss"] <= config.gate
        rank = dataset["best_stable_rank"].where(fits).sel({SCALE: min(config.scale)})
        deepest = max(config.depth)
        found = []
        for method in config.method:
            place, words = f"Figure {FIGURES[method]}", METHODS[method]
            runs = rank.sel({METHOD: method})
            if 2 in config.depth:
                found.append(
                    claim_about_mean(
                        _present(runs.sel({DEPTH: 2}).values),
                        name=f"{method}: depth 2 stays high",
                        statement=f"{words}: from αᴸ = {min(config.scale):g} the mean stable rank "
                        "of depth 2 is at least 1.5.",
                        place=place,
                        at_least=1.5,
                        because=_SHALLOW if config.size == 5 else "",
                    )
                )
            if {2, 3} <= set(config.depth):
                found.append(
                    claim_about_mean(
                        _present((runs.sel({DEPTH: 2}) - runs.sel({DEPTH: 3})).values),
                        name=f"{method}: depth 3 lies below depth 2",
                        statement=f"{words}: from αᴸ = {min(config.scale):g} the stable rank of "
                        "depth 3 is smaller than that of depth 2.",
                        place=place,
                        at_least=0.0,
                    )
                )
            if deepest > 2:
                found.append(
                    claim_about_mean(
                        _present(runs.sel({DEPTH: deepest}).values),
                        name=f"{method}: depth {deepest} ends near rank one",
                        statement=f"{words}: from αᴸ = {min(config.scale):g} the mean stable rank "
                        f"of depth {deepest} is at most 1.2.",
                        place=place,
                        at_most=1.2,
                    )
                )
            good = fits.sel({METHOD: method})
            found.append(
                claim_about_fraction(
                    int(good.sum()),
                    int(good.size),
                    name=f"{method}: runs that count",
                    statement=f"{words}: at least 90% of the runs reach a loss of {config.gate:g} "
                    "at their best.",
                    place="(ours)",
                    at_least=0.9,
                )
            )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig13To17Config, claims: Sequence[Claim]
    ) -> Figure:
        """One panel an optimiser, with its outcomes underneath."""
        depths, scales = np.array(sorted(config.depth)), sorted(config.scale, reverse=True)
        rank = dataset["best_stable_rank"].where(dataset["best_loss"] <= config.gate)
        upper = rank.quantile(0.75, SEED).max()
        top = max(2.1, 1.06 * float(upper)) if np.isfinite(upper) else 2.1
        panels = []
        for method in config.method:
            marks: list[Mark] = [HorizontalRule(1.0, label="rank one")]
            for shade, scale in zip(Shade.family(len(scales)), scales, strict=True):
                table = rank.sel({METHOD: method, SCALE: scale, DEPTH: depths})
                marks += median_line(
                    depths,
                    table.transpose(DEPTH, SEED).values,
                    label=f"αᴸ = {scale:g}",
                    colour=shade,
                )
            rate = getattr(config, f"{method}_rate")
            panels.append(
                Panel(
                    f"{METHODS[method]}, rate {rate:g}",
                    Axis("depth L", ticks=depths),
                    Axis("stable rank", limits=(0.9, top)),
                    marks,
                    legend="best",
                    note=outcome_words(dataset, method, config.gate),
                )
            )
        return Figure(
            "Depth lowers the rank under other optimisers too",
            panels,
            columns=3,
            caption=(
                f"{config.size} × {config.size}, diagonal of ones observed, Gaussian factors, "
                "hyper-parameters other than the rate as in PyTorch, "
                f"{len(config.seed)} trials: median and middle half of the iterate of least loss, "
                f"for runs whose least loss is at most {config.gate:g}. Converged: a loss of "
                f"{config.goal:g} within {config.steps:,} steps; stalled: no better by a hundredth "
                f"for {config.patience:,} steps."
            ),
        )


def outcome_words(dataset: "xarray.Dataset", method: str, gate: float) -> str:
    """How the runs of an optimiser ended, and how many count."""
    runs = dataset.sel({METHOD: method})
    ends = runs["outcome"].values.ravel()
    counts = [f"{int((ends == word).sum())} {word}" for word in OUTCOMES if (ends == word).any()]
    good = int((runs["best_loss"] <= gate).sum())
    return f"{', '.join(counts)}; {good} of {ends.size} count"


def _present(values: np.ndarray) -> np.ndarray:
    return values[~np.isnan(values)]
