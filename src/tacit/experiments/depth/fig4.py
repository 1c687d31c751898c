"""depth, Figure 4: does Figure 1 hold for every pattern of a 3 × 3 matrix?

The comparison: the effective rank of the completed matrix against the initial scale, for depths 2,
3, 4, averaged over all connected patterns and over all disconnected ones. Patterns that differ by
the order of rows or columns or by transposition count once: 17 are connected, 6 are not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_fraction, claim_about_mean, claim_about_value
from tacit.draw import Axis, Band, Figure, HorizontalRule, Line, Mark, Panel, Points
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._parameter import parameter
from tacit.experiments.depth._flow_config import FlowConfig
from tacit.store import DEPTH, PATTERN, SCALE, SEED, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

# What `Pattern.classes(3, 3, least=2, most=8)` lists; written out, since it needs no JAX this way,
# and a test holds them equal.
CONNECTED = (
    "000.000.011", "000.000.111", "000.001.011", "000.001.111", "000.011.011", "000.011.101",
    "000.011.111", "001.001.111", "001.010.111", "001.011.110", "000.111.111", "001.011.111",
    "001.110.111", "011.101.110", "001.111.111", "011.101.111", "011.111.111",
)  # fmt: skip
DISCONNECTED = (
    "000.001.010", "000.001.110", "001.010.100", "001.001.110", "001.010.101", "001.110.110",
)  # fmt: skip

TRIAL = 1.505
"""Mean effective rank of the disconnected patterns at L = 2, αᴸ = 1e-7, in an earlier run."""


@dataclass(frozen=True, kw_only=True)
class Fig4Config(FlowConfig):
    """Parameters of depth/fig4; the defaults are the paper's."""

    depth: tuple[int, ...] = parameter((2, 3, 4), "number L of factors", low=2, high=12, swept=True)
    pattern: tuple[str, ...] = parameter(
        (*CONNECTED, *DISCONNECTED),
        "rows of the mask of observed entries",
        choices=(*CONNECTED, *DISCONNECTED),
        swept=True,
    )
    scale: tuple[float, ...] = parameter(
        (1e-1, 1e-3, 1e-5, 1e-7),
        "initial scale αᴸ of the product",
        low=1e-40,
        high=10.0,
        swept=True,
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(10)), "trial: target and start", low=0, swept=True
    )
    size: int = parameter(3, "rows and columns of the matrix", low=3, high=3)


class Fig4(Experiment):
    """Effective rank against initial scale over all patterns of a 3 × 3 matrix."""

    id = "depth/fig4"
    paper = "depth"
    figure = "Figure 4"
    summary = "effective rank of completed 3 × 3 matrices over all 23 patterns of observation"
    version = 1
    Config = Fig4Config
    presets: ClassVar[Mapping[str, Fig4Config]] = {
        "smoke": Fig4Config(
            depth=(2, 3),
            pattern=(*CONNECTED[::4], *DISCONNECTED[::2]),
            scale=(1e-1, 1e-5),
            seed=(0, 1),
        ),
        "quick": Fig4Config(),
        "paper": Fig4Config(),
    }
    batch_by = (DEPTH,)

    def variables(self, config: Fig4Config) -> dict[str, Variable]:
        """Loss and norm stand beside the rank: a rank means little where either is off."""
        return {
            "outcome": OUTCOME,
            "effective_rank": Variable((), "1", "effective rank of the product"),
            "loss": Variable((), "1", "loss at the end"),
            "norm": Variable((), "1", "Frobenius norm of the product"),
            "target_norm": Variable((), "1", "Frobenius norm of the target"),
            "steps_taken": Variable((), "1", "steps of the method", "int64"),
        }

    def cell(self, batch: Batch, config: Fig4Config) -> Mapping[str, Any]:
        """All patterns, scales and trials of one depth as one program."""
        from tacit.experiments.depth._pattern_runs import complete_patterns
        from tacit.problems import Pattern

        masks = np.stack([Pattern.named(name).mask for name in batch.column(PATTERN)])
        return complete_patterns(batch, config, masks)[0]

    def claims(self, dataset: "xarray.Dataset", config: Fig4Config) -> list[Claim]:
        """Means over patterns and trials at the smallest scale, and what they are counted from."""
        trained = dataset["loss"] <= config.gate
        rank = dataset["effective_rank"].where(trained)
        smallest = min(config.scale)
        kinds = {
            "connected": [name for name in config.pattern if name in CONNECTED],
            "disconnected": [name for name in config.pattern if name in DISCONNECTED],
        }
        found = []
        for kind, names in kinds.items():
            for depth in config.depth if names else ():
                values = rank.sel({PATTERN: names, DEPTH: depth, SCALE: smallest}).values.ravel()
                values = values[~np.isnan(values)]
                low = kind == "connected" or depth >= 3
                found.append(
                    claim_about_mean(
                        values,
                        name=f"{kind}, depth {depth}",
                        statement=f"{kind.capitalize()}, depth {depth}, from αᴸ = {smallest:g}: "
                        + ("the mean effective rank is one." if low else
                           "the mean effective rank stays above one."),
                        place="Figure 4",
                        at_most=1.05 if low else None,
                        at_least=None if low else 1.2,
                    )
                )  # fmt: skip
                if not low and smallest == 1e-7 and values.size > 1:
                    error = values.std(ddof=1) / np.sqrt(values.size)
                    found.append(
                        claim_about_value(
                            abs(values.mean() - TRIAL) / error,
                            name="the trial's mean",
                            statement=f"For L = 2 that mean ({values.mean():.3f}) is within three "
                            f"standard errors of an earlier run's, {TRIAL}.",
                            place="(ours)",
                            at_most=3.0,
                        )
                    )
        found.append(
            claim_about_fraction(
                int(trained.sum()),
                trained.size,
                name="runs that count",
                statement=f"At least 99% of the runs reach a loss of {config.gate:g}.",
                place="(ours)",
                at_least=0.99,
            )
        )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig4Config, claims: Sequence[Claim]
    ) -> Figure:
        """Means over each kind of pattern, and every pattern by itself at the smallest scale."""
        scales = np.array(sorted(config.scale))
        x = Axis("initial scale αᴸ", scale="log")
        rank = dataset["effective_rank"].where(dataset["loss"] <= config.gate)
        panels = []
        for kind, known in (("connected", CONNECTED), ("disconnected", DISCONNECTED)):
            names = [name for name in config.pattern if name in known]
            marks: list[Mark] = [HorizontalRule(1.0, label="rank one")]
            for colour, depth in enumerate(config.depth if names else ()):
                runs = rank.sel({PATTERN: names, DEPTH: depth, SCALE: scales})
                table = runs.transpose(SCALE, PATTERN, SEED).values
                mean, half = _mean_and_error(table.reshape(len(scales), -1))
                marks += [
                    Band(scales, mean - half, mean + half, colour=colour),
                    Line(scales, mean, label=f"L = {depth}", colour=colour, marker="o"),
                ]
            panels.append(
                Panel(f"{len(names)} {kind} patterns", x, Axis("mean effective rank"), marks)
            )
        order = [*(n for n in CONNECTED if n in config.pattern),
                 *(n for n in DISCONNECTED if n in config.pattern)]  # fmt: skip
        places = np.arange(len(order), dtype=float)
        marks = [HorizontalRule(1.0, label="rank one")]
        for colour, depth in enumerate(config.depth):
            values = rank.sel({PATTERN: order, DEPTH: depth, SCALE: scales[0]}).mean(SEED)
            shift = 0.25 * (colour - (len(config.depth) - 1) / 2)
            marks.append(Points(places + shift, values.values, label=f"L = {depth}", colour=colour))
        panels.append(
            Panel(
                f"each pattern, αᴸ = {scales[0]:g}",
                Axis("pattern: connected, then disconnected", ticks=_ticks(order)),
                Axis("mean effective rank"),
                marks,
                legend="outside",
            )
        )
        late = int((~(dataset["loss"] <= config.gate)).sum())
        return Figure(
            "Every pattern of a 3 × 3 matrix: depth does what connection does",
            panels,
            columns=3,
            caption=(
                "Targets of rank one, Gaussian factors, "
                f"{len(config.seed)} trials for each pattern and point, gradient flow to a loss of "
                f"{config.goal:g}. Bands: three standard errors of the mean. "
                f"{late} of {dataset['loss'].size} runs left out for a loss above {config.gate:g}."
            ),
        )


def _ticks(order: list[str]) -> dict[float, str]:
    """The places of the first pattern of each kind."""
    ticks = {}
    if any(name in CONNECTED for name in order):
        ticks[0.0] = "connected"
    split = next((place for place, name in enumerate(order) if name in DISCONNECTED), None)
    if split is not None:
        ticks[float(split)] = "disconnected"
    return ticks


def _mean_and_error(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and three standard errors of each row, without what is missing."""
    rows = [row[~np.isnan(row)] for row in table]
    mean = np.array([row.mean() if row.size else np.nan for row in rows])
    spread = np.array([row.std() if row.size else np.nan for row in rows])
    return mean, 3 * spread / np.sqrt([max(row.size, 1) for row in rows])
