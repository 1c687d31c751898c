"""lowdim, Figure 5: impulse responses of balanced students trained on 10 and on 20 lags.

The comparison: the response of the teacher and of its students, lag by lag, in the setting of
Figure 1(a) and with the same cells. For the paper's literal teacher and a well-conditioned one,
after Adam and after the polish to zero loss.
"""

import numpy as np
import xarray

from tacit.draw import Axis, Figure, Line, Mark, Panel, VerticalRule, lines, median_lines
from tacit.experiments import Claims, Finding, fixed, swept
from tacit.experiments.lowdim.balanced import BalancedExperiment
from tacit.experiments.lowdim.lengths import TEACHERS

ITERATES = {"last": "Adam", "polished": "Adam, polished"}
CLOSER = 3.0  # a third of the distance: seen at a glance
SEEN = 0.05  # of the teacher's largest value: a distance that shows in the figure
SEVERAL = 3  # lags
PARTLY = {
    "even": "conditioning again: the literal teacher's tail lives in its first three or four "
    "modes, of which ten lags tell much",
    "well-conditioned": "2d̂ lags leave the tail open, but in a range that is narrow against the "
    "teacher's answer (see threshold): the error is a fraction of the zero response's",
}
GOES_ON = (
    "at the last lags drawn most students still answer by about half of the teacher's largest "
    "value: what was learned lasts as the teacher's modes do"
)


class Fig5(BalancedExperiment):
    """Impulse responses of balanced students trained on 10 and on 20 lags."""

    id, figure = "lowdim/fig5", "Figure 5"
    version = 3  # the start's scale became an axis
    published = dict(teacher="even", seed=range(3))  # of which "two selected students"
    finding = Finding(
        "The student of the shorter sequences follows its teacher for {more|holds} lags beyond "
        "them (even spectrum), as the paper says, but does not decay to zero: at the last lags "
        "drawn it answers by {end|fails} of the teacher's largest value.",
        "By the paper's own bar it does extrapolate: its error is {bar|fails} of the zero "
        "response's.",
        "Over lags that neither has seen, the student of the longer sequences is {closer|holds} "
        "times nearer to a well-conditioned teacher, {zero|holds} times after the polish.",
        more="even: k = 10 tracks several lags more",
        end="even: k = 10 then decays to zero",
        bar="even, last: k = 10 does not extrapolate",
        closer="well-conditioned, last: k = 20 is closer",
        zero="well-conditioned, polished: k = 20 is closer",
    )
    unspecific = {
        "*: k = 20 extrapolates": "B.3's own bar, which the shorter student passes as well: the "
        "claim that it does not fails.",
        "even, polished: k = 20 stays": "Polished, the shorter student of this teacher is as near: "
        "the claim that it does not extrapolate fails.",
    }

    teacher: tuple[str, ...] = ("even", "well-conditioned")
    method: tuple[str, ...] = swept(("adam",), "how the student descends", choices=("adam",))
    length: tuple[int, ...] = (10, 20)
    horizons: tuple[int, ...] = fixed(
        (40,), "the lags k … horizon − 1 are drawn and compared", low=2, high=500
    )

    presets = {
        "smoke": dict(seed=(0, 1), steps=300, polish_steps=60),
        "quick": dict(seed=range(30)),
        "paper": {},
    }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, short, long = Claims("Figure 5"), min(self.length), max(self.length)
        runs = runs.isel(width=0, loss=0, scale=0, method=0, horizon=0)
        gap = abs(runs["response"] - runs["target"])
        within = gap.where(runs["lag"] < runs["length"]).max("lag").max("length")
        unseen = (runs["lag"] >= long) & (runs["lag"] < self.horizons[0])
        beyond = gap.where(unseen).max("lag")
        level = abs(runs["target"]).where(runs["lag"] < self.horizons[0]).max("lag")
        left = (gap > SEEN * level).where(runs["lag"] >= short, other=False)
        stays_for = left.argmax("lag").where(left.any("lag"), self.horizons[0]) - short
        end = (runs["lag"] >= self.horizons[0] - 5) & (runs["lag"] < self.horizons[0])
        tail = abs(runs["response"]).where(end).max("lag") / level
        for teacher in self.teacher:
            run = {"teacher": teacher, "iterate": "last", "length": short}
            claim.median(
                f"{teacher}: k = {short} tracks several lags more",
                stays_for.sel(run),
                at_least=SEVERAL,
                says=f"{TEACHERS[teacher]}, Adam: the student of k = {short} stays within {SEEN:g} "
                "of the teacher's largest value for {bound} lags or more beyond it.",
                place="appendix A.3",
            )
            claim.median(
                f"{teacher}: k = {short} then decays to zero",
                tail.sel(run),
                at_most=SEEN,
                says=f"{TEACHERS[teacher]}, Adam: at the last five lags drawn its response is at "
                "most {bound} of the teacher's largest value.",
                place="appendix A.3",
                fails_because=GOES_ON,
            )
        for teacher in self.teacher:
            for iterate, words in ITERATES.items():
                run = {"teacher": teacher, "iterate": iterate}
                error = runs["relative_error"].sel(run)
                setting = f"{TEACHERS[teacher]}, {words}"
                claim.median(
                    f"{teacher}, {iterate}: tracks to k",
                    within.sel(run),
                    at_most=0.01,
                    says=f"{setting}: within the training length both students follow the teacher "
                    "to {bound}.",
                )
                claim.median(
                    f"{teacher}, {iterate}: k = {short} does not extrapolate",
                    error.sel(length=short),
                    at_least=1,
                    says=f"{setting}: the student of k = {short} is wrong beyond it by at least "
                    "the zero response's error, the paper's own bar.",
                    place="Figure 5, appendix B.3",
                    fails_because=PARTLY.get(teacher, PARTLY["even"]),
                )
                claim.median(
                    f"{teacher}, {iterate}: k = {long} extrapolates",
                    error.sel(length=long),
                    at_most=1,
                    says=f"{setting}: by that bar the student of k = {long} does extrapolate.",
                    place="Figure 5, appendix B.3",
                )
                claim.median(
                    f"{teacher}, {iterate}: k = {long} is closer",
                    beyond.sel(run).sel(length=short) / beyond.sel(run).sel(length=long),
                    at_least=CLOSER,
                    says=f"{setting}: over the lags {long} … {self.horizons[0] - 1}, which neither "
                    f"has seen, the student of k = {short} is at least {{bound}} times as far "
                    f"from the teacher as the student of k = {long}.",
                )
                if (teacher, iterate) == ("even", "last"):
                    continue  # in the median as far as the bound: no number of seeds decides it
                claim.median(
                    f"{teacher}, {iterate}: k = {long} stays",
                    error.sel(length=long),
                    at_most=0.05,
                    says=f"{setting}: the student of k = {long} is wrong beyond it by at most "
                    "{bound} of the zero response's error.",
                    place="(ours)",
                )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        lags, short = np.arange(self.horizons[0]), min(self.length)
        runs = runs.isel(width=0, loss=0, scale=0, method=0, horizon=0).sortby("length")
        runs = runs.sel(lag=lags, iterate=list(ITERATES))
        rules: list[Mark] = [
            VerticalRule(k - 0.5, label=f"end of training, k = {k}", style=style)
            for k, style in zip(sorted(self.length), ("dotted", "dashed"), strict=False)
        ]
        by = ("length", "iterate")
        styles = {k: "solid" if k == short else "dashed" for k in self.length}

        def label(length: int, iterate: str) -> str:
            return f"k = {length}, {ITERATES[iterate]}"

        responses, gaps = [], []
        for teacher in self.teacher:
            of = runs.sel(teacher=teacher)
            errors = of["error"].sel(length=short, iterate="last")
            typical = errors.sortby(errors).isel(seed=(len(self.seed) - 1) // 2)["seed"].item()
            one = of.sel(seed=typical)
            target = one["target"].isel(length=0).values
            students = lines(one["response"], "lag", by=by, label=label, style=styles)
            responses.append(
                Panel(
                    f"{TEACHERS[teacher]}, a typical seed ({typical})",
                    Axis("lag"),
                    Axis("impulse response"),
                    [
                        *rules,
                        Line(lags, target, label="teacher", colour="reference", width=3.0),
                        *students,
                    ],
                    ours=students[1::2],  # polished
                )
            )
            gap = abs(of["response"] - of["target"])
            medians = median_lines(gap, "lag", by=by, label=label, band=False)
            distance = Axis("|student − teacher|", scale="log")
            title = f"{TEACHERS[teacher]}, all seeds"
            gaps.append(Panel(title, Axis("lag"), distance, [*rules, *medians]))
        return Figure(
            "Students follow the teacher to k, and beyond it only from longer sequences",
            [*responses, *gaps],
            columns=len(self.teacher),
            caption=f"Teacher of order {self.order}, balanced students of width {self.width[0]}, "
            f"Adam {self.adam_rate:g} for {self.steps:,} steps; polished: up to "
            f"{self.polish_steps:,} Levenberg-Marquardt steps more. Lower row: medians over "
            f"{len(self.seed)} seeds.",
        )
