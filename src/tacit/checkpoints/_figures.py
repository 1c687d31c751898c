"""Figures of inspections, runs and compressions."""

from typing import Any

import numpy as np

from tacit.checkpoints._compression import Compressed
from tacit.checkpoints._inspection import Inspection, TensorChange
from tacit.checkpoints._training_run import TrainingRun
from tacit.draw import Axis, Figure, HorizontalRule, Line, Panel, Points, VerticalRule

_SHOWN = 6  # tensors whose spectra are drawn
_LEAST = 1e-4  # of the largest singular value: what is drawn of a spectrum


def inspection_figure(found: Inspection) -> Figure:
    """Spectra of the largest shares, their gates, ranks against shares, and losses if there are."""
    largest = [one for one in found.matrices if min(one.shape) > 1][:_SHOWN]
    marks: list[Any] = []
    for colour, one in enumerate(largest):
        marks += _spectrum_marks(one, colour, one.name)
    panels = [
        Panel("spectrum of the change", Axis("number", scale="log"),
              Axis("singular value", scale="log"), marks)
    ]  # fmt: skip
    stacked = next((one for one in found.matrices if one.gates), None)
    if stacked is not None:
        gates: list[Any] = _spectrum_marks(stacked, "ink", "whole")
        for colour, gate in enumerate(stacked.gates):
            gates += _spectrum_marks(gate, colour, f"gate {gate.name.rpartition('[')[2][:-1]}")
        panels.append(
            Panel(f"{stacked.name} by gate", Axis("number", scale="log"),
                  Axis("singular value", scale="log"), gates)
        )  # fmt: skip
    left_out: list[Any] = []
    for colour, one in enumerate(largest):
        if one.spectrum is None or not one.spectrum.norm:
            continue
        values = one.spectrum.values
        kept = np.append(0.0, np.cumsum(values**2)) / one.spectrum.norm**2
        share = np.sqrt(np.maximum(0.0, 1 - kept))
        left_out.append(Line(np.arange(values.size + 1), share, label=one.name, colour=colour))
    left_out.append(HorizontalRule(np.sqrt(0.1), label="a tenth, squared", colour="reference"))
    panels.append(
        Panel("left out at a rank", Axis("rank"), Axis("share of the norm", limits=(0, 1)),
              left_out)
    )  # fmt: skip
    functional = found.functional
    if functional is not None:
        finite = np.isfinite(functional.losses)
        ranks, losses = np.array(functional.ranks)[finite], np.array(functional.losses)[finite]
        panels.append(
            Panel(
                "loss with all changes at one rank",
                Axis("rank", scale="symlog", threshold=1.0),
                Axis("loss"),
                [
                    Line(ranks, losses, marker="o", label="truncated"),
                    HorizontalRule(functional.after, label="as trained", colour="ink"),
                    HorizontalRule(functional.allowed, label="allowed", colour="reference"),
                ],
            )
        )
    dots = [one for one in found.matrices if one.share > 0]
    if len(dots) > _SHOWN:
        panels.append(
            Panel("rank and share of all matrices", Axis("share of the squared norm", scale="log"),
                  Axis("rank for 90% of the squared norm"),
                  [Points([one.share for one in dots], [one.rank for one in dots],
                          label="matrices")])
        )  # fmt: skip
    return Figure(
        "What training changed",
        panels,
        columns=2,
        caption=f"The {len(largest)} matrices with the largest share of the change of "
        f"{len(found.matrices)}. Dotted: where noise of the same size would end.",
    )


def run_figure(run: TrainingRun) -> Figure:
    """Ranks against step, the rank of each matrix, the norm, and the loss if there is one."""
    steps = np.array(run.steps, float)
    rules: list[Any] = []
    if run.take_off is not None:
        rules.append(VerticalRule(float(run.take_off), label="takes off", colour="reference"))
    if run.best_step is not None:
        rules.append(VerticalRule(float(run.best_step), label="lowest loss", colour="ink"))
    x = Axis("training step")
    each: list[Any] = []
    wide = [one for one in run.inspections[-1].matrices if min(one.shape) > 1]
    for colour, one in enumerate(wide[:_SHOWN]):
        ranks = [
            inspection.by_name[one.name].rank if one.name in inspection.by_name else np.nan
            for inspection in run.inspections
        ]
        each.append(Line(steps, ranks, marker="o", label=one.name, colour=colour))
    panels = [
        Panel("rank for 90% of the squared norm, all matrices", x, Axis("rank", limits=(0, None)),
              [Line(steps, run.rank, marker="o", label="all matrices"), *rules]),
        Panel("the same, each matrix", x, Axis("rank", limits=(0, None)), each),
        Panel("other ranks, mean", x, Axis("rank", limits=(0, None)),
              [Line(steps, run.stable_rank, marker="o", label="stable rank", colour=1),
               Line(steps, run.effective_rank, marker="s", label="effective rank", colour=2)]),
    ]  # fmt: skip
    if run.losses is not None:
        losses = np.array(run.losses)
        places = np.append(run.start_step, steps)[np.isfinite(losses)]
        loss = Line(places, losses[np.isfinite(losses)], marker="o", label="loss", colour=3)
        panels.append(Panel("loss", x, Axis("loss"), [loss, *rules]))
    else:
        norm = Line(steps, run.norm, marker="o", label="norm", colour=3)
        panels.append(Panel("size of the change", x, Axis("norm", limits=(0, None)), [norm]))
    return Figure(
        "The rank of the change against training",
        panels,
        columns=2,
        caption=f"{len(run.steps)} checkpoints against the start. It takes off at the last step at "
        "which it has gone a quarter of the way from its lowest value to the last.",
    )


def compression_figure(made: Compressed) -> Figure:
    """Loss against bytes where it was measured; else the error of each tensor against its bytes."""
    choice = made.choice
    if choice.tried and choice.reference is not None and choice.allowed is not None:
        tried = np.array([(size, loss) for size, loss in choice.tried if np.isfinite(loss)])
        marks: list[Any] = [
            Points(tried[:, 0], tried[:, 1], label="tried", colour="muted"),
            HorizontalRule(choice.reference, label="as trained", colour="ink"),
            HorizontalRule(choice.allowed, label="allowed", colour="reference"),
            Points([made.bytes], [float(choice.loss or 0.0)], label="chosen", colour=1),
        ]
        panel = Panel("loss against size", Axis("bytes", scale="log"), Axis("loss"), marks)
    else:
        stored = [one for one in made.tensors.values() if one.kind == "factors" and one.rank]
        marks = [
            Points([one.bytes for one in stored], [one.relative_error for one in stored],
                   label="tensors")
        ]  # fmt: skip
        y = Axis("share of the change that is missing", limits=(0, None))
        panel = Panel("error against size", Axis("bytes", scale="log"), y, marks)
    ranks = [one.rank for one in made.tensors.values() if one.rank is not None]
    bars = Panel("ranks", Axis("tensor"), Axis("rank", limits=(0, None)),
                 [Points(np.arange(1, len(ranks) + 1), ranks, label="rank")])  # fmt: skip
    return Figure(
        f"A checkpoint, {made.ratio:.2f} times smaller",
        [panel, bars] if ranks else [panel],
        columns=2,
        caption=f"{made.bytes:,} bytes in place of {made.bytes_after:,}; restored, "
        f"{made.error:.3g} of the norm of the change is missing.",
    )


def _spectrum_marks(one: TensorChange, colour: Any, label: str) -> list[Any]:
    if one.spectrum is None or not one.spectrum.values.size or not one.spectrum.values[0]:
        return []
    values = one.spectrum.values
    values = values[values > _LEAST * values[0]]
    edge = one.spectrum.edge().value
    marks: list[Any] = [Line(np.arange(1, values.size + 1), values, label=label, colour=colour)]
    if edge > _LEAST * values[0]:
        ends = np.array([1.0, float(values.size)])
        marks.append(Line(ends, np.full(2, edge), colour=colour, style="dotted", opacity=0.6))
    return marks
