"""lowdim, beyond the paper: the threshold k = 2d̂ + 1 of Lemma 7 without any optimiser.

The comparison: how far apart two stable balanced students of any width can be at a later lag,
although both fit the first k lags of the teacher exactly, against k. Stable: their eigenvalues lie
in [−1, 1]. That is the range of a moment over all positive measures there with the first k moments
of the teacher's (`tacit.theory.lowdim.moment_range`): no training, no loss, no tolerance. Teachers
have their atoms inside [−1, 1], or one or two of them on its ends, each of which saves a lag. It
saves none for students that need not be stable, as Lemma 7's and trained ones (fig1a).

The teachers are made of rational numbers, so that their moments are exact and a range that is a
point is one to the last digit; beside it stands the range found from the same moments rounded to
float64, as anyone who measures a response has them.
"""

from fractions import Fraction

import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit.draw import Axis, Band, Figure, HorizontalRule, Line, Mark, Panel, Points, Shade
from tacit.experiments import Batch, Claims, Experiment, Finding, UsageError, Variable, fixed, swept
from tacit.measures import settling_point
from tacit.problems import rational_teacher
from tacit.theory.lowdim import moment_range, threshold

WORDS = {
    0: "atoms inside the support",
    1: "one atom on an end of the support",
    2: "atoms on both ends of the support",
}
PLACES = {0: "inside", 1: "one on an end", 2: "on both ends"}
FORMULAS = {0: "2d̂ + 1", 1: "2d̂", 2: "2d̂ − 1"}
ONE_SHORT = {0: "2 × order", 1: "2 × order − 1", 2: "2 × order − 2"}
SHAPES = {0: "o", 1: "s", 2: "^"}
BELOW = 0.05  # points are drawn at this fraction of the bound: a log axis has no zero


class Threshold(Experiment):
    """What k lags leave open of a later one, over stable balanced students, without training."""

    id, figure = "lowdim/threshold", "Lemma 7, beyond the paper"
    finding = Finding(
        "Two lags for each atom of a teacher and one more decide all later ones: no two stable "
        "balanced students that fit them can differ, in {point|satisfied|holds} of {point|samples} "
        "seeds, each with teachers of every order.",
        "One lag fewer leaves a range; the narrowest of a seed is {open|holds} wide.",
        point="0 on the ends: a point from 2d̂ + 1",
        open="0 on the ends: open below 2d̂ + 1",
    )

    from_theory = ("truth",)
    unspecific = {
        "rounding does not move the threshold": "It compares two ranges of one and the same cell, "
        "whatever its order, ends and length.",
    }

    order: tuple[int, ...] = swept(range(1, 7), "order d̂ of the teacher, its atoms", low=1, high=10)
    ends: tuple[int, ...] = swept(
        (0, 1, 2), "how many of its atoms lie on an end of the support", low=0, high=2
    )
    length: tuple[int, ...] = swept(range(1, 15), "known lags k", low=1, high=40, units="lags")
    seed: tuple[int, ...] = swept(range(10), "seed of the teacher", low=0)
    lag: int = fixed(20, "the later lag whose range is taken", low=1, high=200)
    jitter: float = fixed(0.3, "shift of atoms from even places, in spacings", low=0.0, high=0.45)
    point: float = fixed(
        1e-8, "a range narrower than this is a point", low=0.0, high=1.0, analysis=True
    )

    presets = {
        "smoke": dict(order=(1, 3), ends=(0, 2), length=(1, 2, 4, 5, 6, 7), seed=(0, 1)),
        "quick": dict(seed=range(8)),
        "paper": dict(seed=range(50)),
    }
    batch_by = ("order", "ends")
    chunk = {"seed": 10}

    def check(self) -> None:
        """The lag must be a later one."""
        if self.lag < max(self.length):
            raise UsageError(
                f"lag: received {self.lag}, it must not be among the {max(self.length)} known lags "
                f"0 … {max(self.length) - 1}"
            )

    def variables(self) -> dict[str, Variable]:
        return {
            "low": Variable("least value of the later lag"),
            "high": Variable("largest value of the later lag"),
            "truth": Variable("the teacher's value"),
            "width": Variable("width of the range, from exact moments"),
            "width_rounded": Variable("width of the range, from moments in float64"),
        }

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        order, ends = batch.one("order"), batch.one("ends")
        rows = []
        for cell in batch.cells:
            atoms, weights = rational_teacher(order, ends, jitter=self.jitter, seed=cell["seed"])
            *known, truth = (
                sum((w * x**j for w, x in zip(weights, atoms, strict=True)), Fraction(0))
                for j in (*range(cell["length"]), self.lag)
            )
            exact = moment_range(known, self.lag, tolerance=0)
            rounded = moment_range([float(moment) for moment in known], self.lag)
            rows.append((exact.low, exact.high, float(truth), exact.width, rounded.width))
        return dict(zip(self.variables(), np.array(rows).T, strict=True))

    def _orders(self, ends: int) -> list[int]:
        """The orders of teachers that have atoms for all these ends."""
        return sorted(order for order in self.order if order >= ends)

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, k = Claims("Lemma 7 (ours)"), runs["length"]
        for ends in self.ends:
            orders, formula = self._orders(ends), FORMULAS[ends]
            if not orders:
                continue
            edge = xarray.DataArray([threshold(d, ends=ends) for d in orders], {"order": orders})
            width = runs["width"].sel(ends=ends, order=orders)
            words = f"With {WORDS[ends]}, for the teachers of every order"
            claim.median(
                f"{ends} on the ends: a point from {formula}",
                width.where(k >= edge).max(("order", "length")),
                at_most=self.point,
                says=f"{words}, k ≥ {formula} lags leave one value of lag {self.lag}: the widest "
                "range of a seed is a point.",
            )
            claim.median(
                f"{ends} on the ends: open below {formula}",
                width.where(k < edge).min(("order", "length")),
                at_least=self.point,
                says=f"{words}, k < {formula} lags leave a range of values of lag {self.lag}: the "
                "narrowest range of a seed is wider than a point.",
            )
        differ = (runs["width"] <= self.point) != (runs["width_rounded"] <= self.point)
        claim.median(
            "rounding does not move the threshold",
            _count_by_seed(differ, runs),
            at_most=0,
            says="Moments rounded to float64 give a point wherever exact ones do, and only there: "
            "ranges of a seed that differ in this.",
            place="(ours)",
        )
        inside = (runs["low"] - 1e-9 <= runs["truth"]) & (runs["truth"] <= runs["high"] + 1e-9)
        claim.median(
            "the teacher is among its students",
            _count_by_seed(~inside, runs),
            at_most=0,
            says="The teacher's own value lies in every range, to 1e-9: ranges of a seed that miss "
            "it.",
            place="(ours)",
        )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        runs = runs.sortby("length")
        return Figure(
            "Two lags for each atom and one more: then nothing is left to choose",
            [
                *(self._widths(runs["width"].sel(ends=ends), ends) for ends in self.ends),
                self._thresholds(runs["width"]),
                self._one_range(runs),
                self._one_short(runs["width"]),
            ],
            columns=3,
            caption=f"The range of lag {self.lag} over all positive measures on [−1, 1] with the "
            "first k moments of the teacher's: all stable balanced students of any width at zero "
            "loss on k lags (an end saves a lag for these alone). No training; exact arithmetic. "
            f"{len(self.seed)} random teachers for each order and placement: lines are medians, "
            "bands their whole spread. Open markers below the dashed line: the first range of "
            "width zero.",
        )

    def _lags(self) -> Axis:
        """Ticks at even lengths, or at all of a few."""
        few = len(self.length) < 8
        return Axis("known lags k", ticks=[k for k in sorted(self.length) if few or k % 2 == 0])

    def _width_axis(self) -> Axis:
        return Axis(f"width of the range of lag {self.lag}", scale="log")

    def _widths(self, widths: xarray.DataArray, ends: int) -> Panel:
        """Widths against k: the lines end at the first point, where others would lie on them."""
        marks: list[Mark] = [HorizontalRule(self.point, label="below: a point")]
        k, orders = widths["length"].values.astype(float), sorted(self.order)
        for shade, order in zip(Shade.family(len(orders)), orders, strict=True):
            if order < ends:
                continue
            of = widths.sel(order=order).clip(min=BELOW * self.point)
            low, middle, high = np.nanquantile(of.transpose("length", "seed"), (0, 0.5, 1), axis=1)
            wide = middle > self.point
            last = int(np.argmin(wide)) + 1 if not wide.all() else len(k)
            x, y, points = k[:last], middle[:last], ~wide[:last]
            marks += [
                Band(k[wide], low[wide], high[wide], colour=shade),
                Line(x, y, label=f"order {order}", colour=shade),
                Points(k[wide], middle[wide], colour=shade, size=4.0),
                Points(x[points], y[points], colour=shade, filled=False),
            ]
        note = f"threshold: k = {FORMULAS[ends].replace('d̂', ' × order')}"
        return Panel(WORDS[ends], self._lags(), self._width_axis(), marks, note=note)

    def _orders_axis(self) -> Axis:
        return Axis("order of the teacher", ticks=sorted(self.order))

    def _thresholds(self, widths: xarray.DataArray) -> Panel:
        """The first k from which on the range is a point, for every teacher, and the formula."""
        marks: list[Mark] = []
        for colour, ends in enumerate(self.ends):
            orders = self._orders(ends)
            label = f"{PLACES[ends]}: {FORMULAS[ends].replace('d̂', ' × order')}"
            expected = [threshold(order, ends=ends) for order in orders]
            of = widths.sel(ends=ends, order=orders).transpose("order", "seed", "length")
            first = settling_point(of["length"], of, self.point)
            x, y = np.repeat(orders, first.shape[1]), np.where(np.isinf(first), np.nan, first)
            marks += [
                Line(orders, expected, label=label, colour=colour),
                Points(x, y.ravel(), colour=colour, marker=SHAPES[ends], size=6.0),
            ]
        note = "lines: the formula; markers: every teacher, those of one order coincide"
        title = "the first k from which on it is a point"
        return Panel(title, self._orders_axis(), Axis("known lags k"), marks, note=note)

    def _one_range(self, runs: xarray.Dataset) -> Panel:
        """What the range itself does for one teacher: the largest order, the first seed."""
        order, ends, seed = max(self.order), self.ends[0], self.seed[0]
        one = runs.sel(order=order, ends=ends, seed=seed)
        k, low, high = (one[name].values.astype(float) for name in ("length", "low", "high"))
        truth = float(one["truth"][0])
        linear = 10.0 ** np.floor(np.log10(max(abs(truth), 1e-9)))
        marks = [
            Band(k, low, high, colour=0, label="what is possible"),
            Line(k, low, colour=0, marker="o"),
            Line(k, high, colour=0, marker="o"),
            HorizontalRule(truth, label="the teacher"),
        ]
        y = Axis(f"lag {self.lag}", scale="symlog", threshold=linear)
        title, note = f"one teacher of order {order}: the range itself", f"atoms {PLACES[ends]}"
        return Panel(title, self._lags(), y, marks, note=f"{note}; seed {seed}")

    def _one_short(self, widths: xarray.DataArray) -> Panel:
        """How much is still open one lag before the threshold: what an optimiser has to resolve."""
        marks: list[Mark] = []
        for colour, ends in enumerate(self.ends):
            short = {order: threshold(order, ends=ends) - 1 for order in self._orders(ends)}
            orders = [order for order, k in short.items() if k in self.length]
            if not orders:
                continue
            last = [widths.sel(order=d, ends=ends, length=short[d]) for d in orders]
            values = np.stack([of.values for of in last])
            label, shape = f"{PLACES[ends]}: k = {ONE_SHORT[ends]}", SHAPES[ends]
            marks += [
                Band(orders, np.nanmin(values, 1), np.nanmax(values, 1), colour=colour),
                Line(orders, np.nanmedian(values, 1), label=label, colour=colour, marker=shape),
            ]
        note = "the height of the jump at the threshold: what training must resolve to see it"
        title = "one lag short: what is still open"
        return Panel(title, self._orders_axis(), self._width_axis(), marks, note=note)


def _count_by_seed(found: xarray.DataArray, runs: xarray.Dataset) -> xarray.DataArray:
    """How many of a seed's ranges it was found of; NaN for a seed that has none."""
    others = [name for name in found.dims if name != "seed"]
    return found.where(runs["width"].notnull()).sum(others, min_count=1)
