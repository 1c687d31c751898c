"""The figures of lowdim/fig2a and fig2b, from their stored datasets."""

from typing import TYPE_CHECKING

import numpy as np

from tacit.draw import Axis, Band, Figure, HorizontalRule, Line, Mark, Panel, VerticalRule
from tacit.experiments.lowdim._gru_runs import TITLES, GRUConfig
from tacit.store import ITERATE, LENGTH, SEED, STEP, TEACHER, WIDTH

if TYPE_CHECKING:
    import xarray

COLOURS = {"slow": 0, "fast": 1, "delay": 2}


def draw_errors(dataset: "xarray.Dataset", config: GRUConfig) -> Figure:
    """Fig2a: errors for each teacher, training losses, and what the teachers answer."""
    k = Axis("training length k")
    size = config.teacher_width
    panels = []
    for teacher in config.teacher:
        marks: list[Mark] = [
            VerticalRule(4.0 * size, label="k = 4 × teacher size"),
            VerticalRule(2.0 * size, label="k = 2 × teacher size", style="dotted"),
            HorizontalRule(1.0, label="zero predictor", colour="muted", style="solid"),
        ]
        for place, width in enumerate(config.width):
            errors = dataset["relative_error"].sel({TEACHER: teacher, WIDTH: width})
            colour = COLOURS[teacher] + 3 * place
            marks += _median(
                errors.sel({ITERATE: "last"}), label=f"{width} units", colour=colour, band=True
            )
            if not place:
                marks += _median(
                    errors.sel({ITERATE: "best"}),
                    label="its iterate of lowest loss",
                    colour=colour,
                    style="dotted",
                )
        counts = _outcomes(dataset["outcome"].sel({TEACHER: teacher}))
        axis = Axis("relative error after step k", scale="log")
        panels.append(Panel(TITLES[teacher], k, axis, marks, legend="outside", note=counts))
    marks = [HorizontalRule(config.gate, label="runs above do not count")]
    for teacher in config.teacher:
        of = dataset.isel({WIDTH: 0}).sel({TEACHER: teacher})
        loss = of["train_loss"].sel({ITERATE: "last"}) / of["power"]
        marks += _median(loss, label=teacher, colour=COLOURS[teacher], band=True)
    axis = Axis("training loss / teacher's power", scale="log")
    panels.append(Panel("loss reached", k, axis, marks, legend="outside"))
    panels.append(_responses(dataset, config))
    panels.append(_power(dataset, config))
    return Figure(
        "GRU students: a knee for teachers that answer at once, a jump for one that waits",
        panels,
        columns=3,
        caption=(
            f"GRU teachers of {size} units, GRU students of {config.width[0]}, "
            f"{config.sequences} fresh sequences a step, up to {config.steps:,} Adam steps. "
            f"Error: ℓ∞ over the steps k … {config.horizon}, mean over {config.inputs} inputs, "
            f"relative to the zero predictor's. Lines are medians over {len(config.seed)} seeds "
            "(of teacher and student), bands the middle half."
        ),
    )


def draw_outputs(dataset: "xarray.Dataset", config: GRUConfig) -> Figure:
    """Fig2b: average outputs of one seed, and the distance to the teacher step by step."""
    chosen = dataset.isel({WIDTH: 0})
    steps = np.arange(1, config.horizon + 1, dtype=float)
    time = Axis("step")
    first, second = [], []
    for teacher in config.teacher:
        one = chosen.sel({TEACHER: teacher}).isel({SEED: 0})
        teacher_mean = one["teacher_mean"].isel({LENGTH: 0}).values
        marks: list[Mark] = [Line(steps, teacher_mean, label="teacher", colour="ink", width=2.4)]
        gaps: list[Mark] = []
        for place, length in enumerate(sorted(config.length)):
            label = f"student, k = {length}"
            marks += [
                VerticalRule(float(length), label=f"k = {length}", colour=place, style="dotted"),
                Line(steps, one["mean"].sel({LENGTH: length}).values, label=label, colour=place),
            ]
            of = chosen.sel({TEACHER: teacher, LENGTH: length})
            ratio = (of["gap_rms"] / np.sqrt(of["power"])).transpose(STEP, SEED).values
            low, middle, high = np.nanquantile(ratio, [0.25, 0.5, 0.75], axis=1, method="nearest")
            gaps += [
                VerticalRule(float(length), label=f"k = {length}", colour=place, style="dotted"),
                Band(steps, low, high, colour=place),
                Line(steps, middle, label=label, colour=place),
            ]
        axis = Axis("mean output")
        first.append(Panel(f"{TITLES[teacher]}, seed 0", time, axis, marks, legend="outside"))
        axis = Axis("relative rms distance", scale="log")
        second.append(Panel(TITLES[teacher], time, axis, gaps, legend="outside"))
    return Figure(
        "What students of two training lengths do after them",
        [*first, *second],
        columns=len(config.teacher),
        caption=(
            f"GRU teachers of {config.teacher_width} units, GRU students of {config.width[0]}. "
            f"Above: outputs averaged over {config.inputs} white inputs. Below: root mean square "
            "over them of student minus teacher at each step, relative to the teacher's. The "
            "loss asks for the output at step k alone, so a dip there may be all that was learned. "
            f"Medians over {len(config.seed)} seeds, bands the middle half."
        ),
    )


def _median(
    values: "xarray.DataArray",
    *,
    label: str,
    colour: int,
    style: str = "solid",
    band: bool = False,
) -> list[Mark]:
    """The median over seeds at each length, with the middle half as a band."""
    ordered = values.sortby(LENGTH).transpose(LENGTH, SEED)
    x = ordered[LENGTH].values.astype(float)
    low, middle, high = np.nanquantile(ordered.values, [0.25, 0.5, 0.75], axis=1, method="nearest")
    marker = "o" if band else None
    line = Line(x, middle, label=label, colour=colour, style=style, marker=marker)
    return [Band(x, low, high, colour=colour), line] if band else [line]


def _responses(dataset: "xarray.Dataset", config: GRUConfig) -> Panel:
    """The answer to an impulse: asked for, and learned by the teacher of the first seed."""
    steps = np.arange(config.horizon, dtype=float)
    marks: list[Mark] = []
    for teacher in config.teacher:
        one = dataset.isel({WIDTH: 0, LENGTH: 0, SEED: 0}).sel({TEACHER: teacher})
        colour = COLOURS[teacher]
        marks += [
            Line(steps, one["target"].values, label=f"{teacher}, asked", colour=colour,
                 style="dotted"),
            Line(steps, one["teacher_response"].values, label=f"{teacher}, learned", colour=colour),
        ]  # fmt: skip
    axes = Axis("step"), Axis("answer to an impulse")
    return Panel("the teachers, seed 0", *axes, marks, legend="outside")


def _power(dataset: "xarray.Dataset", config: GRUConfig) -> Panel:
    """How loud the teachers are at each step on white input: the delay teacher waits."""
    steps = np.arange(1, config.horizon + 1, dtype=float)
    marks: list[Mark] = []
    for teacher in config.teacher:
        of = dataset["teacher_rms"].isel({WIDTH: 0, LENGTH: 0}).sel({TEACHER: teacher})
        table = of.transpose(STEP, SEED).values
        low, middle, high = np.nanquantile(table, [0.25, 0.5, 0.75], axis=1, method="nearest")
        colour = COLOURS[teacher]
        marks += [
            Band(steps, low, high, colour=colour),
            Line(steps, middle, label=teacher, colour=colour),
        ]
    axes = Axis("step"), Axis("rms output on white input")
    return Panel("what students learn from", *axes, marks, legend="outside")


def _outcomes(words: "xarray.DataArray") -> str:
    """How runs ended, in words."""
    kinds, counts = np.unique(words.values, return_counts=True)
    return "runs: " + ", ".join(
        f"{count} {kind or 'missing'}" for kind, count in zip(kinds, counts, strict=True)
    )
