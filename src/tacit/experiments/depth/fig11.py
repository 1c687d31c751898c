"""depth, Figure 11: does the bias of depth survive a diagonal that is not quite constant?

The comparison: the stable rank at the end of flow against the initial scale, for a 5 × 5 diagonal
of 1 + ε_i with ε_i ~ N(0, σ²) and three σ, beside Theorem 3.3's limit for σ = 0. Starts are those
of the family (7) with m = 100.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_mean, claim_about_value
from tacit.draw import Axis, Band, Figure, Line, Mark, Panel
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._parameter import parameter
from tacit.experiments.depth._counting import runs_that_count
from tacit.store import DEPTH, NOISE, SCALE, SEED, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class Fig11Config(Config):
    """Parameters of depth/fig11; the defaults are the paper's."""

    depth: tuple[int, ...] = parameter(
        (2, 3, 4, 5), "number L of factors", low=2, high=10, swept=True
    )
    noise: tuple[float, ...] = parameter(
        (0.01, 0.05, 0.1), "standard deviation σ of the noise", low=0.0, high=0.3, swept=True
    )
    scale: tuple[float, ...] = parameter(
        (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
        "initial scale αᴸ of the product",
        low=1e-40,
        high=10.0,
        swept=True,
    )
    seed: tuple[int, ...] = parameter(tuple(range(10)), "draw of the noise", low=0, swept=True)
    size: int = parameter(5, "rows and columns of the matrix", low=2, high=20)
    target: float = parameter(1.0, "value w* of the diagonal before the noise", low=1e-3, high=1e3)
    ratio: float = parameter(100.0, "m: diagonal over off-diagonal of a start", low=1.0)
    goal: float = parameter(1e-14, "loss of a converged run", low=0.0, high=1.0)
    tolerance: float = parameter(1e-8, "relative tolerance of the flow", low=1e-13, high=1e-2)
    attempts: int = parameter(600, "steps of the explicit solver at most", low=1, high=10_000_000)
    tail_attempts: int = parameter(
        1_000, "steps of the implicit solver at most", low=1, high=10_000_000
    )


class Fig11(Experiment):
    """Stable rank against initial scale from noisy diagonals."""

    id = "depth/fig11"
    paper = "depth"
    figure = "Figure 11"
    summary = "stable rank against scale and depth when the diagonal is noisy"
    version = 1
    Config = Fig11Config
    presets: ClassVar[Mapping[str, Fig11Config]] = {
        "smoke": Fig11Config(depth=(2, 3), noise=(0.05, 0.1), scale=(1e-1, 1e-5), seed=(0, 1)),
        "quick": Fig11Config(),
        "paper": Fig11Config(),
    }
    batch_by = (DEPTH,)

    def variables(self, config: Fig11Config) -> dict[str, Variable]:
        """Ranks, loss and, for depth two, the distance to the closed form."""
        return {
            "outcome": OUTCOME,
            "stable_rank": Variable((), "1", "stable rank of the product"),
            "effective_rank": Variable((), "1", "effective rank of the product"),
            "loss": Variable((), "1", "loss at the end"),
            "gap": Variable((), "1", "largest entry of |product − closed form|, depth 2"),
        }

    def cell(self, batch: Batch, config: Fig11Config) -> Mapping[str, Any]:
        """All draws, levels of noise and scales of a depth; a draw is the same for all of them."""
        from tacit.experiments.depth._diagonal_cell import flow_on_diagonals

        draws = np.stack(
            [np.random.default_rng(int(s)).standard_normal(config.size) for s in batch.column(SEED)]
        )
        diagonals = config.target + batch.column(NOISE)[:, None] * draws
        scales = batch.column(SCALE)
        ratios = np.full(scales.shape, config.ratio)
        return flow_on_diagonals(batch.one(DEPTH), scales, ratios, diagonals, config, batch.label)

    def claims(self, dataset: "xarray.Dataset", config: Fig11Config) -> list[Claim]:
        """Depth lowers the rank at every level of noise; more noise lowers it further."""
        good = dataset["outcome"] == "converged"
        rank = dataset["stable_rank"].where(good)
        smallest, depths = min(config.scale), sorted(config.depth)
        found = []
        for noise in sorted(config.noise):
            runs = rank.sel({NOISE: noise, SCALE: smallest})
            for less, deeper in itertools.pairwise(depths):
                fall = (runs.sel({DEPTH: less}) - runs.sel({DEPTH: deeper})).values
                found.append(
                    claim_about_mean(
                        fall[~np.isnan(fall)],
                        name=f"σ = {noise:g}: depth {deeper} below {less}",
                        statement=f"Noise {noise:g}, from αᴸ = {smallest:g}: the stable rank of "
                        f"depth {deeper} is below that of depth {less}.",
                        place="Figure 11",
                        at_least=0.0,
                    )
                )
        levels = sorted(config.noise)
        for depth in depths if len(levels) > 1 else ():
            runs = rank.sel({DEPTH: depth, SCALE: smallest})
            fall = (runs.sel({NOISE: levels[0]}) - runs.sel({NOISE: levels[-1]})).values
            found.append(
                claim_about_mean(
                    fall[~np.isnan(fall)],
                    name=f"more noise, lower rank, depth {depth}",
                    statement=f"Depth {depth}, from αᴸ = {smallest:g}: noise {levels[-1]:g} leads "
                    f"to a lower stable rank than noise {levels[0]:g}.",
                    place="appendix C.1",
                    at_least=0.0,
                )
            )
        if 2 in config.depth:
            found.append(
                claim_about_value(
                    float(dataset["gap"].where(good).sel({DEPTH: 2}).max()),
                    name="closed form, depth 2",
                    statement="Every run of depth 2 ends at its own closed-form limit, to 1e-5 in "
                    "every entry.",
                    place="Proposition 4.1",
                    at_most=1e-5,
                )
            )
        found.append(runs_that_count(good, config.goal, 0.99))
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig11Config, claims: Sequence[Claim]
    ) -> Figure:
        """A panel for each level of noise: mean and deviation, and the limit without noise."""
        scales = np.array(sorted(config.scale))
        rank = dataset["stable_rank"].where(dataset["outcome"] == "converged")
        panels = []
        for noise in sorted(config.noise):
            marks: list[Mark] = []
            for colour, depth in enumerate(sorted(config.depth)):
                table = rank.sel({NOISE: noise, DEPTH: depth, SCALE: scales})
                mean, spread = table.mean(SEED).values, table.std(SEED).values
                marks += [
                    Band(scales, mean - spread, mean + spread, colour=colour),
                    Line(scales, mean, label=f"L = {depth}", colour=colour, marker="o"),
                    Line(scales, self._limit(depth, scales, config), colour=colour, style="dashed"),
                ]
            panels.append(
                Panel(
                    f"σ = {noise:g}",
                    Axis("initial scale αᴸ", scale="log"),
                    Axis("stable rank", limits=(0.8, config.size)),
                    marks,
                )
            )
        good = dataset["outcome"] == "converged"
        return Figure(
            "Depth lowers the rank when the diagonal is noisy too",
            panels,
            columns=3,
            caption=(
                f"{config.size} × {config.size}, diagonal {config.target:g} + σ·N(0, 1) observed, "
                f"starts (7) with m = {config.ratio:g}. Solid: mean and standard deviation over "
                f"{len(config.seed)} draws. Dashed: Theorem 3.3 without noise. "
                f"{int(good.size - good.sum())} of {good.size} runs left out for a loss above "
                f"{config.goal:g}."
            ),
        )

    def _limit(self, depth: int, scales: np.ndarray, config: Fig11Config) -> np.ndarray:
        from tacit.theory.depth import limit_singular_values

        limit = limit_singular_values(
            depth=depth,
            scale=scales ** (1 / depth),
            ratio=config.ratio,
            blocks=config.size,
            target=config.target,
        )
        share = np.asarray(limit.others) / np.asarray(limit.first)
        return np.broadcast_to(1 + (config.size - 1) * share**2, scales.shape)
