"""kernel/memory (ours): how many steps of descent does a lag of j cost?

The comparison: the number of steps after which a wide linear RNN has made half of a unit change at
lag j, beside the exact count in the limit of infinite width, log ½ / log(1 − η ρ_j). Theorem 4.1
says that it grows like ν_W^{−j}; the count says by how much.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median, claim_about_value
from tacit.draw import Axis, Figure, Line, Mark, Panel, Points, Shade
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._parameter import parameter
from tacit.store import DELAY, SEED, WIDTH, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

VARIANCES = (0.1, 0.3, 0.5, 0.9)


@dataclass(frozen=True, kw_only=True)
class MemoryConfig(Config):
    """Parameters of kernel/memory."""

    width: tuple[int, ...] = parameter(
        (100, 300, 1000), "hidden units n of the RNN", low=2, high=10_000, swept=True
    )
    delay: tuple[int, ...] = parameter(
        tuple(range(8)), "the lag j that has to change", low=0, high=100, units="steps", swept=True
    )
    seed: tuple[int, ...] = parameter(tuple(range(10)), "seed of the RNN", low=0, swept=True)
    length: int = parameter(10, "lags that the loss is about", low=1, high=200, units="steps")
    nu_w: float = parameter(0.3, "variance ν_W", low=0.01, high=1.0)
    rate: float = parameter(0.1, "learning rate on ½ ‖L − L*‖²", low=1e-9, high=1.0)
    share: float = parameter(0.5, "share of the change that counts as made", low=0.01, high=0.99)
    patience: float = parameter(
        3.0, "the RNN is given so many times the predicted steps", low=1.0, high=1000.0
    )


class Memory(Experiment):
    """Steps to learn a lag, measured and predicted."""

    id = "kernel/memory"
    paper = "kernel"
    figure = "ours, beside Theorem 4.1"
    summary = "steps that a lag of j costs a wide linear RNN, beside the exact count of the limit"
    version = 1
    Config = MemoryConfig
    presets: ClassVar[Mapping[str, MemoryConfig]] = {
        "smoke": MemoryConfig(width=(60,), delay=(0, 2), seed=(0, 1)),
        "quick": MemoryConfig(width=(100, 400), delay=tuple(range(5))),
        "paper": MemoryConfig(),
    }
    batch_by = (WIDTH,)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 5}

    def variables(self, config: MemoryConfig) -> dict[str, Variable]:
        """Steps, measured and predicted."""
        return {
            "outcome": OUTCOME,
            "steps": Variable((), "1", "steps after which the share of the change is made"),
            "limit_steps": Variable((), "1", "the same at infinite width, exactly"),
            "start_steps": Variable((), "1", "the same for the RNN's own kernel at start"),
        }

    def cell(self, batch: Batch, config: MemoryConfig) -> Mapping[str, Any]:
        """One width, its lags and seeds at once."""
        from tacit.experiments.kernel._lag_change import change_lag

        return change_lag(batch, config)

    def claims(self, dataset: "xarray.Dataset", config: MemoryConfig) -> list[Claim]:
        """The count at the largest width, and how it grows."""
        from tacit.theory.kernel import lag_weights

        n, last = max(config.width), max(config.delay)
        runs = dataset.sel({WIDTH: n})
        found = []
        for delay in (min(config.delay), last):
            chosen = runs.sel({DELAY: delay})
            found.append(
                claim_about_median(
                    abs(np.log((chosen["steps"] / chosen["limit_steps"]).values)),
                    name=f"lag {delay}: the exact count",
                    statement=f"At n = {n} the steps that lag {delay} costs are the limit's to "
                    "20% (in the logarithm 0.18).",
                    place="Theorem 4.1 (the count: ours)",
                    at_most=0.18,
                )
            )
        if last > 0:
            first = runs["steps"].sel({DELAY: min(config.delay)}).values
            late = runs["steps"].sel({DELAY: last}).values
            lags = last - min(config.delay)
            found.append(
                claim_about_median(
                    (late / first) ** (1 / lags),
                    name="each lag costs a factor",
                    statement=f"From lag {min(config.delay)} to {last} the cost grows at least by "
                    "a factor of 2 with each lag, in the geometric mean.",
                    place="section 4",
                    at_least=2.0,
                    expected="holds" if _factor(config) > 2 else "fails",
                    because=""
                    if _factor(config) > 2
                    else f"exactly, the factor is {_factor(config):.2f} in the limit over these "
                    "lags: the j in ρ_j, from the many ways to reach lag j through W, holds "
                    "against ν_W^j for the first lags",
                )
            )
        far = lag_weights(201, nu_w=config.nu_w)
        found.append(
            claim_about_value(
                far[199] / far[200] * config.nu_w,
                name="the factor tends to 1/ν_W",
                statement="ρ_j/ρ_{j+1} at j = 199 is 1/ν_W to one per cent.",
                place="(22)",
                at_least=0.99,
            )
        )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: MemoryConfig, claims: Sequence[Claim]
    ) -> Figure:
        """Measured over exact counts, and the exact counts for other variances."""
        delays = np.array(sorted(config.delay), float)
        x = Axis("lag j", ticks=delays)
        steps = Axis(f"steps to {config.share:.0%} of the change", scale="log")
        ordered = dataset.sel({DELAY: sorted(config.delay)})
        exact = ordered["limit_steps"].isel({SEED: 0, WIDTH: 0}).values
        marks: list[Mark] = [
            Line(delays, exact, label="infinite width, exact", colour="reference", style="dashed")
        ]
        widths = sorted(config.width)
        for place, width in enumerate(widths):
            table = ordered["steps"].sel({WIDTH: width}).transpose(SEED, DELAY).values
            shift = 0.16 * (place - (len(widths) - 1) / 2)
            marks.append(
                Points(
                    np.tile(delays + shift, len(table)),
                    table.ravel(),
                    label=f"n = {width:,}, each seed",
                    colour=place,
                    size=3.5,
                    opacity=0.6,
                )
            )
        return Figure(
            "What a lag costs: steps of descent, counted and exact",
            [
                Panel("measured beside exact", x, steps, marks),
                Panel("exact, for other variances of W", x, steps, _exact_lines(config, delays)),
            ],
            caption=(
                f"Linear RNNs with ν_W = {config.nu_w:g}, ν_F = ν_C = 1, gradient descent with "
                f"rate {config.rate:g} on ½ ‖L − L*‖² over {config.length} lags, where L* is the "
                f"response at the start with one more at lag j. {len(config.seed)} seeds."
            ),
        )


def exact_steps(config: MemoryConfig, nu_w: float, lags: np.ndarray) -> np.ndarray:
    """The number of steps, not rounded: log(1 − share)/log(1 − η ρ_j)."""
    from tacit.theory.kernel import lag_weights

    rho = lag_weights(int(lags.max()) + 1, nu_w=nu_w)[lags.astype(int)]
    return np.log1p(-config.share) / np.log1p(-np.minimum(config.rate * rho, 1 - 1e-12))


def _factor(config: MemoryConfig) -> float:
    """By how much a lag costs more than the one before, in the geometric mean, in the limit."""
    ends = np.array([min(config.delay), max(config.delay)])
    first, last = exact_steps(config, config.nu_w, ends)
    return float((last / first) ** (1 / (ends[1] - ends[0])))


def _exact_lines(config: MemoryConfig, delays: np.ndarray) -> list[Mark]:
    variances = sorted({*VARIANCES, config.nu_w})
    shades = Shade.family(len(variances))
    return [
        Line(
            delays,
            exact_steps(config, nu_w, delays),
            label=f"variance {nu_w:g}",
            colour=shade,
            marker="o",
        )
        for nu_w, shade in zip(variances, shades, strict=True)
    ]
