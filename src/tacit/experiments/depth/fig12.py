"""depth, Figure 12: does the bias of depth need equal entries on the diagonal?

The comparison: the stable rank at the end of flow against the initial scale, for the diagonal
0, 0.5, 1, 1.5, 2 and several ratios m of the start (7), up to m = ∞, which decouples the entries at
every depth: there the limit is the diagonal matrix itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_value
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._parameter import parameter
from tacit.experiments.depth._counting import runs_that_count
from tacit.store import DEPTH, RATIO, SCALE, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class Fig12Config(Config):
    """Parameters of depth/fig12; the paper gives the diagonal and m = ∞."""

    depth: tuple[int, ...] = parameter(
        (2, 3, 4, 5), "number L of factors", low=2, high=10, swept=True
    )
    ratio: tuple[float, ...] = parameter(
        (2.0, 10.0, 100.0, float("inf")),
        "m: diagonal over off-diagonal entries of every factor at the start",
        low=1.0,
        swept=True,
    )
    scale: tuple[float, ...] = parameter(
        (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
        "initial scale αᴸ of the product",
        low=1e-40,
        high=10.0,
        swept=True,
    )
    diagonal: tuple[float, ...] = parameter(
        (0.0, 0.5, 1.0, 1.5, 2.0), "the diagonal that is observed", low=0.0, high=100.0
    )
    goal: float = parameter(1e-8, "loss of a converged run", low=0.0, high=1.0)
    tolerance: float = parameter(1e-8, "relative tolerance of the flow", low=1e-13, high=1e-2)
    attempts: int = parameter(600, "steps of the explicit solver at most", low=1, high=10_000_000)
    tail_attempts: int = parameter(
        2_000, "steps of the implicit solver at most", low=1, high=10_000_000
    )


class Fig12(Experiment):
    """Stable rank against initial scale from unequal diagonals."""

    id = "depth/fig12"
    paper = "depth"
    figure = "Figure 12"
    summary = "stable rank against scale and depth for the diagonal 0, 0.5, 1, 1.5, 2"
    version = 1
    Config = Fig12Config
    presets: ClassVar[Mapping[str, Fig12Config]] = {
        "smoke": Fig12Config(depth=(2, 3), ratio=(10.0, float("inf")), scale=(1e-1, 1e-5)),
        "quick": Fig12Config(),
        "paper": Fig12Config(),
    }
    batch_by = (DEPTH,)

    def variables(self, config: Fig12Config) -> dict[str, Variable]:
        """Ranks, loss and, for depth two, the distance to the closed form."""
        return {
            "outcome": OUTCOME,
            "stable_rank": Variable((), "1", "stable rank of the product"),
            "effective_rank": Variable((), "1", "effective rank of the product"),
            "loss": Variable((), "1", "loss at the end"),
            "gap": Variable((), "1", "largest entry of |product − closed form|, depth 2"),
        }

    def cell(self, batch: Batch, config: Fig12Config) -> Mapping[str, Any]:
        """All ratios and scales of a depth as one program."""
        from tacit.experiments.depth._diagonal_cell import flow_on_diagonals

        diagonals = np.broadcast_to(np.array(config.diagonal), (len(batch), len(config.diagonal)))
        return flow_on_diagonals(
            batch.one(DEPTH),
            batch.column(SCALE),
            batch.column(RATIO),
            diagonals,
            config,
            batch.label,
        )

    def claims(self, dataset: "xarray.Dataset", config: Fig12Config) -> list[Claim]:
        """Depth two stays, depth lowers the rank for finite m, m = ∞ keeps the diagonal's."""
        good = dataset["outcome"] == "converged"
        rank = dataset["stable_rank"].where(good)
        smallest, depths = min(config.scale), sorted(config.depth)
        finite = sorted(m for m in config.ratio if np.isfinite(m))
        found = []
        for m in finite:
            runs = rank.sel({RATIO: m})
            if 2 in depths:
                over = runs.sel({DEPTH: 2})
                found.append(
                    claim_about_value(
                        float(over.max(skipna=False) - over.min(skipna=False)),
                        name=f"depth 2 ignores the scale, m = {m:g}",
                        statement=f"m = {m:g}: over all scales the stable rank of depth 2 changes "
                        "by at most 0.1.",
                        place="Figure 12",
                        at_most=0.1,
                    )
                )
            at = runs.sel({SCALE: smallest, DEPTH: depths}).values
            found.append(
                claim_about_value(
                    float(np.diff(at).max()) if len(depths) > 1 else np.nan,
                    name=f"depth lowers the rank, m = {m:g}",
                    statement=f"m = {m:g}, from αᴸ = {smallest:g}: the stable rank falls from "
                    "each depth to the next.",
                    place="Figure 12",
                    at_most=0.0,
                )
            )
        if np.inf in config.ratio:
            away = abs(rank.sel({RATIO: np.inf, SCALE: smallest}) - plain_rank(config))
            found.append(
                claim_about_value(
                    float(away.values.max()),
                    name="m = ∞ keeps the diagonal's rank",
                    statement=f"m = ∞, from αᴸ = {smallest:g}: at every depth the stable rank is "
                    f"that of the diagonal matrix, {plain_rank(config):.4g}, to 1e-3.",
                    place="Figure 12, right",
                    at_most=1e-3,
                )
            )
        if 2 in depths:
            found.append(
                claim_about_value(
                    float(dataset["gap"].where(good).sel({DEPTH: 2}).max()),
                    name="closed form, depth 2",
                    statement="Every run of depth 2 ends at its own closed-form limit, to 1e-3 in "
                    "every entry.",
                    place="Proposition 4.1",
                    at_most=1e-3,
                    expected="fails" if 0.0 in config.diagonal else "holds",
                    because="The entry whose target is zero gets there like 1/t, and those beside "
                    "it like its root: at a loss of 1e-8 they are 1e-2 away."
                    if 0.0 in config.diagonal
                    else "",
                )
            )
        found.append(runs_that_count(good, config.goal, 0.95))
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig12Config, claims: Sequence[Claim]
    ) -> Figure:
        """A panel for each m."""
        scales = np.array(sorted(config.scale))
        good = dataset["outcome"] == "converged"
        rank = dataset["stable_rank"].where(good)
        panels = []
        for m in sorted(config.ratio):
            marks: list[Mark] = [
                HorizontalRule(plain_rank(config), label="the diagonal matrix"),
                HorizontalRule(1.0),
            ]
            for colour, depth in enumerate(sorted(config.depth)):
                values = rank.sel({RATIO: m, DEPTH: depth, SCALE: scales}).values
                marks.append(Line(scales, values, label=f"L = {depth}", colour=colour, marker="o"))
            panels.append(
                Panel(
                    f"m = {'∞' if np.isinf(m) else f'{m:g}'}",
                    Axis("initial scale αᴸ", scale="log"),
                    Axis("stable rank", limits=(0.9, 2.1)),
                    marks,
                    legend="outside",
                )
            )
        return Figure(
            "Depth lowers the rank when the diagonal is unequal too, but not from α I",
            panels,
            columns=2,
            caption=(
                f"Diagonal {', '.join(f'{w:g}' for w in config.diagonal)} observed, starts (7), "
                f"gradient flow to a loss of {config.goal:g}. {int(good.size - good.sum())} of "
                f"{good.size} runs left out for a larger one."
            ),
        )


def plain_rank(config: Fig12Config) -> float:
    """The stable rank of the diagonal matrix."""
    squares = np.square(config.diagonal)
    return float(squares.sum() / squares.max())
