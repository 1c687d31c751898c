"""connectivity, Figure 4: how the strength of initial connectivity speeds up a linear network.

The comparison: learning time, norm of ΔW, mean norm of the gradient and the loss after shuffling
W₀, against g, in simulation, at first order as the paper predicts them, and exactly for large N
(ours). The first three are taken relative to their value at g = 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_mean, claim_about_value
from tacit.draw import Axis, Band, Figure, Line, Mark, Panel
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._parameter import parameter
from tacit.store import SEED, STRENGTH, TARGET, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

QUANTITIES = {
    "learning_time": "learning time τ*",
    "change_norm": "norm of ΔW at the end",
    "gradient_norm": "mean norm of dW/dτ until τ*",
}
FIRST_ORDER = {
    "learning_time": "(1 − g²)²",
    "change_norm": "1 − g²",
    "gradient_norm": "1/(1 − g²)",
}
FAR = {
    ("learning_time", 2.0): 0.11,
    ("change_norm", 1.0): 0.12,
    ("change_norm", 2.0): 0.15,
    ("gradient_norm", 0.5): 0.45,
    ("gradient_norm", 1.0): 0.60,
    ("gradient_norm", 2.0): 0.38,
}
"""Where first order is further than a tenth of the panel's height from the exact theory for large
N, and how far, with g up to 0.9."""
LATE = (
    "Third-order terms grow with ẑ²β, (14) and (15): the exact theory for large N is off first "
    "order by {:.2f} of the panel's height, with g up to 0.9."
)


@dataclass(frozen=True, kw_only=True)
class Fig4Config(Config):
    """Parameters of connectivity/fig4; the defaults are the paper's."""

    target: tuple[float, ...] = parameter(
        (0.5, 1.0, 2.0), "target ẑ of the output", low=0.01, high=100.0, swept=True
    )
    g: tuple[float, ...] = parameter(
        (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
        "strength of the initial connectivity",
        low=0.0,
        high=0.95,
        swept=True,
    )
    seed: tuple[int, ...] = parameter(tuple(range(5)), "seed of W₀, w and m", low=0, swept=True)
    width: int = parameter(1024, "number N of units", low=2, high=8192)
    epochs: int = parameter(200, "steps of gradient descent", low=10, high=100_000)
    fraction: float = parameter(0.05, "of the initial loss: when learning ends", low=1e-6, high=0.9)


class Fig4(Experiment):
    """Learning time, change, gradient and shuffled loss against g."""

    id = "connectivity/fig4"
    paper = "connectivity"
    figure = "Figure 4"
    summary = "a linear network's learning time, change and gradient against initial connectivity"
    version = 1
    Config = Fig4Config
    presets: ClassVar[Mapping[str, Fig4Config]] = {
        "smoke": Fig4Config(width=60, g=(0.0, 0.5), target=(0.5, 2.0), seed=(0, 1)),
        "quick": Fig4Config(width=256, g=(0.0, 0.2, 0.4, 0.6, 0.8), seed=tuple(range(10))),
        "paper": Fig4Config(),
    }
    batch_by = (STRENGTH,)

    def variables(self, config: Fig4Config) -> dict[str, Variable]:
        """Each from simulation and, but for shuffling, exact for large N."""
        return {
            "outcome": OUTCOME,
            **{name: Variable((), "1", words) for name, words in QUANTITIES.items()},
            **{
                f"limit_{name}": Variable((), "1", f"{words}, large N")
                for name, words in QUANTITIES.items()
            },
            "shuffled_loss": Variable((), "1", "loss after shuffling W₀ / initial loss"),
            "final_loss": Variable((), "1", "loss at the end / initial loss"),
        }

    def cell(self, batch: Batch, config: Fig4Config) -> Mapping[str, Any]:
        """All targets and seeds of one strength."""
        from tacit.experiments.connectivity._strength_runs import strength_runs

        return strength_runs(batch, config)

    def claims(self, dataset: "xarray.Dataset", config: Fig4Config) -> list[Claim]:
        """Agreement with first order, which is what the paper shows, and with exact theory."""
        found = []
        for name, words in QUANTITIES.items():
            for target in config.target:
                ratio, exact, first = ratios(dataset, config, name, target)
                for kind, curve, place in (
                    (f"first order, {FIRST_ORDER[name]}", first, "Figure 4(a)–(c)"),
                    ("the exact theory for large N", exact, "Figure 4(a)–(c) (ours)"),
                ):
                    off, error = _furthest(ratio, curve, scale=float(first.max()))
                    far = curve is first and (name, target) in FAR
                    found.append(
                        claim_about_value(
                            off,
                            error=error,
                            name=f"{words}, {kind.split(',')[0]}, ẑ = {target:g}",
                            statement=f"For ẑ = {target:g}, the {words} relative to "
                            f"g = {min(config.g):g} follows {kind}: the mean over networks is "
                            "off by a tenth of the panel's height at most, at every g.",
                            place=place,
                            at_most=0.1,
                            expected="fails" if far else "holds",
                            because=LATE.format(FAR[name, target]) if far else "",
                        )
                    )
        strongest = max(config.g)
        for target in config.target:
            runs = dataset.sel({TARGET: target, STRENGTH: strongest})
            found.append(
                claim_about_mean(
                    np.nan_to_num(runs["shuffled_loss"].values, nan=np.inf, posinf=np.inf),
                    name=f"shuffling, ẑ = {target:g}",
                    statement=f"For ẑ = {target:g} and g = {strongest:g}, shuffling W₀ brings back "
                    "a tenth of the initial loss or more.",
                    place="Figure 4(d)",
                    at_least=0.1,
                )
            )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig4Config, claims: Sequence[Claim]
    ) -> Figure:
        """Three ratios and the shuffled loss."""
        panels = [_ratio_panel(dataset, config, name) for name in QUANTITIES]
        panels.append(_shuffled_panel(dataset, config))
        return Figure(
            "Initial connectivity speeds up learning, and more so for large targets",
            panels,
            columns=2,
            caption=(
                f"N = {config.width}, {config.epochs} epochs of plain gradient descent on W, "
                f"{dataset.sizes[SEED]} seeds: mean and standard deviation. "
                "Dashed, grey: "
                "first order. Dotted: exact for large N."
            ),
        )


def first_order(name: str, g: np.ndarray) -> np.ndarray:
    """The paper's scalings (12), (13), relative to the smallest g."""
    power = {"learning_time": 2, "change_norm": 1, "gradient_norm": -1}[name]
    scaling = (1 - g**2) ** power
    return scaling / scaling[np.argmin(g)]


def _furthest(table: np.ndarray, curve: np.ndarray, *, scale: float) -> tuple[float, float]:
    """The largest |mean − curve| over g, and two standard errors of the mean there, by `scale`.

    A run that did not reach the end of learning makes the difference infinite.
    """
    filled = np.nan_to_num(table, nan=np.inf, posinf=np.inf)
    if not np.isfinite(filled).all():
        return np.inf, 0.0
    off = np.abs(filled.mean(axis=1) - curve) / scale
    worst = int(np.argmax(off))
    count = table.shape[1]
    error = 2 * filled[worst].std(ddof=1) / np.sqrt(count) / scale if count > 1 else np.inf
    return float(off[worst]), float(error)


def ratios(
    dataset: "xarray.Dataset", config: Fig4Config, name: str, target: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(g, seeds) of simulation, then exact and first order (g,), all relative to the smallest g."""
    g = np.array(sorted(config.g))
    runs = dataset.sel({TARGET: target, STRENGTH: g})
    table = runs[name].transpose(STRENGTH, SEED).values
    exact = runs[f"limit_{name}"].isel({SEED: 0}).values
    return table / table[0], exact / exact[0], first_order(name, g)


def _ratio_panel(dataset: "xarray.Dataset", config: Fig4Config, name: str) -> Panel:
    g = np.array(sorted(config.g))
    marks: list[Mark] = []
    for colour, target in enumerate(config.target):
        ratio, exact, _ = ratios(dataset, config, name, target)
        mean, deviation = ratio.mean(axis=1), ratio.std(axis=1)
        marks += [
            Band(g, mean - deviation, mean + deviation, colour=colour),
            Line(g, mean, label=f"ẑ = {target:g}", colour=colour, marker="o"),
            Line(
                g, exact, label=None if colour else "exact, large N", colour=colour, style="dotted"
            ),
        ]
    marks.append(
        Line(
            g,
            first_order(name, g),
            label=f"first order: {FIRST_ORDER[name]}",
            colour="reference",
            style="dashed",
        )
    )
    log = name == "gradient_norm"
    return Panel(
        f"{QUANTITIES[name]}, relative to g = {g[0]:g}",
        Axis("g"),
        Axis("ratio", scale="log" if log else "linear", limits=None if log else (0, None)),
        marks,
        legend="outside",
    )


def _shuffled_panel(dataset: "xarray.Dataset", config: Fig4Config) -> Panel:
    g = np.array(sorted(config.g))
    marks: list[Mark] = []
    for colour, target in enumerate(config.target):
        runs = dataset.sel({TARGET: target, STRENGTH: g})
        table = runs["shuffled_loss"].transpose(STRENGTH, SEED).values
        mean, deviation = table.mean(axis=1), table.std(axis=1)
        marks += [
            Band(g, mean - deviation, mean + deviation, colour=colour),
            Line(g, mean, label=f"ẑ = {target:g}", colour=colour, marker="o"),
        ]
    marks.append(
        Line(
            g,
            g**4 * (2 - g**2) ** 2,
            label="first order: g⁴(2 − g²)²",
            colour="reference",
            style="dashed",
        )
    )
    return Panel(
        "loss after shuffling W₀",
        Axis("g"),
        Axis("loss / initial loss"),
        marks,
        legend="outside",
    )
