"""memoryless, Figure 5: up to which order of the teacher does training at length 5 extrapolate?

The comparison: mean squared error over the lengths k + 1 … 2k against the teacher's order d*, for a
linear RNN, a GRU and an LSTM, from the literal Xavier start (gain 1) and from gain 0.3; with the
two hypotheses of where it must break: d* ≈ k (the paper's, as many lags as states) and 2d* ≈ k (as
many lags as a response of order d* has free numbers), and with the error of forgetting.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, Expected, claim_about_median
from tacit.draw import Axis, Figure, HorizontalRule, Mark, Panel, VerticalRule
from tacit.experiments._base import Experiment
from tacit.experiments._lines import median_line
from tacit.experiments._parameter import parameter
from tacit.experiments.memoryless._lengths import (
    DATAS,
    ITERATES,
    LITERAL,
    MODELS,
    SMALL,
    TRAINED,
    LengthsConfig,
    counted,
    length_variables,
)
from tacit.experiments.memoryless.fig1 import RINGING
from tacit.store import DATA, GAIN, ITERATE, MODEL, ORDER, SEED, TIME, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

PLACE = "Figure 5, appendix D"


@dataclass(frozen=True, kw_only=True)
class Fig5Config(LengthsConfig):
    """Parameters of memoryless/fig5: the paper's, and order 3."""

    data: tuple[str, ...] = parameter(
        ("plain",), "what it is trained on", choices=tuple(DATAS), swept=True
    )
    order: tuple[int, ...] = parameter(
        (1, 2, 3, 4, 6, 8), "order d* of the teacher", low=1, high=50, swept=True
    )
    width: int = parameter(200, "width d of the linear student", low=2, high=1000)
    gated_width: int = parameter(200, "width d of GRU and LSTM", low=2, high=1000)
    horizon: int = parameter(10, "longest sequence that is looked at", low=3, high=500)


class Fig5(Experiment):
    """Extrapolation error against the order of the teacher."""

    id = "memoryless/fig5"
    paper = "memoryless"
    figure = "Figure 5"
    summary = "extrapolation error against the teacher's order, with d* ≈ k and 2d* ≈ k"
    version = 1
    Config = Fig5Config
    presets: ClassVar[Mapping[str, Fig5Config]] = {
        "smoke": Fig5Config(
            model=("linear", "gru"), order=(2, 6), seed=(0, 1), width=8, gated_width=4, steps=100,
            gated_steps=20, sequences=10, gate=1.0,
        ),
        "quick": Fig5Config(steps=3_000, gated_width=30, gated_steps=1_000, sequences=32),
        "paper": Fig5Config(),
    }  # fmt: skip
    batch_by = (MODEL, DATA)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 10}

    def variables(self, config: Fig5Config) -> dict[str, Variable]:
        """Errors are kept at every length."""
        return length_variables()

    def coordinates(self, config: Fig5Config) -> dict[str, Sequence[Any] | np.ndarray]:
        """Iterates, and the lengths that are looked at."""
        return {ITERATE: ITERATES, TIME: np.arange(1, config.horizon + 1)}

    def cell(self, batch: Batch, config: Fig5Config) -> Mapping[str, Any]:
        """Train one batch: all orders, gains and seeds of a model at once."""
        from tacit.experiments.memoryless._extrapolation import extrapolate

        return extrapolate(batch, config, batch.column("order"))

    def claims(self, dataset: "xarray.Dataset", config: Fig5Config) -> list[Claim]:
        """Extrapolation at the last order with 2d* ≤ k, at the last below k, and above k."""
        later = _later(dataset, config)
        k = config.length
        below_half = [order for order in config.order if 2 * order <= k]
        below = [order for order in config.order if order < k]
        above = [order for order in config.order if order > k]
        cases = [
            ("2d* ≤ k", max(below_half, default=None), "at most", {"at_most": SMALL}),
            ("d* < k", max(below, default=None), "at most", {"at_most": SMALL}),
            ("d* > k", min(above, default=None), "at least", {"at_least": SMALL}),
        ]
        found = []
        for gain in config.gain:
            for model in config.model:
                for name, order, side, bound in cases:
                    if order is None:
                        continue
                    samples = later.sel({MODEL: model, GAIN: gain, ORDER: order}).values
                    because = surprise(name, model, gain, config)
                    expected: Expected = "fails" if because else "holds"
                    found.append(
                        claim_about_median(
                            samples[~np.isnan(samples)],
                            name=f"{MODELS[model]}, gain {gain:g}: {name}",
                            statement=f"{MODELS[model]}, Xavier gain {gain:g}, teacher of order "
                            f"{order} ({name} for k = {k}): the mean squared error over the "
                            f"lengths {k + 1} … {config.horizon} is {side} {SMALL:g}.",
                            place=PLACE,
                            at_most=bound.get("at_most"),
                            at_least=bound.get("at_least"),
                            expected=expected,
                            because=because,
                        )
                    )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig5Config, claims: Sequence[Claim]
    ) -> Figure:
        """One panel a gain: the models' errors against the order, and both hypotheses."""
        later = _later(dataset, config)
        first = dataset.isel({MODEL: 0, GAIN: 0, DATA: 0})
        forgetful = first["forgetful_error"].where(first[TIME] > config.length).mean(TIME)
        k = config.length
        panels = []
        for gain in config.gain:
            marks: list[Mark] = [
                VerticalRule(k, label=f"d* = k = {k}", style="dashed"),
                VerticalRule(k / 2, label=f"2d* = k, d* = {k / 2:g}", style="dotted"),
                HorizontalRule(SMALL, label=f"{SMALL:g} of the teacher's energy", style="solid"),
            ]
            marks += median_line(
                config.order,
                forgetful.transpose(ORDER, SEED).values,
                label="right below lag k, then zero",
                colour="reference",
                band=False,
            )
            notes = []
            for colour, model in enumerate(config.model):
                table = later.sel({MODEL: model, GAIN: gain}).transpose(ORDER, SEED).values
                marks += median_line(config.order, table, label=MODELS[model], colour=colour)
                notes.append(f"{MODELS[model]}: {first_break(config.order, table)}")
            panels.append(
                Panel(
                    f"Xavier gain {gain:g}",
                    Axis("order d* of the teacher", ticks=sorted(config.order)),
                    Axis(f"mean squared error, lengths {k + 1} … {config.horizon}", scale="log"),
                    marks,
                    legend="outside",
                    note=f"lowest order with a median above {SMALL:g}: " + "; ".join(notes),
                )
            )
        return Figure(
            "Extrapolation ends near 2d* = k, before the teacher has as many states as lags",
            panels,
            columns=2,
            caption=(
                f"Linear teachers, eigenvalues of modulus {config.radius:g}, energy one; Adam at "
                f"rate {config.rate:g}, k = {k}. Linear student of width {config.width}: "
                f"population loss, to {config.goal:g} or {config.steps:,} steps. GRU and LSTM of "
                f"width {config.gated_width}: {config.gated_steps:,} steps on {config.sequences} "
                f"fresh Gaussian sequences each. Medians over {len(config.seed)} seeds, bands the "
                f"middle half. {_left_out(later, config)}"
            ),
        )


def _later(dataset: "xarray.Dataset", config: Fig5Config) -> "xarray.DataArray":
    """The mean error beyond length k of the runs that count, for the first kind of data."""
    runs = counted(dataset, config, iterate="last").isel({DATA: 0})
    return runs["error"].where(runs[TIME] > config.length).mean(TIME)


def first_break(orders: Sequence[int], table: np.ndarray) -> str:
    """The lowest order whose median error is above the bound, in words."""
    for order, row in sorted(zip(orders, table, strict=True), key=lambda pair: pair[0]):
        counts = row[~np.isnan(row)]
        if counts.size and np.quantile(counts, 0.5, method="nearest") > SMALL:
            return str(order)
    return "none"


def _left_out(later: "xarray.DataArray", config: Fig5Config) -> str:
    lost = int(np.isnan(later.values).sum())
    return (
        f"{lost} of {later.size} runs left out: error at length {config.length} above "
        f"{config.gate:g}."
        if lost
        else f"Every run has an error of at most {config.gate:g} at length {config.length}."
    )


def surprise(case: str, model: str, gain: float, config: Fig5Config) -> str:
    """Why a claim fails that the paper, or the count of free numbers, makes; else empty."""
    if case == "d* < k":
        return UNIDENTIFIABLE
    if case == "2d* ≤ k":
        if model == "linear":
            return RINGING if gain >= LITERAL else ""
        return UNDERTRAINED if config.gated_steps < TRAINED else ""
    return ""


UNIDENTIFIABLE = (
    "identifiability: a response of order d* has 2d* free numbers, eight for d* = 4, and five lags "
    "are seen; a bias to low order cannot choose among the systems of order 3 that fit them, and "
    "errors beyond k are those of forgetting or worse"
)
UNDERTRAINED = (
    "training: quick gives GRU and LSTM 1,000 steps, after which the error at length k is near "
    "1e-3 and still falling; the error beyond k starts from there"
)
