"""How much plasticity is lost, at which depth? (Beyond the paper, which proves it for depth two.)

The comparison: the stable rank after a warm start less that after a cold one, against depth and
against the size c of what is added. The target is the paper's example, w_ij = c^{j−i} of rank one;
first the diagonal is observed, then the upper triangle. Theorem 4.3's condition for lazy training,
loss ≤ σ_min⁶/(1152 d σ_max²), is evaluated where each warm start begins: it is proved for depth
two from α I, and drawn for the other depths as what it would be.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_fraction, claim_about_mean, claim_about_value
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, Points, Shade, VerticalRule
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._lines import median_line
from tacit.experiments._parameter import parameter
from tacit.experiments.depth._stages import STAGES, per_stage
from tacit.store import ADDED, DEPTH, SEED, STAGE, START, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

START_WORDS = {"gaussian": "Gaussian", "identity": "α I"}
_ADDED = (1 / 36, 0.1, 0.2, 0.4, 1.0)


@dataclass(frozen=True, kw_only=True)
class PlasticityConfig(Config):
    """Parameters of depth/plasticity."""

    depth: tuple[int, ...] = parameter(
        (2, 3, 4, 5), "number L of factors", low=2, high=10, swept=True
    )
    start: tuple[str, ...] = parameter(
        tuple(START_WORDS), "the kind of start", choices=tuple(START_WORDS), swept=True
    )
    added: tuple[float, ...] = parameter(
        _ADDED, "size c of what is observed later: w_ij = c^(j−i)", low=1e-3, high=10.0, swept=True
    )
    seed: tuple[int, ...] = parameter(tuple(range(20)), "trial: the start", low=0, swept=True)
    size: int = parameter(3, "rows and columns d of the matrix", low=2, high=20)
    scale: float = parameter(1e-6, "initial scale αᴸ of the product", low=1e-40, high=1.0)
    goal: float = parameter(1e-12, "loss of a converged stage", low=0.0, high=1.0)
    tolerance: float = parameter(1e-7, "relative tolerance of the flow", low=1e-12, high=1e-2)
    attempts: int = parameter(400, "steps of the explicit solver at most", low=1, high=10_000_000)
    tail_attempts: int = parameter(
        1_500, "steps of the implicit solver at most", low=1, high=10_000_000
    )


class Plasticity(Experiment):
    """The gap between warm and cold start against depth, with the condition of Theorem 4.3."""

    id = "depth/plasticity"
    paper = "depth"
    figure = "beyond the paper, section 4.3"
    summary = "stable rank of warm less that of cold start against depth, with Theorem 4.3"
    version = 1
    Config = PlasticityConfig
    presets: ClassVar[Mapping[str, PlasticityConfig]] = {
        "smoke": PlasticityConfig(
            depth=(2, 3), added=(1 / 36, 0.4), seed=(0, 1), tail_attempts=200
        ),
        "quick": PlasticityConfig(),
        "paper": PlasticityConfig(seed=tuple(range(40))),
    }
    batch_by = (DEPTH,)

    def variables(self, config: PlasticityConfig) -> dict[str, Variable]:
        """What each stage reached, and Theorem 4.3 at the beginning of the warm one."""
        return {
            "outcome": OUTCOME,
            "stage_outcome": per_stage("how the stage ended", "str"),
            "effective_rank": per_stage("effective rank of the product"),
            "stable_rank": per_stage("stable rank of the product"),
            "hidden_error": per_stage("relative error of the lower triangle, never observed"),
            "loss": per_stage("loss at the end"),
            "steps_taken": per_stage("steps of the last solver", "int64"),
            "wrong_signs": Variable(
                (), "1", "entries of the upper triangle below zero after pre-training", "int64"
            ),
            "news": Variable((), "1", "loss where the warm start begins"),
            "lazy_threshold": Variable((), "1", "σ_min⁶/(1152 d σ_max²) there"),
            "kept": Variable((), "1", "stable rank of A after the warm start, depth 2"),
            "kept_bound": Variable((), "1", "bound of Theorem 4.3 on it, depth 2"),
        }

    def coordinates(self, config: PlasticityConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """The stages."""
        return {STAGE: STAGES}

    def cell(self, batch: Batch, config: PlasticityConfig) -> Mapping[str, Any]:
        """All starts, sizes and trials of a depth as one program."""
        from tacit.experiments.depth._plasticity_cell import relearn

        return relearn(batch, config)

    def claims(self, dataset: "xarray.Dataset", config: PlasticityConfig) -> list[Claim]:
        """Theorem 4.3 where it speaks, and what depth does to the gap where it does not."""
        gap = gap_of(dataset)
        found: list[Claim] = []
        if 2 in config.depth and "identity" in config.start:
            exact = dataset.sel({DEPTH: 2, START: "identity"})
            lazy = exact["news"] <= exact["lazy_threshold"]
            margin = (exact["kept"] - exact["kept_bound"]).where(lazy).values
            example = 1 / (12 * config.size)
            found.append(
                claim_about_value(
                    np.nanmin(margin) if np.isfinite(margin).any() else np.nan,
                    name="Theorem 4.3's bound",
                    statement="Depth 2 from α I: where the condition holds, the stable rank of A "
                    "after the warm start is at least the bound.",
                    place="Theorem 4.3",
                    at_least=0.0,
                )
            )
            near = [c for c in config.added if abs(c / example - 1) < 1e-9]
            if near:
                share = exact["news"] / exact["lazy_threshold"]
                found.append(
                    claim_about_value(
                        float(share.sel({ADDED: near[0]}).max()),
                        name="the paper's example is lazy",
                        statement=f"The example with c = 1/(12d) = {example:.4g} meets the "
                        "condition: loss over threshold is at most one.",
                        place="section 4.3, example",
                        at_most=1.0,
                    )
                )
        deepest = max(config.depth)
        if "gaussian" in config.start and 2 in config.depth and deepest > 2:
            for c in sorted(config.added):
                runs = gap.sel({START: "gaussian", ADDED: c})
                less = (runs.sel({DEPTH: 2}) - runs.sel({DEPTH: deepest})).values
                found.append(
                    claim_about_mean(
                        less[~np.isnan(less)],
                        name=f"depth {deepest} loses less, c = {c:.3g}",
                        statement=f"Gaussian starts, c = {c:.3g}: the gap between warm and cold "
                        f"start is smaller at depth {deepest} than at depth 2.",
                        place="section 4 (ours at this size)",
                        at_least=0.0,
                        because=f"{np.isfinite(less).sum()} of {less.size} trials count, those "
                        "that end every stage at both depths: the smaller c, the fewer.",
                    )
                )
        if "identity" in config.start:
            rank = dataset["stable_rank"].sel({START: "identity", STAGE: "pre"})
            found.append(
                claim_about_value(
                    float(np.abs(rank / config.size - 1).max()),
                    name="from α I no depth helps",
                    statement="From α I pre-training ends at full stable rank, at every depth.",
                    place="Theorem 3.3, m = ∞",
                    at_most=1e-3,
                )
            )
        return [*found, *_claims_about_ends(dataset, config)]

    def draw(
        self, dataset: "xarray.Dataset", config: PlasticityConfig, claims: Sequence[Claim]
    ) -> Figure:
        """The gap against depth and size, what is kept, and the condition."""
        panels = [_depth_panel(dataset, config), _arrival_panel(dataset, config)]
        panels += [_gap_panel(dataset, config, config.start[-1]), _lazy_panel(dataset, config)]
        if 2 in config.depth and "identity" in config.start:
            panels.append(_kept_panel(dataset, config))
        panels.append(_hidden_panel(dataset, config))
        good = dataset["outcome"] == "converged"
        return Figure(
            "Loss of plasticity against depth",
            panels,
            columns=3,
            caption=(
                f"{config.size} × {config.size}, w_ij = c^(j−i): the diagonal first, then the "
                f"upper triangle. Gap: stable rank after a warm start less that after a cold "
                f"one. Starts of scale αᴸ = {config.scale:g}, {len(config.seed)} trials, median "
                f"and middle half; gradient flow to a loss of {config.goal:g}. Theorem 4.3 is "
                "about depth 2; its condition is drawn for other depths with the same expression. "
                f"{int(good.size - good.sum())} of {good.size} runs left out for a stage that did "
                "not end there."
            ),
        )


def _claims_about_ends(dataset: "xarray.Dataset", config: PlasticityConfig) -> list[Claim]:
    """Which runs get to the goal, and what holds the others up."""
    good = dataset["outcome"] == "converged"
    found = [
        claim_about_fraction(
            int(good.sum()),
            int(good.size),
            name="runs that count",
            statement=f"At least 90% of the runs reach a loss of {config.goal:g} in all three "
            "stages.",
            place="(ours)",
            at_least=0.9,
            expected="fails",
            because="From Gaussian starts depth three and more ends pre-training at rank one with "
            "signs of its own; what is added contradicts them, and flow stays near the saddle "
            "between one sign and the other.",
        )
    ]
    deep = [depth for depth in config.depth if depth > 2]
    sizes = [c for c in config.added if 0.2 <= c < 1]
    if deep and sizes and "gaussian" in config.start:
        runs = dataset.sel({START: "gaussian", DEPTH: deep, ADDED: sizes})
        arrived = runs["stage_outcome"].sel({STAGE: "warm"}) == "converged"
        agree = arrived == (runs["wrong_signs"] == 0)
        found.append(
            claim_about_fraction(
                int(agree.sum()),
                int(agree.size),
                name="signs decide which warm starts arrive",
                statement="Gaussian starts, depth three and more, 0.2 ≤ c < 1: a warm start "
                "reaches the goal when pre-training left no sign of the upper triangle wrong, and "
                "only then, in at least 90% of the runs.",
                place="(ours)",
                at_least=0.9,
            )
        )
    return found


def gap_of(dataset: "xarray.Dataset") -> "xarray.DataArray":
    """Stable rank of warm less that of cold, where both and pre-training converged."""
    rank = dataset["stable_rank"].where(dataset["outcome"] == "converged")
    return rank.sel({STAGE: "warm"}, drop=True) - rank.sel({STAGE: "cold"}, drop=True)


def lazy_limit(
    dataset: "xarray.Dataset", config: PlasticityConfig, start: str, depth: int
) -> float:
    """The size c at which the median of loss / threshold passes one; NaN if it does not."""
    runs = dataset.sel({DEPTH: depth, START: start})
    sizes = np.array(sorted(config.added))
    share = (runs["news"] / runs["lazy_threshold"]).sel({ADDED: sizes}).transpose(ADDED, SEED)
    middle = np.log([np.nanmedian(row) if np.isfinite(row).any() else np.nan for row in share])
    crossed = np.flatnonzero((middle[:-1] <= 0) & (middle[1:] > 0))
    if crossed.size == 0:
        return float("nan")
    i = int(crossed[0])
    part = -middle[i] / (middle[i + 1] - middle[i])
    return float(np.exp(np.log(sizes[i]) * (1 - part) + np.log(sizes[i + 1]) * part))


def _depth_panel(dataset: "xarray.Dataset", config: PlasticityConfig) -> Panel:
    gap = gap_of(dataset).sel({START: config.start[0]})
    depths, sizes = np.array(sorted(config.depth)), sorted(config.added)
    marks: list[Mark] = [HorizontalRule(0.0)]
    for shade, c in zip(Shade.family(len(sizes)), sizes, strict=True):
        table = gap.sel({ADDED: c, DEPTH: depths}).transpose(DEPTH, SEED).values
        marks += median_line(depths, table, label=f"c = {c:.3g}", colour=shade)
    return Panel(
        f"{START_WORDS[config.start[0]]} starts: the gap against depth",
        Axis("depth L", ticks=depths),
        Axis("stable rank, warm − cold"),
        marks,
        legend="outside",
    )


def _arrival_panel(dataset: "xarray.Dataset", config: PlasticityConfig) -> Panel:
    runs = dataset["stage_outcome"].sel({START: config.start[0]}) == "converged"
    depths, sizes = np.array(sorted(config.depth)), sorted(config.added)
    marks: list[Mark] = []
    for shade, c in zip(Shade.family(len(sizes)), sizes, strict=True):
        for stage, style in (("warm", "solid"), ("cold", "dashed")):
            share = runs.sel({ADDED: c, STAGE: stage, DEPTH: depths}).mean(SEED).values
            marks.append(
                Line(
                    depths,
                    share,
                    label=f"c = {c:.3g}" if stage == "warm" else None,
                    colour=shade,
                    style=style,
                    marker="o",
                )
            )
    return Panel(
        f"{START_WORDS[config.start[0]]} starts: who gets there",
        Axis("depth L", ticks=depths),
        Axis("share of runs at the goal", limits=(-0.03, 1.03)),
        marks,
        legend="outside",
        note="solid: warm, dashed: cold",
    )


def _gap_panel(dataset: "xarray.Dataset", config: PlasticityConfig, start: str) -> Panel:
    gap, sizes = gap_of(dataset).sel({START: start}), np.array(sorted(config.added))
    marks: list[Mark] = [HorizontalRule(0.0)]
    for colour, depth in enumerate(sorted(config.depth)):
        table = gap.sel({DEPTH: depth, ADDED: sizes}).transpose(ADDED, SEED).values
        marks += median_line(sizes, table, label=f"L = {depth}", colour=colour)
    limit = lazy_limit(dataset, config, start, 2) if 2 in config.depth else float("nan")
    if np.isfinite(limit):
        marks.append(VerticalRule(limit, label="lazy to the left (Thm 4.3, L = 2)"))
    return Panel(
        f"{START_WORDS[start]} starts: the gap against what is added",
        Axis("size c of what is added", scale="log"),
        Axis("stable rank, warm − cold"),
        marks,
        legend="outside",
    )


def _lazy_panel(dataset: "xarray.Dataset", config: PlasticityConfig) -> Panel:
    sizes = np.array(sorted(config.added))
    marks: list[Mark] = [HorizontalRule(1.0, label="lazy below", colour="warning")]
    share = (dataset["news"] / dataset["lazy_threshold"]).sel({ADDED: sizes})
    for start, style in zip(config.start, ("solid", "dashed"), strict=False):
        for colour, depth in enumerate(sorted(config.depth)):
            table = share.sel({DEPTH: depth, START: start}).transpose(ADDED, SEED).values
            marks += median_line(
                sizes,
                table,
                label=f"L = {depth}, {START_WORDS[start]}",
                colour=colour,
                style=style,
                band=False,
            )
    return Panel(
        "the condition of Theorem 4.3",
        Axis("size c of what is added", scale="log"),
        Axis("loss / (σ_min⁶ / 1152 d σ_max²)", scale="log"),
        marks,
        legend="outside",
    )


def _kept_panel(dataset: "xarray.Dataset", config: PlasticityConfig) -> Panel:
    sizes = np.array(sorted(config.added))
    runs = dataset.sel({DEPTH: 2, START: "identity", ADDED: sizes}).isel({SEED: 0})
    lazy = (runs["news"] <= runs["lazy_threshold"]).values
    bound = runs["kept_bound"].values
    marks: list[Mark] = [
        Line(sizes, runs["kept"].values, label="stable rank of A", marker="o"),
        Line(
            sizes,
            np.where(lazy, bound, np.nan),
            colour="reference",
            style="dashed",
        ),
        Points(
            sizes[lazy],
            bound[lazy],
            label="bound, where the condition holds",
            colour="reference",
            filled=False,
        ),
    ]
    return Panel(
        "depth 2 from α I: what a warm start keeps",
        Axis("size c of what is added", scale="log"),
        Axis("stable rank of a factor", limits=(0, None)),
        marks,
        legend="outside",
    )


def _hidden_panel(dataset: "xarray.Dataset", config: PlasticityConfig) -> Panel:
    sizes = np.array(sorted(config.added))
    runs = dataset.where(dataset["outcome"] == "converged").sel({START: config.start[0]})
    marks: list[Mark] = [HorizontalRule(1.0, label="as good as zero")]
    for colour, depth in enumerate(sorted(config.depth)):
        for stage, style in (("warm", "solid"), ("cold", "dashed")):
            table = runs["hidden_error"].sel({DEPTH: depth, STAGE: stage, ADDED: sizes})
            marks += median_line(
                sizes,
                table.transpose(ADDED, SEED).values,
                label=f"L = {depth}, {stage}",
                colour=colour,
                style=style,
                band=False,
            )
    return Panel(
        f"{START_WORDS[config.start[0]]} starts: entries never seen",
        Axis("size c of what is added", scale="log"),
        Axis("relative error of the lower triangle", scale="log"),
        marks,
        legend="outside",
    )
