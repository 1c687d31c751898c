"""lowdim, Figure 2(a): does a GRU student extrapolate once k is four times its GRU teacher's size?

The comparison: the error on the steps after k, and relative to the zero predictor's, against the
training length k, for teachers trained to forget slowly, to forget fast, and to be silent for as
many steps as they have units less one (a delay, as lowdim's linear one of that order).
"""

import numpy as np
import xarray

from tacit.draw import (
    Axis,
    Figure,
    HorizontalRule,
    Line,
    Mark,
    Panel,
    VerticalRule,
    mean_lines,
    median_lines,
)
from tacit.experiments import Claims, Finding, at
from tacit.experiments.lowdim.gru import LITERAL, QUICK, SMOKE, TEACHERS, GRUExperiment
from tacit.experiments.lowdim.lengths import ALL, AS_IN_THE_PAPER, claim_transition, first_panel

DELAYED = (
    "the jump is at twice the teacher's size, as for linear students of a delay line, and not at "
    "four times"
)
HIGH, JUMP = 0.3, 10.0  # a high error and a jump, as for linear students in fig1a and b
PAPER_SEEDS = 10
COLOURS = {"slow": 0, "fast": 1, "delay": 2}
LOOK = (("asked", "target", "dotted"), ("learned", "teacher_response", "solid"))

REVEALS = (
    "white input of any length reveals much of a teacher that is not silent: the error falls from "
    "length to length, a knee and not a jump"
)


class Fig2a(GRUExperiment):
    """Extrapolation error against training length, GRU teacher and student."""

    id, figure = "lowdim/fig2a", "Figure 2(a)"
    published = dict(teacher=LITERAL, seed=range(PAPER_SEEDS))
    finding = Finding(
        "As the paper says, errors are lower above four times the teacher's size than below it: "
        "{slow|1/x|holds} times for a teacher that forgets slowly, {fast|1/x|holds} times for one "
        "that forgets fast.",
        "For teachers that answer at once there is no jump: from one length of the grid to the "
        "next the error falls at most {knee|fails} times (slow).",
        "A teacher that is silent at first has a jump, at twice its size and not at four times: "
        "there students are wrong by {short|holds} of the zero predictor's error, at the next "
        "length by {jump|holds} times less.",
        slow="slow, 100 units: high below, low above",
        fast="fast, 100 units: high below, low above",
        knee="slow: jump",
        short="delay: twice the size is not enough",
        jump="delay: more is enough",
    )
    unspecific = {
        "*: above, better than zero": "B.3's own bar, which these students pass at shorter lengths "
        "as well: the claim beside it, that they do not, fails.",
    }

    presets = {
        "smoke": SMOKE,
        "quick": QUICK | dict(length=(4, 8, 12, 20), longest=20),
        "paper": {},
        "gpu": dict(teacher=LITERAL, width=(200, 500), length=(10, 20, 50, 70), seed=range(7)),
    }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, size = Claims("Figure 2(a), section 5.3"), self.teacher_width
        last = runs.sel(iterate="last")
        every, absolute = self.counted(last, "relative_error"), self.counted(last, "error")
        for width in self.width:
            for teacher in self.teacher:
                of, edge = {"teacher": teacher, "width": width}, 4 * size
                delay, sides = teacher == "delay", [sum(k < edge for k in self.length)]
                sides.append(sum(k > edge for k in self.length))
                parts = [*ALL, "fastest"] if delay else list(ALL)
                if not delay and min(sides) < 2:
                    parts.remove("low")  # one length on a side does not decide a gradual decline
                claim_transition(
                    claim,
                    absolute.sel(of),
                    every.sel(of),
                    edge=edge,
                    setting=f"{teacher}, {width} units",
                    reasons={"fastest": DELAYED} if delay else {"worse": REVEALS},
                    parts=parts,
                )
        errors = every.isel(width=0)
        for teacher in self.teacher:
            error = errors.sel(teacher=teacher).sortby("length")
            words = f"Students of the {TEACHERS[teacher]}, {size} units"
            above = error.where(error["length"] > 4 * size).max("length")
            falls = error.shift(length=1) / error  # NaN at the first length, which has no other
            for name, ratio, says in (
                ("tenfold from the size to four times it", at(error, length=size) / above,
                 f"at k = {size}, its size, at least {{bound}} times the error of every "
                 f"k > {4 * size}, four times its size."),
                ("jump", falls.max("length"), "an error that falls at least {bound} times between "
                 "some two neighbouring lengths of the grid."),
            ):  # fmt: skip
                claim.median(f"{teacher}: {name}", ratio, at_least=JUMP, place="(ours)",
                             says=f"{words}, have {says}",
                             fails_because="" if teacher == "delay" else REVEALS)  # fmt: skip
        if "delay" in self.teacher:
            error, place = errors.sel(teacher="delay"), "section 5.2, for linear students (ours)"
            beyond = min((k for k in self.length if k > 2 * size), default=0)
            claim.median(
                "delay: twice the size is not enough",
                at(error, length=2 * size),
                at_least=HIGH,
                says=f"At k = {2 * size}, twice the delay teacher's size, students fit the last "
                "output and have a relative error of at least {bound} beyond it.",
                place=place,
            )
            claim.median(
                "delay: more is enough",
                at(error, length=2 * size) / at(error, length=beyond),
                at_least=JUMP,
                says="From there to the next length of the grid the error falls at least {bound} "
                "times: the threshold is that of linear students, twice the size and not four "
                "times.",
                place=place,
            )
        return claim

    def draw_paper(self, runs: xarray.Dataset) -> Figure:
        return first_panel(self.draw(runs))

    def draw(self, runs: xarray.Dataset) -> Figure:
        size, k, step = self.teacher_width, Axis("training length k"), Axis("step")
        rules: list[Mark] = [
            VerticalRule(4.0 * size, label="k = 4 × teacher size"),
            VerticalRule(2.0 * size, label="k = 2 × teacher size", style="dotted"),
            HorizontalRule(1.0, label="zero predictor", colour="muted", style="solid"),
        ]
        few = runs.isel(width=0, seed=slice(PAPER_SEEDS)).sel(iterate="last")
        theirs = [teacher for teacher in self.teacher if teacher in LITERAL]
        few = few.sel(teacher=theirs or list(self.teacher))
        plain = mean_lines(self.counted(few, "error"), "length", by="teacher", colour=COLOURS)
        title = f"{AS_IN_THE_PAPER}mean ± deviation, {few.sizes['seed']} seeds"
        plain_axis = Axis("ℓ∞ error after step k", limits=(0, None))
        panels = [Panel(title, k, plain_axis, [rules[0], *plain])]
        for teacher in self.teacher:
            of, marks = runs.sel(teacher=teacher), rules.copy()
            for place, width in enumerate(self.width):
                colour = COLOURS[teacher] + 3 * place
                error = self.counted(of.sel(width=width), "relative_error")
                last, best = error.sel(iterate="last"), error.sel(iterate="best")
                marks += median_lines(last, "length", label=f"{width} units", colour=colour)
                if not place:
                    look = {"label": "its iterate of lowest loss", "style": "dotted"}
                    marks += median_lines(best, "length", colour=colour, band=False, **look)
            kinds = zip(*np.unique(of["outcome"].values, return_counts=True), strict=True)
            note = "runs: " + ", ".join(f"{n} {word or 'missing'}" for word, n in kinds)
            error_axis = Axis("relative error after step k", scale="log")
            panels.append(Panel(TEACHERS[teacher], k, error_axis, marks, note=note))
        first = runs.isel(width=0)
        loss = first["train_loss"].sel(iterate="last") / first["power"]
        gate = HorizontalRule(self.gate, label="runs above do not count")
        losses = median_lines(loss, "length", by="teacher", colour=COLOURS)
        loss_axis = Axis("training loss / teacher's power", scale="log")
        one, responses = first.isel(length=0, seed=0), list[Mark]()
        for teacher in self.teacher:
            colour = COLOURS[teacher]
            for words, name, style in LOOK:
                y, label = one[name].sel(teacher=teacher), f"{teacher}, {words}"
                responses.append(Line(y["step"], y, label=label, colour=colour, style=style))
        loud = first["teacher_rms"].isel(length=0).assign_coords(step=first["step"] + 1)
        power = median_lines(loud, "step", by="teacher", colour=COLOURS, marker=None)
        waits = ", a jump for one that waits" if "delay" in self.teacher else ""
        widths = " and ".join(str(width) for width in self.width)
        return Figure(
            f"GRU students: a knee for teachers that answer at once{waits}",
            [
                *panels,
                Panel("loss reached", k, loss_axis, [gate, *losses]),
                Panel("the teachers, seed 0", step, Axis("answer to an impulse"), responses),
                Panel("what students learn from", step, Axis("rms output on white input"), power),
            ],
            columns=4,
            caption=f"GRU teachers of {size} units, GRU students of {widths}, "
            f"{self.sequences} new sequences in each step, up to {self.steps:,} Adam steps. Error: "
            f"ℓ∞ over the steps k … {self.horizon}, mean over {self.inputs} inputs, relative to "
            "the zero predictor's, of the runs that count. Lines but those of the first panel are "
            f"medians over {len(self.seed)} seeds, bands the middle half.",
        )
