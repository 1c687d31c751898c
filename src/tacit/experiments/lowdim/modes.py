"""Beyond lowdim: a dense student from near zero learns the teacher's modes one after another.

The comparison: Hankel singular values of the student over the time of gradient flow beside the
teacher's, for several initial scales. Each is close to zero until it is learned, and then at the
teacher's value: between two of them the student waits near a saddle. Time is counted in units of
the flow of (3.4), which has no ½. Near zero B and Cᵀ grow together as e^{2 h₀ t} with h₀ = ĈB̂,
so the first rise, to a response of h₀ at lag 0 alone, should come at a time that grows by 1/(2 h₀)
for each factor e in the initial scale (Proposition 9's w₀); what comes later waits
for A to grow in the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_fraction, claim_about_median
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._errors import UsageError
from tacit.experiments._lines import median_line
from tacit.experiments._parameter import parameter
from tacit.experiments.lowdim._fig1a_draw import TITLES
from tacit.store import SCALE, SEED, SINGULAR_VALUE, TEACHER, TIME, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray


NEAR_ZERO = 1e-3  # a start from which modes are learned one by one


@dataclass(frozen=True, kw_only=True)
class ModesConfig(Config):
    """Parameters of lowdim/modes."""

    teacher: tuple[str, ...] = parameter(
        ("well-conditioned",), "the teacher's spectrum", choices=tuple(TITLES), swept=True
    )
    scale: tuple[float, ...] = parameter(
        (1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
        "standard deviation of the student's start",
        low=1e-9,
        high=1.0,
        swept=True,
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(10)), "seed of teacher and student", low=0, swept=True
    )
    order: int = parameter(5, "order of the teacher", low=1, high=20)
    width: int = parameter(40, "width d of the student", low=2, high=2000)
    length: int = parameter(20, "training length k", low=1, high=200, units="lags")
    lags: int = parameter(20, "lags in the Hankel matrix", low=2, high=500)
    modes: int = parameter(8, "singular values that are kept", low=1, high=100)
    early: float = parameter(
        10.0, "time to which looks are evenly spaced: growth is exponential", low=1e-3, high=1e6
    )
    early_looks: int = parameter(40, "looks until then", low=1, high=10_000)
    last: float = parameter(1e6, "time of the last look", low=1e-3, high=1e12)
    looks: int = parameter(70, "looks after it, evenly in log time", low=1, high=10_000)
    tolerance: float = parameter(1e-3, "relative tolerance of the flow", low=1e-10, high=0.1)
    goal: float = parameter(1e-28, "loss at which a run has converged", low=0.0, high=1.0)
    level: float = parameter(
        0.5, "fraction of the teacher's value at which a mode appears", low=0, high=1, analysis=True
    )

    def check(self) -> None:
        """The last look comes after the early ones."""
        if self.last <= self.early:
            raise UsageError(f"last: received {self.last}, it must exceed early, {self.early}")

    def times(self) -> np.ndarray:
        """The times of the looks."""
        even = np.linspace(0, self.early, self.early_looks + 1)[1:]
        return np.concatenate([even, np.geomspace(self.early, self.last, self.looks + 1)[1:]])


class Modes(Experiment):
    """Hankel singular values over training, for several initial scales."""

    id = "lowdim/modes"
    paper = "lowdim"
    figure = "beyond the paper"
    summary = "Hankel singular values of the student over training: one mode after another"
    version = 1
    Config = ModesConfig
    presets: ClassVar[Mapping[str, ModesConfig]] = {
        "smoke": ModesConfig(scale=(1e-3, 1e-1), seed=(0, 1), early_looks=10, looks=3, last=1e3),
        "quick": ModesConfig(scale=(1e-5, 1e-3, 1e-1), looks=30),
        "paper": ModesConfig(),
    }
    batch_by = (TEACHER,)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 10}

    def variables(self, config: ModesConfig) -> dict[str, Variable]:
        """Spectra and losses at every look."""
        return {
            "outcome": OUTCOME,
            "singular_values": Variable(
                (TIME, SINGULAR_VALUE), "1", "student's Hankel singular values"
            ),
            "train_loss": Variable((TIME,), "1", "loss over the first k lags"),
            "teacher_values": Variable((SINGULAR_VALUE,), "1", "teacher's Hankel singular values"),
            "zero_loss": Variable((), "1", "loss of the zero response over the first k lags"),
            "first_weight": Variable((), "1", "the teacher's response at lag 0"),
        }

    def coordinates(self, config: ModesConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """Times and modes."""
        return {TIME: config.times(), SINGULAR_VALUE: np.arange(1, config.modes + 1)}

    def cell(self, batch: Batch, config: ModesConfig) -> Mapping[str, Any]:
        """Train one batch: all scales and seeds of a teacher at once."""
        from tacit.experiments.lowdim._modes import follow_modes

        return follow_modes(batch, config)

    def claims(self, dataset: "xarray.Dataset", config: ModesConfig) -> list[Claim]:
        """In their order, later from smaller starts, and no more of them than the teacher has."""
        chosen = dataset.sel({TEACHER: config.teacher[0]})
        small, large = min(config.scale), max(config.scale)
        scales = np.asarray(config.scale)
        near = scales <= NEAR_ZERO
        times = appearances(chosen, config)  # (scale, seed, mode)
        waits = times[near, :, 1:] / times[near, :, :-1]
        counted = waits[np.isfinite(waits)]
        found = [
            claim_about_fraction(
                int((counted >= 1).sum()),
                counted.size,
                name="one after another",
                statement=f"From scales up to {NEAR_ZERO:g}, modes appear in the order of the "
                "teacher's singular values.",
                place="(ours)",
                at_least=0.95,
            )
        ]
        if near.sum() >= 2:
            start = np.log(1 / scales[near])
            slope = _slopes(start, first_rise(chosen, config)[near])
            weight = chosen["first_weight"].sel({SCALE: small}).transpose(SEED).values
            off = np.abs(slope * 2 * weight - 1)
            found.append(
                claim_about_median(
                    off[~np.isnan(off)],
                    name="first rise: time against scale",
                    statement="The time of the first rise, to half of h₀, grows with ln(1/scale) "
                    "at the rate 1/(2 h₀) of the linearised flow, to ten per cent.",
                    place="Proposition 9 (ours)",
                    at_most=0.1,
                )
            )
            later = _slopes(start, times[near, :, config.order - 1]) / slope
            found.append(
                claim_about_median(
                    later[~np.isnan(later)],
                    name="last mode: waits longer still",
                    statement=f"The time of mode {config.order} grows with ln(1/scale) at least "
                    "twice as fast as that of the first rise.",
                    place="(ours)",
                    at_least=2,
                )
            )
        if config.modes > config.order:
            goal = chosen["teacher_values"].isel({SINGULAR_VALUE: config.order - 1})
            extra = chosen["singular_values"].isel({SINGULAR_VALUE: config.order}).max(TIME) / goal
            statement = (
                f"From scale {{:g}}, mode {config.order + 1} is at {{}} of the teacher's mode "
                f"{config.order}."
            )
            found += [
                claim_about_median(
                    extra.sel({SCALE: small}).values,
                    name=f"scale {small:g}: no mode beyond the teacher's",
                    statement=statement.format(small, "no time above 0.001"),
                    place="Theorem 8 (ours)",
                    at_most=1e-3,
                ),
                claim_about_median(
                    extra.sel({SCALE: large}).values,
                    name=f"scale {large:g}: modes beyond the teacher's",
                    statement=statement.format(large, "some time above 0.1"),
                    place="Theorem 8 (ours)",
                    at_least=0.1,
                ),
            ]
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: ModesConfig, claims: Sequence[Claim]
    ) -> Figure:
        """Spectra over time for each scale, then the times of appearance."""
        chosen = dataset.sel({TEACHER: config.teacher[0]})
        times = config.times()
        x = Axis("time of the flow", scale="log")
        shown = [scale for scale in sorted(config.scale) if scale in _three(config.scale)]
        panels = []
        values = chosen["teacher_values"].isel({SCALE: 0, SEED: 0}).values
        for scale in shown:
            run = chosen["singular_values"].sel({SCALE: scale})
            marks: list[Mark] = [
                HorizontalRule(
                    float(values[mode]),
                    label="teacher's values" if mode == 0 else None,
                    style="dotted",
                )
                for mode in range(config.order)
            ]
            for mode in range(min(config.modes, config.order + 2)):
                table = run.isel({SINGULAR_VALUE: mode}).transpose(TIME, SEED).values
                own = mode < config.order
                marks += median_line(
                    times,
                    table,
                    label=f"mode {mode + 1}" if own else "modes beyond the teacher's",
                    colour=mode if own else "muted",
                    band=False,
                )
            panels.append(
                Panel(
                    f"start {scale:g}",
                    x,
                    Axis(
                        "Hankel singular value", scale="log", limits=(1e-6, 10 * float(values[0]))
                    ),
                    marks,
                    legend="outside",
                )
            )
        appeared = appearances(chosen, config)
        marks = []
        for mode in range(config.order):
            marks += median_line(
                config.scale,
                np.where(np.isfinite(appeared[..., mode]), appeared[..., mode], np.nan),
                label=f"mode {mode + 1}",
                colour=mode,
            )
        rise = first_rise(chosen, config)
        marks += median_line(
            config.scale, rise, label="first rise, to h₀/2", colour="ink", band=False
        )
        weight = float(np.median(chosen["first_weight"].values))
        scales = np.array(sorted(config.scale))
        base = float(np.median(rise[config.scale.index(scales[0])]))
        line = base + np.log(scales[0] / scales) / (2 * weight)
        if np.isfinite(base):
            marks.append(
                Line(
                    scales[line > 0],
                    line[line > 0],
                    label="linearised flow: 1/(2 h₀) for each factor e",
                    colour="reference",
                    style="dashed",
                )
            )
        panels.append(
            Panel(
                "when each mode appears",
                Axis("initial scale", scale="log"),
                Axis("time of the flow", scale="log"),
                marks,
                legend="outside",
            )
        )
        return Figure(
            "One mode after another, and the later the smaller the start",
            panels,
            columns=2,
            caption=(
                f"{TITLES[config.teacher[0]].capitalize()} of order {config.order}, dense student "
                f"of width {config.width}, population loss over {config.length} lags, gradient "
                f"flow to time {config.last:g}. Medians over {len(config.seed)} seeds; a mode "
                f"appears when it reaches {config.level:g} of the teacher's value for good; bands "
                "the middle half."
            ),
        )


def appearances(dataset: "xarray.Dataset", config: ModesConfig) -> np.ndarray:
    """When each mode of the teacher appears, (scale, seed, mode): for good, infinite if never.

    A mode has appeared when its singular value exceeds `level` times the teacher's from then on;
    between two looks a value grows exponentially, so its logarithm is interpolated.
    """
    order = config.order
    seen = dataset["singular_values"].transpose(SCALE, SEED, TIME, SINGULAR_VALUE).values
    goal = dataset["teacher_values"].transpose(SCALE, SEED, SINGULAR_VALUE).values
    return _crossed(seen[..., :order], config.level * goal[..., None, :order], config.times())


def first_rise(dataset: "xarray.Dataset", config: ModesConfig) -> np.ndarray:
    """When the first singular value passes half of h₀ for good, (scale, seed).

    That is where B and C have grown and A has not: the response is then h₀ at lag 0 alone, a
    Hankel matrix of one singular value h₀, well below the teacher's first.
    """
    seen = dataset["singular_values"].isel({SINGULAR_VALUE: [0]})
    weight = dataset["first_weight"].transpose(SCALE, SEED).values
    return _crossed(
        seen.transpose(SCALE, SEED, TIME, SINGULAR_VALUE).values,
        weight[..., None, None] / 2,
        config.times(),
    )[..., 0]


def _crossed(seen: np.ndarray, level: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The times at which values (…, time, mode) pass their levels for good; infinite if never."""
    with np.errstate(divide="ignore"):
        above = np.log(seen) - np.log(level)
    stays = np.logical_and.accumulate((above >= 0)[..., ::-1, :], axis=-2)[..., ::-1, :]
    place = np.argmax(stays, axis=-2)  # the first look from which on it stays
    before = np.maximum(place - 1, 0)
    low = np.take_along_axis(above, before[..., None, :], axis=-2)[..., 0, :]
    high = np.take_along_axis(above, place[..., None, :], axis=-2)[..., 0, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(place > 0, np.nan_to_num(-low / (high - low), nan=1.0, posinf=1.0), 0.0)
    time = times[before] + part * (times[place] - times[before])
    return np.where(stays.any(axis=-2), time, np.inf)


def _slopes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Least-squares slopes of each column of y (scale, seed) against x; NaN if one is infinite."""
    centred = x - x.mean()
    with np.errstate(invalid="ignore"):
        slope = centred @ (y - y.mean(axis=0)) / (centred @ centred)
    return np.where(np.isfinite(y).all(axis=0), slope, np.nan)


def _three(scales: Sequence[float]) -> list[float]:
    """The smallest, the middle and the largest."""
    ordered = sorted(scales)
    return [ordered[0], ordered[len(ordered) // 2], ordered[-1]]
