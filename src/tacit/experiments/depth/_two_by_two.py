"""What figures 31 to 33 share: a 2 × 2 matrix, its diagonal first, then w₁₂ as well.

The comparison: rank and the entry w₂₁ that is never observed, after pre-training on the diagonal,
after going on with w₁₂ (warm) and after starting again with it (cold), against the ratio m of the
start (7). At m = ∞ and equal diagonal entries Theorem 4.2 bounds the stable rank from below.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.claims import Claim, claim_about_value
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, Points
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._parameter import parameter
from tacit.experiments.depth._stages import STAGE_WORDS, STAGES, per_stage
from tacit.store import ADDED, RATIO, STAGE, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

_RATIOS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1e3, 1e4, 1e6, float("inf"))


@dataclass(frozen=True, kw_only=True)
class TwoByTwoConfig(Config):
    """Parameters of depth/fig31 to fig33; the paper's are the defaults."""

    ratio: tuple[float, ...] = parameter(
        _RATIOS,
        "m: diagonal over off-diagonal entries of every factor at the start",
        low=1.0,
        swept=True,
    )
    added: tuple[float, ...] = parameter(
        (0.5, 0.1), "w₁₂, observed after pre-training", low=1e-3, high=1e3, swept=True
    )
    first: float = parameter(1.0, "w₁₁", low=1e-3, high=1e3)
    second: float = parameter(1.0, "w₂₂", low=1e-3, high=1e3)
    depth: int = parameter(2, "number L of factors", low=2, high=10)
    scale: float = parameter(1e-3, "α: diagonal entries of every factor", low=1e-20, high=1.0)
    goal: float = parameter(1e-16, "loss of a converged stage", low=0.0, high=1.0)
    tolerance: float = parameter(1e-10, "relative tolerance of the flow", low=1e-13, high=1e-2)
    attempts: int = parameter(3_000, "steps of the explicit solver at most", low=1, high=10_000_000)
    tail_attempts: int = parameter(
        2_000, "steps of the implicit solver at most", low=1, high=10_000_000
    )


class TwoByTwo(Experiment):
    """Rank and the hidden entry after warm and cold starts, against m."""

    paper = "depth"
    version = 1
    Config = TwoByTwoConfig

    def variables(self, config: TwoByTwoConfig) -> dict[str, Variable]:
        """What each stage reached."""
        return {
            "outcome": OUTCOME,
            "stage_outcome": per_stage("how the stage ended", "str"),
            "effective_rank": per_stage("effective rank of the product"),
            "stable_rank": per_stage("stable rank of the product"),
            "hidden_entry": per_stage("w₂₁, never observed"),
            "loss": per_stage("loss at the end"),
            "gap": Variable((), "1", "pre-training: largest entry of |product − closed form|"),
        }

    def coordinates(self, config: TwoByTwoConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """The stages."""
        return {STAGE: STAGES}

    def cell(self, batch: Batch, config: TwoByTwoConfig) -> Mapping[str, Any]:
        """All ratios and added entries as one program."""
        from tacit.experiments.depth._two_by_two_cell import reveal

        return reveal(batch, config)

    def claims(self, dataset: "xarray.Dataset", config: TwoByTwoConfig) -> list[Claim]:
        """Every run converges; warm keeps rank where cold does not; Theorem 4.2 at m = ∞."""
        found = [
            claim_about_value(
                float((dataset["outcome"] == "converged").mean()),
                name="every run converges",
                statement=f"Every stage of every run reaches a loss of {config.goal:g}.",
                place="(ours)",
                at_least=1.0,
            )
        ]
        if config.depth == 2:
            found.append(
                claim_about_value(
                    float(dataset["gap"].max(skipna=False)),
                    name="pre-training's closed form",
                    statement="Pre-training ends at its closed-form limit, to 1e-6 in every entry.",
                    place="Proposition 4.1",
                    at_most=1e-6,
                )
            )
        for value in config.added:
            found += self._claims_for(dataset.sel({ADDED: value}), config, value)
        return found

    def _claims_for(
        self, runs: "xarray.Dataset", config: TwoByTwoConfig, value: float
    ) -> list[Claim]:
        from tacit.theory.depth import plasticity_bound

        found = []
        words = f"w₁₂ = {value:g}"
        finite = [m for m in config.ratio if 10 <= m < np.inf]
        rank = runs["effective_rank"]
        if finite:
            warm, cold = (rank.sel({STAGE: s, RATIO: finite}) for s in ("warm", "cold"))
            found.append(
                claim_about_value(
                    float((warm - cold).min(skipna=False)),
                    name=f"a warm start keeps rank, {words}",
                    statement=f"{words}: from every finite m ≥ 10 the effective rank after a warm "
                    "start is above that after a cold one.",
                    place=f"{self.figure}, left and middle",
                    at_least=0.0,
                )
            )
        if np.inf not in config.ratio:
            return found
        end = runs.sel({RATIO: np.inf, STAGE: "warm"})
        found.append(
            claim_about_value(
                float(end["hidden_entry"]),
                name=f"w₂₁ < 0 at m = ∞, {words}",
                statement=f"{words}: from α I a warm start ends at w₂₁ < 0, where the rank-one "
                f"matrix has {config.first * config.second / value:g}.",
                place=f"{self.figure}, right; Theorem 4.2",
                at_most=0.0,
            )
        )
        if config.depth == 2 and config.first == config.second:
            bound = float(plasticity_bound(config.first, value).stable_rank)
            found.append(
                claim_about_value(
                    float(end["stable_rank"]),
                    name=f"Theorem 4.2's bound, {words}",
                    statement=f"{words}: from α I the stable rank after a warm start is at least "
                    f"{bound:.4f}.",
                    place="Theorem 4.2",
                    at_least=bound,
                )
            )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: TwoByTwoConfig, claims: Sequence[Claim]
    ) -> Figure:
        """A row of three panels for each value that is added."""
        panels = []
        for value in config.added:
            runs = dataset.sel({ADDED: value})
            panels += [
                _panel(f"w₁₂ = {value:g}: effective rank", "effective rank", runs, config, value),
                _panel(f"w₁₂ = {value:g}: stable rank", "stable rank", runs, config, value),
                _panel(f"w₁₂ = {value:g}: the entry never seen", "w₂₁", runs, config, value),
            ]
        return Figure(
            self.title(config),
            panels,
            columns=3,
            caption=(
                f"2 × 2, w₁₁ = {config.first:g}, w₂₂ = {config.second:g}; {config.depth} factors "
                f"with α = {config.scale:g} on the diagonal and α/m elsewhere; gradient flow to a "
                f"loss of {config.goal:g}. " + self.words(config)
            ),
        )

    def title(self, config: TwoByTwoConfig) -> str:
        """The figure's title."""
        return "A warm start keeps the rank of the first fit"

    def words(self, config: TwoByTwoConfig) -> str:
        """What else the caption says."""
        return ""


def _panel(
    title: str, kind: str, runs: "xarray.Dataset", config: TwoByTwoConfig, value: float
) -> Panel:
    from tacit.theory.depth import plasticity_bound

    name = {"effective rank": "effective_rank", "stable rank": "stable_rank", "w₂₁": "hidden_entry"}
    values = runs[name[kind]]
    finite = np.array(sorted(m for m in config.ratio if np.isfinite(m)))
    far = float(finite[-1] * 30) if finite.size else 1.0
    marks: list[Mark] = []
    if kind == "w₂₁":
        wanted = config.first * config.second / value
        marks += [HorizontalRule(wanted, label="rank-one completion"), HorizontalRule(0.0)]
    for colour, stage in enumerate(STAGES):
        at = values.sel({STAGE: stage})
        if finite.size:
            marks.append(
                Line(
                    finite,
                    at.sel({RATIO: finite}).values,
                    label=STAGE_WORDS[stage],
                    colour=colour,
                    marker="o",
                )
            )
        if np.inf in config.ratio:
            marks.append(
                Points([far], [float(at.sel({RATIO: np.inf}))], colour=colour, marker="D", size=6)
            )
    if kind == "stable rank" and config.depth == 2 and config.first == config.second:
        bound = float(plasticity_bound(config.first, value).stable_rank)
        label = "Theorem 4.2: warm, m = ∞, is above"
        marks.append(HorizontalRule(bound, label=label, colour="warning"))
    ticks = {float(10.0**k): f"10{_raised(k)}" for k in range(0, 7, 2) if 10.0**k <= finite[-1]}
    if np.inf in config.ratio:
        ticks[far] = "∞"
    return Panel(
        title,
        Axis("m, diagonal over off-diagonal", scale="log", ticks=ticks),
        Axis(kind),
        marks,
        legend="outside",
    )


def _raised(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
