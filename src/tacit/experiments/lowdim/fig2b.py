"""lowdim, Figure 2(b): the outputs of a GRU teacher and of students trained at two lengths.

The comparison: on the same inputs, the average output of the teacher and of the students, and how
far a student is from its teacher at each step, before its training length and after it.
"""

import numpy as np
import xarray

from tacit.draw import Axis, Figure, Line, Mark, Panel, VerticalRule, lines, median_lines
from tacit.experiments import Claims, Finding
from tacit.experiments.lowdim.gru import LITERAL, QUICK, SMOKE, TEACHERS, GRUExperiment

LEAVES, FOLLOWS = 0.3, 0.1  # of the teacher's root mean square
LAST_ONLY = (
    "the loss asks for the output at step k alone: a linear student that gives it for all inputs "
    "has the first k lags, a GRU need not"
)


class Fig2b(GRUExperiment):
    """Average outputs of a GRU teacher and of students of two training lengths."""

    id, figure = "lowdim/fig2b", "Figure 2(b)"
    published = dict(teacher=LITERAL, seed=range(1))  # one teacher, and a student of each length
    finding = Finding(
        "Over the first k steps the impulse response of a student is not its teacher's, against "
        "the text: it is off by {tracks|fails} of the largest value (delay teacher), since the "
        "loss asks for the output at step k alone.",
        "After its training length the longer student follows, off by {long|.1%|holds} (slow) and "
        "{fast|.1%|holds} (fast) of the teacher's root mean square; so does the shorter one, which "
        "in the figure leaves it: {short|.1%|fails} and {quick|.1%|fails}.",
        tracks="delay: tracks to k",
        long="slow: k = 60 follows the teacher",
        fast="fast: k = 60 follows the teacher",
        short="slow: k = 30 leaves the teacher",
        quick="fast: k = 30 leaves the teacher",
    )
    unspecific = {
        "fast: * follows the teacher": "A student of the shorter length follows this teacher too: "
        "the claim that it leaves it fails.",
    }

    length: tuple[int, ...] = (30, 60)

    presets = {"smoke": SMOKE, "quick": QUICK | {"length": (8, 16)}, "paper": {}}

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, short, long = Claims("Figure 2(b)"), min(self.length), max(self.length)
        last = runs.isel(width=0).sel(iterate="last")
        gaps = gap_over(last, last["step"] >= last["length"]).where(self.counts(last))
        seen, theirs = last["step"] < last["length"], last["teacher_response"]
        impulse = abs(last["response"] - theirs).where(seen).max("step") / abs(theirs).max("step")
        tracks = impulse.where(self.counts(last)).max("length")
        for teacher in self.teacher:
            claim.median(
                f"{teacher}: tracks to k",
                tracks.sel(teacher=teacher),
                at_most=FOLLOWS,
                says=f"For the first k steps the impulse response of a student of the "
                f"{TEACHERS[teacher]} is off by at most {{bound}} of the teacher's largest value, "
                "for the worse of the two lengths.",
                place="section 5.3",
                fails_because=LAST_ONLY,
            )
            gap, words = gaps.sel(teacher=teacher), f"of the {TEACHERS[teacher]}"
            claim.median(
                f"{teacher}: k = {short} leaves the teacher",
                gap.sel(length=short),
                at_least=LEAVES,
                says=f"After step {short} a student {words} trained at k = {short} is off by at "
                "least {bound} of the teacher's root mean square.",
                fails_because=self.follows(teacher, short),
            )
            claim.median(
                f"{teacher}: k = {long} follows the teacher",
                gap.sel(length=long),
                at_most=FOLLOWS,
                says=f"After step {long} a student {words} trained at k = {long} is off by at most "
                "{bound} of the teacher's root mean square.",
            )
        return claim

    def follows(self, teacher: str, length: int) -> str:
        """Why a student of this length follows its teacher beyond it; empty if it does not."""
        if teacher != "delay":
            return "White input of that length reveals most of a teacher that answers at once."
        if length > 2 * self.teacher_width:
            return "Beyond twice the teacher's size a student has learned the delay (see fig2a)."
        return ""

    def draw(self, runs: xarray.Dataset) -> Figure:
        runs = runs.isel(width=0).assign_coords(step=np.arange(1, self.horizon + 1))
        ratio = self.counted(runs.sel(iterate="last"), "gap_rms") / np.sqrt(runs["power"])
        means, distances, impulses = [], [], []
        for teacher in self.teacher:
            one = runs.sel(teacher=teacher).isel(seed=0)
            theirs = one["teacher_mean"].isel(length=0)
            marks: list[Mark] = [
                Line(theirs["step"], theirs, label="teacher", colour="ink", width=2.4)
            ]
            theirs = one["teacher_response"].isel(length=0)
            answers: list[Mark] = [Line(theirs["step"], theirs, label="teacher", colour="ink")]
            gaps: list[Mark] = []
            for colour, k in enumerate(sorted(self.length)):
                rule = VerticalRule(float(k), label=f"k = {k}", colour=colour, style="dotted")
                label, ours = f"student, k = {k}", one["mean"].sel(length=k)
                gap = ratio.sel(teacher=teacher, length=k)
                marks += [rule, *lines(ours, "step", label=label, colour=colour)]
                own = one["response"].sel(length=k)
                answers += [rule, *lines(own, "step", label=label, colour=colour)]
                gaps += [rule, *median_lines(gap, "step", label=label, colour=colour, marker=None)]
            x, title = Axis("step"), TEACHERS[teacher]
            means.append(Panel(f"{title}, seed 0", x, Axis("mean output"), marks))
            impulses.append(Panel(f"{title}, seed 0", x, Axis("answer to an impulse"), answers))
            distances.append(Panel(title, x, Axis("relative rms distance", scale="log"), gaps))
        return Figure(
            "What students of two training lengths do after them",
            means,
            ours=[*impulses, *distances],
            columns=len(self.teacher),
            caption=f"GRU teachers of {self.teacher_width} units, GRU students of {self.width[0]}. "
            f"First row: outputs averaged over {self.inputs} white inputs. Last: root mean square "
            "over them of student minus teacher at each step, relative to the teacher's. The loss "
            "asks for the output at step k alone, so a dip there may be all that was learned. "
            f"Medians over {len(self.seed)} seeds, bands the middle half.",
        )


def gap_over(runs: xarray.Dataset, steps: xarray.DataArray) -> xarray.DataArray:
    """The root mean square of student − teacher over some steps, over the teacher's."""
    gap = (runs["gap_rms"] ** 2).where(steps).mean("step")
    level = (runs["teacher_rms"] ** 2).where(steps).mean("step")
    return (gap / level) ** 0.5
