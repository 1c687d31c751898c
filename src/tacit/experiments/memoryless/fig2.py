"""memoryless, Figure 2: the same as Figure 1 with teachers of order 3 that fade fast or slowly.

The comparison: as in fig1; and the error of a response that is right below lag k and zero from it
on, drawn beside those of students. The paper does not say how its teacher was drawn; the nearest
reading of its section 7, a linear RNN at Xavier's start, is not among ours. They have all
eigenvalues on a circle, and its radius is swept: below lag k lie all but r^(2k) of the response's
energy. The map shows linear students of teachers of other orders.
"""

from typing import Any

import numpy as np
import xarray

from tacit.draw import Axis, Heatmap, HorizontalRule, Mark, Panel, VerticalRule, median_lines
from tacit.experiments import Batch, Claims, Finding, Variable, fixed, swept
from tacit.experiments.memoryless.error_curves import ErrorCurvesExperiment
from tacit.experiments.memoryless.lengths import (
    KEEPS,
    RINGING,
    UNIDENTIFIABLE,
    VISIBLE,
    linear_responses,
)

STYLES = {"plain": "solid", "adversarial": "dashed", "labels": "dashdot"}
AGREES = 0.8  # of the map's teachers

NEAR = "near the bound: at radius 0.7 the medians of GRUs are about as large"
RINGS_TOO = (
    "near the bound: from gain 1 plain training rings on as well (see fig1), and is as wrong "
    "beyond k as an adversary in one network of four"
)


class Fig2(ErrorCurvesExperiment):
    """Error against sequence length, teachers of order 3, plain and adversarial data."""

    id, figure = "memoryless/fig2", "Figure 2"
    finding = Finding(
        "Linear students of a small start extrapolate where k lags tell a response of order d* "
        "(2d* ≤ k) or where it has faded by then: that is so for {map|.0%|holds} of the teachers "
        "in a map.",
        "So Figure 2 holds for a teacher that forgets fast (error {fast|holds}, zero's is one).",
        "It does not hold for one that remembers ({slow|fails}).",
        map="linear RNN, small: where the claim holds",
        fast="linear RNN, small, radius 0.5: flat",
        slow="linear RNN, small, radius 0.9: flat",
    )

    radius: tuple[float, ...] = swept(
        (0.5, 0.7, 0.9), "modulus of the teacher's eigenvalues", low=0.01, high=0.999
    )
    order: int = fixed(3, "order of the teacher", low=1, high=20)
    orders: tuple[int, ...] = fixed((1, 2, 3, 4, 6), "orders in the map", low=1, high=20)

    presets = {
        "smoke": dict(model=("linear", "lstm"), data=("plain",), seed=range(2), width=8,
                      gated_width=4, steps=100, gated_steps=20, sequences=10, gate=1.0,
                      radius=(0.5, 0.9), orders=(2, 3)),
        "quick": dict(model=("linear", "gru"), radius=(0.5, 0.9), seed=range(12), steps=5_000,
                      gated_steps=1_500, sequences=32),
        "paper": dict(start=("xavier", "keras", "small"), adversarial_length=15),
    }  # fmt: skip
    title = "A teacher of order 3: extrapolation at length 5 where its memory has faded by then"

    def variables(self) -> dict[str, Variable]:
        words = "error beyond k of a linear student, small start, with a teacher of another order"
        return {**super().variables(), "order_error": Variable(words, "teacher_order")}

    def coordinates(self) -> dict[str, Any]:
        return {**super().coordinates(), "teacher_order": self.orders}

    def responses(self, batch: Batch, order: int | None = None) -> np.ndarray:
        order = self.order if order is None else order
        return linear_responses(order, batch.column("radius"), batch.column("seed"), self.lags)

    def cell(self, batch: Batch) -> dict[str, Any]:
        found = np.full((len(batch), len(self.orders)), np.nan)
        small = np.flatnonzero(batch.column("start") == "small")
        if (batch.one("model"), batch.one("data")) == ("linear", "plain") and small.size:
            part = batch.only(small.tolist())
            for place, order in enumerate(self.orders):
                _, error = self.trained(part, self.responses(part, order))
                found[small, place] = error[:, 0, self.length :].mean(axis=-1)
        return {**super().cell(batch), "order_error": found}

    @property
    def has_map(self) -> bool:
        """Whether there are linear students, from the small start, on plain data."""
        return {"linear", "small", "plain"} <= {*self.model, *self.start, *self.data}

    def cases(self, model: str) -> list[dict[str, Any]]:
        return [{"radius": radius} for radius in self.radius] if self.settled(model) else []

    def teachers(self) -> str:
        return (
            f"Linear teachers of order {self.order}, eigenvalues on a circle of the radius given, "
            "energy one"
        )

    def remembers(self, radius: Any, order: Any) -> Any:
        """Whether more of the response than is visible comes later than k lags can tell."""
        return (2 * order > self.length) & (radius ** (2 * self.length) > VISIBLE)

    def surprise(self, kind: str, model: str, start: str, **teacher: Any) -> str:
        """Five lags do not tell a response of order 3, if there is more of it."""
        if kind != "flat":
            return ""
        if self.remembers(teacher["radius"], self.order):
            return UNIDENTIFIABLE
        if self.keeps(model, start, teacher["radius"]):
            return KEEPS
        return RINGING if model == "linear" and self.rings(start) else ""

    def remark(self, kind: str, model: str, start: str) -> str:
        """The literal start rings on as in fig1, whatever the data."""
        if (kind, model) == ("adversary is worse", "linear") and self.rings(start):
            return RINGS_TOO
        return NEAR if (kind, model) == ("flat", "gru") else ""

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = super().claims(runs)
        if not self.has_map:
            return claim
        found = runs["order_error"].sel(model="linear", start="small", data="plain")
        unfit = self.remembers(found["radius"], found["teacher_order"])
        right = ((found <= VISIBLE) != unfit).where(found.notnull())
        claim.median(
            "linear RNN, small: where the claim holds",
            right.mean(["radius", "teacher_order"], skipna=False),
            says=f"In the map the error is at most {VISIBLE:g} where 2d* ≤ k or r^(2k) ≤ "
            f"{VISIBLE:g}, and larger elsewhere, for at least {{bound:.0%}} of the teachers.",
            at_least=AGREES,
            place="ours",
        )
        return claim

    def curves(self, errors: xarray.DataArray) -> list[Mark]:
        colours = {radius: place for place, radius in enumerate(self.radius)}
        return median_lines(
            errors, "time", by=("radius", "data"), label="{data}, radius {radius:g}",
            colour=colours, style=STYLES, band={data: data == "plain" for data in STYLES},
        )  # fmt: skip

    def further_curves(self, runs: xarray.Dataset) -> list[Mark]:
        first = max(self.radius)
        return median_lines(
            runs["forgetful_error"].isel(data=0).sel(time=slice(self.length + 1, None)),
            "time", by="radius", style="dotted", band=False,
            label=lambda radius: "right below lag k, then zero" if radius == first else None,
        )  # fmt: skip

    def further_panels(self, runs: xarray.Dataset) -> list[Panel]:
        if not self.has_map or min(len(self.radius), len(self.orders)) < 2:
            return []
        table = runs["order_error"].sel(model="linear", data="plain", start="small").median("seed")
        table = table.sortby(["radius", "teacher_order"]).transpose("teacher_order", "radius")
        return [
            Panel(
                f"linear RNN, {self.start_words('small')}: error beyond length {self.length}",
                Axis("radius of the teacher", ticks=sorted(self.radius)),
                Axis("order d* of the teacher", ticks=sorted(self.orders)),
                [
                    Heatmap(table["radius"].values, table["teacher_order"].values, table.values,
                            label="mean squared error", scale="log", centre=VISIBLE, annotate=True),
                    HorizontalRule(self.length / 2, label="2d* = k"),
                    VerticalRule(VISIBLE ** (0.5 / self.length), label=f"r^(2k) = {VISIBLE:g}"),
                ],
            )
        ]  # fmt: skip
