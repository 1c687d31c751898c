"""lowdim, Figure 4: a student that starts larger needs longer sequences.

The comparison: extrapolation error against the training length k for dense students from several
initial scales, in the setting of Figure 3(a). Adam with the paper's decaying rate (×0.1 after
5,000, 10,000, 15,000 and 30,000 steps), and gradient flow, where each start's own limit shows: a
large start brings modes of its own, which only longer sequences take away.

Under flow two numbers are known beforehand. A start near zero takes as few modes as the lags need:
an even number k = 2n < 2 × order of them determines n, the Gauss quadrature of the teacher's
measure (`theory.lowdim.prony`), whose error is that of the student. And the modes that a start of
scale ε brings weigh ε² in the response: so does the error of a student that extrapolates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median
from tacit.draw import Axis, Figure, HorizontalRule, Mark, Panel, VerticalRule
from tacit.experiments._base import Experiment
from tacit.experiments._config import Config
from tacit.experiments._lines import median_line
from tacit.experiments._parameter import parameter
from tacit.experiments.lowdim._fig1a_draw import TITLES
from tacit.experiments.lowdim._lengths import (
    check_horizons,
    gate_parameter,
    horizons_parameter,
    length_coordinates,
    length_variables,
)
from tacit.experiments.lowdim._runs import Series, trained
from tacit.store import HORIZON, ITERATE, METHOD, SCALE, SEED, TEACHER, WIDTH, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

METHODS = {"adam": "Adam, decaying rate", "flow": "gradient flow"}


@dataclass(frozen=True, kw_only=True)
class Fig4Config(Config):
    """Parameters of lowdim/fig4; the defaults are the paper's where it gives them."""

    teacher: tuple[str, ...] = parameter(
        ("well-conditioned", "even"), "the teacher's spectrum", choices=tuple(TITLES), swept=True
    )
    width: tuple[int, ...] = parameter(
        (40,), "width d of the student", low=2, high=2000, swept=True
    )
    method: tuple[str, ...] = parameter(
        ("adam", "flow"), "how the student descends", choices=tuple(METHODS), swept=True
    )
    scale: tuple[float, ...] = parameter(
        (1e-5, 1e-3, 1e-2, 1e-1),
        "standard deviation of the student's start",
        low=1e-9,
        high=1.0,
        swept=True,
    )
    length: tuple[int, ...] = parameter(
        (6, 8, 9, 10, 11, 12, 14, 16, 18, 20, 24, 28),
        "training length k",
        low=1,
        high=200,
        units="lags",
        swept=True,
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(10)), "seed of teacher and student", low=0, swept=True
    )
    order: int = parameter(5, "order of the teacher", low=1, high=20)
    steps: int = parameter(35_000, "steps of Adam", low=1, high=10_000_000)
    adam_rate: float = parameter(1e-3, "Adam's learning rate at the start", low=1e-8, high=1.0)
    flow_time: float = parameter(1e8, "time to which gradient flow runs", low=1e-3, high=1e12)
    flow_tolerance: float = parameter(1e-3, "relative tolerance of the flow", low=1e-10, high=0.1)
    goal: float = parameter(1e-28, "loss at which a run has converged", low=0.0, high=1.0)
    level: float = parameter(
        0.01, "relative error below which a student extrapolates", low=0.0, high=1.0, analysis=True
    )
    gate: float = gate_parameter(1e-4)
    horizons: tuple[int, ...] = horizons_parameter((40, 60))

    def check(self) -> None:
        """Every horizon must leave a lag to extrapolate to."""
        check_horizons(self.horizons, self.length)


class Fig4(Experiment):
    """Extrapolation error against training length and initial scale, dense student."""

    id = "lowdim/fig4"
    paper = "lowdim"
    figure = "Figure 4"
    summary = "extrapolation error against training length, for several initial scales"
    version = 1
    Config = Fig4Config
    presets: ClassVar[Mapping[str, Fig4Config]] = {
        "smoke": Fig4Config(
            teacher=("well-conditioned",),
            method=("flow",),
            scale=(1e-5, 1e-1),
            length=(8, 12),
            seed=(0, 1),
            flow_time=100.0,
        ),
        "quick": Fig4Config(
            teacher=("well-conditioned",),
            method=("flow",),
            scale=(1e-5, 1e-3, 1e-1),
            length=(8, 10, 11, 12, 16, 20),
        ),
        "paper": Fig4Config(),
    }
    batch_by = (TEACHER, WIDTH, METHOD)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 10}

    def variables(self, config: Fig4Config) -> dict[str, Variable]:
        """Whole responses of the last and of the best iterate, losses and errors."""
        return length_variables()

    def coordinates(self, config: Fig4Config) -> dict[str, Sequence[Any] | np.ndarray]:
        """Iterates, lags and horizons."""
        return length_coordinates(config.horizons)

    def cell(self, batch: Batch, config: Fig4Config) -> Mapping[str, Any]:
        """Train one batch: all scales, lengths and seeds of a teacher and a method at once."""
        from tacit.experiments.lowdim._dense import train_dense

        method = batch.one("method")
        return train_dense(
            batch,
            config,
            teacher=batch.one("teacher"),
            scale=batch.column("scale"),
            method="decayed adam" if method == "adam" else method,
            flow_time=config.flow_time,
            flow_tolerance=config.flow_tolerance,
        )

    def claims(self, dataset: "xarray.Dataset", config: Fig4Config) -> list[Claim]:
        """What the largest start needs beyond the smallest, and what both do in between."""
        small, large = min(config.scale), max(config.scale)
        found = []
        for teacher in config.teacher:
            for method in config.method:
                near, far = (_series(dataset, config, teacher, method, s) for s in (small, large))
                words = f"For the {TITLES[teacher]} and {METHODS[method].split(',')[0]}"
                name = f"{teacher}, {method}"
                middle = 2 * config.order + 2
                found.append(
                    claim_about_median(
                        _quotient(far, near, middle),
                        name=f"{name}: larger start, larger error",
                        statement=f"{words}, the error at k = {middle} from scale {large:g} is at "
                        f"least ten times that from {small:g}.",
                        place="Figure 4, appendix A.1.2",
                        at_least=10,
                        **_expectation(teacher, method, "error"),
                    )
                )
                found.append(
                    claim_about_median(
                        _more(far.needed(config.level), near.needed(config.level)),
                        name=f"{name}: larger start, longer sequences",
                        statement=f"{words}, a start of scale {large:g} needs at least two more "
                        f"lags than one of {small:g} for an error of {config.level:g}.",
                        place="Figure 4, appendix A.1.2",
                        at_least=2,
                        **_expectation(teacher, method, "lags"),
                    )
                )
        if "well-conditioned" in config.teacher and "flow" in config.method:
            found += _known_beforehand(dataset, config)
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig4Config, claims: Sequence[Claim]
    ) -> Figure:
        """Errors for each teacher and method, one line a scale."""
        k = Axis("training length k")
        rule = VerticalRule(2 * config.order + 0.5, label="k = 2 × teacher order")
        panels = []
        for teacher in config.teacher:
            for method in config.method:
                marks: list[Mark] = [
                    rule,
                    HorizontalRule(1.0, label="zero response", style="dotted"),
                ]
                for colour, scale in enumerate(sorted(config.scale)):
                    series = _series(dataset, config, teacher, method, scale)
                    label = f"scale {scale:g}"
                    marks += median_line(config.length, series.table, label=label, colour=colour)
                panels.append(
                    Panel(
                        f"{TITLES[teacher]}: {METHODS[method]}",
                        k,
                        Axis("relative extrapolation error", scale="log"),
                        marks,
                        legend="outside",
                    )
                )
        return Figure(
            "A larger start needs longer sequences",
            panels,
            columns=2 if len(panels) > 1 else 1,
            caption=(
                f"Teacher of order {config.order}, dense student of width {config.width[0]}. "
                f"{_descents(config)}. Medians over "
                f"{len(config.seed)} seeds of the runs whose loss is at most {config.gate:g} of "
                f"the zero response's, bands the middle half. Errors over the lags k … "
                f"{config.horizons[0] - 1}."
            ),
        )


def _known_beforehand(dataset: "xarray.Dataset", config: Fig4Config) -> list[Claim]:
    """The error of the fewest modes below the threshold, and the weight of a start's own modes."""
    small, second = sorted(config.scale)[:2] if len(config.scale) > 1 else config.scale * 2
    series = {s: _series(dataset, config, "well-conditioned", "flow", s) for s in (small, second)}
    below, above = 2 * config.order - 2, 2 * config.order + 1
    modes = np.zeros(0)
    if below in config.length:
        errors = series[small].table[config.length.index(below)]
        predicted = _fewest_modes_error(config.order, below, config.horizons[0])
        modes = np.abs(errors[~np.isnan(errors)] / predicted - 1)
    exponents = np.zeros(0)
    if second > small:
        growth = _quotient(series[second], series[small], above)
        exponents = np.log(growth) / np.log(second / small)
    return [
        claim_about_median(
            modes,
            name="well-conditioned, flow: the fewest modes",
            statement=f"From scale {small:g} and with k = {below} lags, the student's error is "
            f"that of Gauss quadrature with {below // 2} nodes of the teacher, within 1%.",
            place="section 4, beyond the paper",
            at_most=0.01,
        ),
        claim_about_median(
            exponents,
            name="well-conditioned, flow: a start's own modes",
            statement=f"At k = {above} the error grows at least like the power 1.5 of the start's "
            f"scale, between {small:g} and {second:g} (its modes weigh the square).",
            place="section 4, beyond the paper",
            at_least=1.5,
        ),
    ]


def _fewest_modes_error(order: int, length: int, horizon: int) -> float:
    """Relative error over the lags `length` … `horizon` − 1 of the measure with length/2 atoms."""
    from tacit.experiments.lowdim._tails import tail_errors
    from tacit.theory.lowdim import prony

    lags, spectrum = np.arange(horizon), np.linspace(-1, 1, order)
    target = np.mean(spectrum[:, None] ** lags, axis=0)
    atoms = prony(target[:length], length // 2)
    response = atoms.weights @ atoms.nodes[:, None] ** lags
    lengths = np.array([length])
    _, relative = tail_errors(response[None, None], target[None], lengths, [horizon])
    return float(relative.item())


def _descents(config: Fig4Config) -> str:
    """The descents in words."""
    words = {
        "adam": f"Adam {config.adam_rate:g}, ×0.1 after 5,000, 10,000, 15,000 and 30,000 of "
        f"{config.steps:,} steps",
        "flow": f"gradient flow to time {config.flow_time:g}",
    }
    text = "; ".join(words[method] for method in config.method)
    return text[0].upper() + text[1:]


def _series(
    dataset: "xarray.Dataset", config: Fig4Config, teacher: str, method: str, scale: float
) -> Series:
    chosen = dataset.isel({WIDTH: 0, HORIZON: 0}).sel(
        {TEACHER: teacher, METHOD: method, SCALE: scale, ITERATE: "last"}
    )
    return Series(chosen["relative_error"].where(trained(chosen, config.gate)))


def _quotient(far: Series, near: Series, length: int) -> np.ndarray:
    """Seed by seed; empty where one of the two does not count or the length is not there."""
    if length not in far.lengths:
        return np.zeros(0)
    place = far.lengths.index(length)
    ratio = far.table[place] / near.table[place]
    return ratio[~np.isnan(ratio)]


def _more(far: np.ndarray, near: np.ndarray) -> np.ndarray:
    """How many lags more; a seed for which neither ever extrapolates says nothing."""
    says = np.isfinite(near)
    return far[says] - near[says]


def _expectation(teacher: str, method: str, what: str) -> dict[str, Any]:
    because = BECAUSE.get((teacher, method, what), "")
    return {"expected": "fails", "because": because} if because else {}


BECAUSE: dict[tuple[str, str, str], str] = {
    ("even", "adam", "error"): (
        "the literal teacher's Hankel singular values fall over seven decades: Adam ends where "
        "three of its five modes are learned, from any start; that decides the error. At k = 12 "
        "the largest start errs 1.7 times as much as the smallest, from k = 16 on less"
    ),
}
