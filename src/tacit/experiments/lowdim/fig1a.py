"""lowdim, Figure 1(a): does a wide balanced student extrapolate once k > 2 × the teacher's order?

The comparison: extrapolation error against the training length k, for the paper's literal teacher
(eigenvalues in [0.6, 1.05], evenly or at random) and for a well-conditioned one (eigenvalues evenly
in [−1, 1], equal weights); after Adam as in the paper, after gradient descent, under gradient flow,
and after each was polished towards zero loss by Levenberg-Marquardt steps of least norm.

The paper's claim comes first, in its own metric: the absolute error is high below 2d̂ and low above,
also for wider students, from data and from other starts. A jump from k = 2d̂ to 2d̂ + 1 is our own
question: Lemma 7 has one, between exact solutions.
"""

from typing import Any

import numpy as np
import xarray

from tacit.draw import Axis, Band, Figure, HorizontalRule, Line, Mark, Panel, median_lines
from tacit.experiments import Claims, Finding, at
from tacit.experiments.lowdim.balanced import BalancedExperiment
from tacit.experiments.lowdim.lengths import ALL, METHODS, NEARLY_KNOWN, PUBLISHED, TEACHERS

ITERATES = {"last": "", "best": ", lowest-loss iterate", "polished": ", polished"}
CONDITIONING = (
    "conditioning: the teacher's Hankel singular values span seven decades and more (last panel), "
    "so that Adam ends before it has learned the last modes, and lengths just above 2d̂ are no "
    "better determined than those just below; even polished the decline stays gradual"
)
OPTIMISATION = (
    "optimisation: the jump is one between exact solutions; Adam ends at a loss at which the tail "
    "is still free by more than the gap; polished to zero loss it shows"
)
RESOLVED = (
    "all singular values of the well-conditioned teacher lie within a decade or two, above what "
    "Adam's final loss leaves unexplained"
)
SLOW = (
    "15,000 steps of gradient descent at this rate leave about a thousandth of the zero response's "
    "loss; the Adam of appendix B.1 gets further"
)


class Fig1a(BalancedExperiment):
    """Extrapolation error against training length, balanced teacher and student."""

    id, figure = "lowdim/fig1a", "Figure 1(a)"
    version = 3  # the start's scale became an axis
    published = PUBLISHED
    finding = Finding(
        "As the paper says, errors are lower above k = 2d̂ than below it: {even|1/x|holds} times "
        "(even spectrum) and {random|1/x|holds} times (random) for its teachers, as it draws them.",
        "For the paper's teachers the decline is gradual: one lag beyond 2d̂ lowers the error "
        "{slow|fails} and {gradual|fails} times, where Adam resolves {resolved|holds} of its "
        "modes.",
        "A well-conditioned teacher has the jump of Lemma 7: {flow|holds} times with that lag "
        "under gradient flow, {zero|holds} times once polished to zero loss.",
        even="even, Adam: as drawn, high below, low above",
        random="random, Adam: as drawn, high below, low above",
        slow="even: jump under Adam",
        gradual="random: jump under Adam",
        resolved="even: modes resolved by Adam",
        flow="well-conditioned: jump under flow",
        zero="well-conditioned: jump at zero loss",
    )
    unspecific = {
        "*: above, better than zero": "B.3's own bar, which these students pass below 2d̂ as well: "
        "the claim beside it, that they do not, fails.",
        "*: modes resolved by Adam": "The last singular values of these teachers lie below the "
        "loss of any of the runs: what is claimed is the teacher's conditioning.",
    }

    presets = {
        "smoke": dict(width=12, length=(9, 10, 11, 12), seed=(0, 1), steps=300, polish_steps=60),
        "quick": dict(method=("adam", "flow"), length=(5, 7, 9, 10, 11, 15, 20), seed=range(11)),
        "paper": dict(
            width=(40, 100, 200), loss=("population", "empirical"), scale=(0.1, 0.01), seed=range(8)
        ),
    }
    chunk = {"seed": 11}

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, edge = Claims("Figure 1(a), section 5.1"), 2 * self.order
        every = runs.isel(horizon=0)
        runs = every.isel(width=0, loss=0, scale=0)
        errors = self.counted(runs, "relative_error")
        above, below = runs["length"] > edge, runs["length"] <= edge
        for teacher in self.teacher:
            self._as_the_paper_says(claim, every.sel(teacher=teacher), teacher)

        def jump(**run: str) -> xarray.DataArray:
            return at(errors.sel(run), length=edge) / at(errors.sel(run), length=edge + 1)

        for teacher in self.teacher if "adam" in self.method else ():
            words, literal = f"the {TEACHERS[teacher]}", teacher != "well-conditioned"
            run = {"teacher": teacher, "method": "adam", "iterate": "last"}
            claim.median(
                f"{teacher}: jump under Adam",
                jump(**run),
                at_least=10,
                says=f"For {words} and Adam as in the paper, the error falls at least {{bound}} "
                f"times from k = {edge} to k = {edge + 1}.",
                place="(ours)",
                fails_because=CONDITIONING if literal else OPTIMISATION,
            )
            left = np.sqrt(runs["train_loss"].sel(run))
            hankel = runs["hankel"].sel({"teacher": teacher, "method": "adam"})
            resolved = (hankel > left).sum("singular_value").where(np.isfinite(left) & above)
            claim.median(
                f"{teacher}: modes resolved by Adam",
                resolved.median("length"),
                at_most=self.order - 0.5,
                says=f"For {words}, Adam's final loss resolves fewer than {self.order} of the "
                "teacher's Hankel singular values.",
                place="(ours)",
                fails_because="" if literal else RESOLVED,
            )
        if "well-conditioned" not in self.teacher:
            return claim
        if "adam" in self.method:
            run = {"teacher": "well-conditioned", "method": "adam"}
            polished = errors.sel(run).sel(iterate="polished")
            claim.median(
                "well-conditioned: jump at zero loss",
                jump(**run, iterate="polished"),
                at_least=10,
                says=f"Polished to zero loss, the error falls at least {{bound}} times from "
                f"k = {edge} to k = {edge + 1}.",
                place="Lemma 7 (ours)",
            )
            claim.median(
                "well-conditioned: extrapolation above the threshold",
                polished.where(above).max("length"),
                at_most=1e-3,
                says=f"Polished, the relative error at the worst k > {edge} is at most {{bound}}.",
                place="Lemma 7",
            )
            claim.median(
                "well-conditioned: no extrapolation at the threshold",
                at(polished, length=edge),
                at_least=0.05,
                says=f"Polished, the relative error at k = {edge} is at least {{bound}}: zero "
                "loss alone does not determine the tail (of these students, which need not be "
                "stable).",
                place="Proposition 3, Lemma 7",
            )
            for easy, side in ((True, below), (False, above)):  # above, the solution is singular
                claim.median(
                    f"well-conditioned: zero loss is {'easy below' if easy else 'hard above'}",
                    self.share_at_goal(runs.sel(run), side),
                    at_least=0.5 if easy else None,
                    at_most=None if easy else 0.5,
                    says=f"In most seeds the polish reaches the goal of {self.goal:g} at a share "
                    f"of {{bound}} or {'more' if easy else 'less'} of all k "
                    f"{'≤' if easy else '>'} {edge}.",
                    place="Lemma 7 (ours)",
                )
        if "flow" in self.method:
            claim.median(
                "well-conditioned: jump under flow",
                jump(teacher="well-conditioned", method="flow", iterate="last"),
                at_least=10,
                says=f"Gradient flow to time {self.flow_time:g} makes the error fall at least "
                f"{{bound}} times from k = {edge} to k = {edge + 1}.",
                place="Theorem 5 (whose A is symmetric; this one is diagonal)",
            )
        return claim

    def _as_the_paper_says(self, claim: Claims, every: xarray.Dataset, teacher: str) -> None:
        """High below and low above: in the figure, and in what changes nothing by the text."""
        runs = every.sel(iterate="last")
        first = {"width": self.width[0], "loss": self.loss[0], "scale": self.scale[0]}
        if "adam" in self.method:
            adam = runs.sel({**first, "method": "adam"})
            literal = teacher != "well-conditioned"
            reasons = {"worse": NEARLY_KNOWN, "fastest": CONDITIONING if literal else OPTIMISATION}
            self.transition(
                claim, adam, f"{teacher}, Adam", reasons, literal=literal, parts=[*ALL, "fastest"]
            )
            if not literal:
                polished = every.sel({**first, "method": "adam", "iterate": "polished"})
                self.transition(claim, polished, f"{teacher}, polished", parts=["fastest"])
        if "flow" in self.method and teacher == "well-conditioned":
            flow = every.sel({**first, "method": "flow", "iterate": "last"})
            self.transition(claim, flow, f"{teacher}, flow", parts=["fastest"])
        if "gd" in self.method:
            descent, setting = runs.sel({**first, "method": "gd"}), f"{teacher}, gradient descent"
            trained = self.counts(descent).where(descent["outcome"] != "")
            claim.median(
                f"{setting}: trains",
                trained.mean("length"),
                at_least=0.5,
                says=f"{setting}: at a share of {{bound}} or more of the lengths {self.steps:,} "
                f"steps at rate {self.gd_rate:g} reach a loss of {self.gate:g} of the zero "
                "response's.",
                fails_because=SLOW,
            )
            reasons = {"low": SLOW} if teacher != "well-conditioned" else {}
            # Of all runs, whether they trained or not.
            self.transition(claim, descent, setting, reasons, counted=False, parts=["low"])
        if "adam" in self.method and teacher != "well-conditioned":
            for words, other in self._variants():
                of = runs.sel({**first, "method": "adam", **other})
                self.transition(claim, of, f"{teacher}, {words}", parts=["low"], literal=True)

    def _variants(self) -> list[tuple[str, dict[str, Any]]]:
        """Settings of which section 5.1 and appendix B.1 say that they change nothing."""
        return [
            *((f"d = {width}", {"width": width}) for width in self.width[1:]),
            *((f"{self.sequences:,} sequences", {"loss": loss}) for loss in self.loss[1:]),
            *((f"scale {scale:g}", {"scale": scale}) for scale in self.scale[1:]),
        ]

    def draw(self, runs: xarray.Dataset) -> Figure:
        method = self.method[0]
        first = runs.isel(width=0, loss=0, scale=0)
        errors = self.counted(first, "relative_error").isel(horizon=0)
        shown = [(m, i) for m in self.method for i in (ITERATES if m == "adam" else ["last"])]
        ends = {"method": method, "iterate": ["last", "polished"]}
        of = runs.sel({"method": method, "iterate": "last"}).isel(horizon=0)
        panels = [self.paper_panel(of.isel(width=0, loss=0, scale=0), by="teacher", label=TEACHERS)]
        if self._variants():
            panels.append(self._no_difference(self.counted(of, "error").isel(teacher=0)))
        for teacher in self.teacher:
            marks: list[Mark] = [HorizontalRule(1.0, label="zero response")]
            # Other colours than the teachers', so that the panels share one key.
            for colour, (name, iterate) in enumerate(shown, len(TEACHERS)):
                one = errors.sel({"teacher": teacher, "method": name, "iterate": iterate})
                label = METHODS[name] + ITERATES[iterate]
                marks += median_lines(one, "length", label=label, colour=colour)
            panels.append(self.panel(TEACHERS[teacher], "relative extrapolation error", marks))
        losses = median_lines(
            first["train_loss"].sel(ends),
            "length",
            by=("teacher", "iterate"),
            label=lambda teacher, iterate: f"{teacher}, {ITERATES[iterate][2:] or METHODS[method]}",
            colour={teacher: place for place, teacher in enumerate(self.teacher)},
            style={"last": "dashed", "polished": "solid"},
            band=False,
        )
        goal = HorizontalRule(self.goal, label="goal of the polish", style="dotted")
        return Figure(
            "A jump at twice the teacher's order, once conditioning lets it show",
            [
                *panels,
                self.panel("loss reached", "training loss", [goal, *losses]),
                self._conditioning(first["hankel"].isel(method=0, length=0)),
            ],
            columns=3,
            caption=f"Teacher of order {self.order}, balanced student of width {self.width[0]}, "
            f"{self.steps:,} steps (flow: to time {self.flow_time:g}); polished: up to "
            f"{self.polish_steps:,} Levenberg-Marquardt steps more. First panel: "
            f"{METHODS[method]}. Other lines are medians over {len(self.seed)} seeds, bands the "
            f"middle half. Errors over the lags k … {self.horizons[0] - 1}, of the runs whose loss "
            f"is at most {self.gate:g} of the zero response's.",
        )

    def _no_difference(self, errors: xarray.DataArray) -> Panel:
        """The first teacher in the settings that change nothing by the paper's text."""
        first = {"width": self.width[0], "loss": self.loss[0], "scale": self.scale[0]}
        marks: list[Mark] = []
        for colour, (words, other) in enumerate([("as in the figure", {}), *self._variants()]):
            of = errors.sel({**first, **other})
            marks += median_lines(of, "length", label=words, colour=colour, band=not colour)
        title = f"what changes nothing by the text: {self.teacher[0]}"
        return self.panel(title, "extrapolation error (ℓ∞)", marks)

    def _conditioning(self, spectra: xarray.DataArray) -> Panel:
        """The teachers' Hankel singular values: medians, and their whole range."""
        modes, marks, notes = spectra["singular_value"].values, [], []
        for colour, teacher in enumerate(self.teacher):
            of = spectra.sel(teacher=teacher).transpose("singular_value", "seed").values
            low, middle, high = np.nanquantile(of / of[0], [0, 0.5, 1], axis=1, method="nearest")
            marks += [
                Band(modes, low, high, colour=colour),
                Line(modes, middle, label=teacher, colour=colour, marker="o"),
            ]
            notes.append(f"{teacher}: " + ", ".join(f"{v:.0e}" for v in middle[1:]))
        x, y = Axis("mode", ticks=modes), Axis("Hankel singular value / largest", scale="log")
        title = "the cause: the teacher's conditioning"
        return Panel(title, x, y, marks, note="; ".join(notes))
