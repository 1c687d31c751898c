"""depth, Figure 10: is the family (7) a fair stand-in for Gaussian starts?

The comparison: the effective rank of the limit, for a 3 × 3 diagonal of ones and several depths,
(a) over the ratio m of the family and (b) over 1,000 Gaussian starts sorted by the rank that they
reach. The family's curve is Theorem 3.3's, with gradient flow on the full matrices at some m.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_mean, claim_about_value
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, Points
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._parameter import parameter
from tacit.experiments.depth._counting import runs_that_count
from tacit.experiments.depth._flow_config import FlowConfig
from tacit.store import DEPTH, RATIO, SCALE, SEED, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class Fig10Config(FlowConfig):
    """Parameters of depth/fig10. The paper does not give its scale."""

    depth: tuple[int, ...] = parameter(
        (2, 3, 4, 5), "number L of factors", low=2, high=12, swept=True
    )
    scale: tuple[float, ...] = parameter(
        (1e-3,), "initial scale αᴸ of the product", low=1e-40, high=10.0, swept=True
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(1000)), "a Gaussian start", low=0, high=10_000_000, swept=True
    )
    flow_ratio: tuple[float, ...] = parameter(
        (1.1, 2.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1e3, 1e4, 1e5, 1e6),
        "ratios m of the family at which flow is run too",
        low=1.0,
    )
    size: int = parameter(3, "rows and columns, the diagonal observed", low=2, high=20)
    goal: float = parameter(1e-14, "loss of a converged run", low=0.0, high=1.0)


class Fig10(Experiment):
    """Effective rank over the family's ratio, and over Gaussian starts in order."""

    id = "depth/fig10"
    paper = "depth"
    figure = "Figure 10"
    summary = "the family of starts over m against 1,000 Gaussian starts sorted by rank"
    version = 1
    Config = Fig10Config
    presets: ClassVar[Mapping[str, Fig10Config]] = {
        "smoke": Fig10Config(depth=(2, 3), seed=tuple(range(30)), flow_ratio=(2.0, 100.0)),
        "quick": Fig10Config(),
        "paper": Fig10Config(),
    }
    batch_by = (DEPTH, SCALE)

    def variables(self, config: Fig10Config) -> dict[str, Variable]:
        """Of every Gaussian start, and of the family at the chosen ratios."""
        family = (RATIO,)
        return {
            "outcome": OUTCOME,
            "effective_rank": Variable((), "1", "effective rank of the product"),
            "loss": Variable((), "1", "loss at the end"),
            "norm": Variable((), "1", "Frobenius norm of the product"),
            "steps_taken": Variable((), "1", "steps of the method", "int64"),
            "closed_form_rank": Variable((), "1", "effective rank of the limit in closed form"),
            "family_rank": Variable(family, "1", "effective rank from the family's start"),
            "family_loss": Variable(family, "1", "loss from the family's start"),
        }

    def coordinates(self, config: Fig10Config) -> dict[str, Sequence[Any] | np.ndarray]:
        """The ratios at which the family is trained."""
        return {RATIO: config.flow_ratio}

    def cell(self, batch: Batch, config: Fig10Config) -> Mapping[str, Any]:
        """All starts of a depth, Gaussian ones and the family's, as one program."""
        from tacit.experiments.depth._gaussian_runs import gaussian_and_family

        return gaussian_and_family(batch, config)

    def claims(self, dataset: "xarray.Dataset", config: Fig10Config) -> list[Claim]:
        """Both kinds of start show the same: depth 2 stays high, depth lowers the rank."""
        scale = config.scale[0]
        runs = dataset.sel({SCALE: scale})
        trained = runs["loss"] <= config.gate
        rank = runs["effective_rank"].where(trained)
        depths = sorted(config.depth)
        found = []
        for less, more in itertools.pairwise(depths):
            falls = (rank.sel({DEPTH: less}) - rank.sel({DEPTH: more})).values
            found.append(
                claim_about_mean(
                    falls[~np.isnan(falls)],
                    name=f"Gaussian, depth {less} to {more}",
                    statement=f"Gaussian starts, αᴸ = {scale:g}: the mean effective rank falls "
                    f"from L = {less} to L = {more} (the fall, start by start).",
                    place="Figure 10(b)",
                    at_least=0.0,
                )
            )
        if 2 in config.depth:
            two = rank.sel({DEPTH: 2}).values
            found.append(
                claim_about_mean(
                    two[~np.isnan(two)],
                    name="Gaussian, depth 2 stays high",
                    statement="Gaussian starts, L = 2: the mean effective rank is at least 1.5.",
                    place="Figure 10(b)",
                    at_least=1.5,
                )
            )
            gap = abs(rank - runs["closed_form_rank"]).sel({DEPTH: 2})
            found.append(
                claim_about_value(
                    float(gap.max()),
                    name="closed form, depth 2",
                    statement="Every Gaussian run of depth 2 ends at the rank of its own "
                    "closed-form limit, to 1e-5.",
                    place="Proposition 4.1",
                    at_most=1e-5,
                )
            )
        family = runs["family_rank"].isel({SEED: 0})
        predicted = _family_curve(depths, np.array(config.flow_ratio), scale, config)
        measured = family.transpose(DEPTH, RATIO).sel({DEPTH: depths}).values
        found.append(
            claim_about_value(
                float(np.abs(measured - predicted).max()),
                name="the family ends at Theorem 3.3",
                statement="From the family's starts, effective ranks of flow and theorem differ by "
                "at most 1e-4.",
                place="Figure 10(a), Theorem 3.3",
                at_most=1e-4,
            )
        )
        found.append(
            claim_about_value(
                float(np.diff(predicted, axis=0).max()),
                name="the family falls with depth",
                statement="At each of the ratios the family's effective rank falls with depth "
                "(largest difference between neighbouring depths).",
                place="Figure 10(a)",
                at_most=0.0,
            )
        )
        found.append(runs_that_count(trained, config.gate, 0.99))
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig10Config, claims: Sequence[Claim]
    ) -> Figure:
        """The family over m, and the Gaussian starts in order of rank, each with its depths."""
        scale = config.scale[0]
        runs = dataset.sel({SCALE: scale})
        depths = sorted(config.depth)
        ratios = np.array(sorted(config.flow_ratio))
        fine = np.logspace(np.log10(ratios[0]), np.log10(ratios[-1]), 121)
        y = Axis("effective rank", limits=(0.95, config.size + 0.05))
        family: list[Mark] = [HorizontalRule(1.0, label="rank one")]
        sorted_runs: list[Mark] = [HorizontalRule(1.0, label="rank one")]
        curves = _family_curve(depths, fine, scale, config)
        for colour, depth in enumerate(depths):
            at = runs.sel({DEPTH: depth})
            points = at["family_rank"].isel({SEED: 0}).sel({RATIO: ratios})
            family += [
                Line(fine, curves[colour], colour=colour, label=f"L = {depth}"),
                Points(ratios, points.values, colour=colour, size=4.0),
            ]
            values = at["effective_rank"].where(at["loss"] <= config.gate).values
            values = np.sort(values[~np.isnan(values)])
            sorted_runs.append(
                Line(np.arange(1, values.size + 1), values, colour=colour, label=f"L = {depth}")
            )
        late = int((~(runs["loss"] <= config.gate)).sum())
        return Figure(
            "The family of starts and Gaussian starts show the same trend",
            [
                Panel("family (7)", Axis("ratio m", scale="log"), y, family),
                Panel(
                    f"{len(config.seed):,} Gaussian starts",
                    Axis("starts in order of the rank reached"),
                    y,
                    sorted_runs,
                ),
            ],
            caption=(
                f"{config.size} × {config.size} matrices with a diagonal of ones observed, "
                f"αᴸ = {scale:g}. (a) Lines: Theorem 3.3; points: gradient flow. (b) Gradient flow "
                f"to a loss of {config.goal:g}; {late} runs left out for a loss above "
                f"{config.gate:g}."
            ),
        )


def _family_curve(
    depths: list[int], ratios: np.ndarray, scale: float, config: Fig10Config
) -> np.ndarray:
    """Effective rank of Theorem 3.3's limit, (depth, ratio), w* = 1."""
    from tacit.theory.depth import limit_singular_values

    n = config.size
    curves = []
    for depth in depths:
        first, others = limit_singular_values(
            depth=depth, scale=scale ** (1 / depth), ratio=ratios, blocks=n
        )
        p, q = first / n, others / n  # they sum to w* d
        logs = np.log(np.where(q > 0, q, 1))
        curves.append(np.exp(-p * np.log(p) - (n - 1) * q * logs))
    return np.array(curves)
