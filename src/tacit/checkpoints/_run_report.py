"""What the inspection of a training says of itself."""

from typing import Any

import numpy as np

from tacit.checkpoints._training_run import TrainingRun


def record_of(run: TrainingRun) -> dict[str, Any]:
    """The run as numbers for machines."""
    losses = None if run.losses is None else [_finite(loss) for loss in run.losses]
    return {
        "start": run.start,
        "start_step": run.start_step,
        "steps": list(run.steps),
        "rank": run.rank.tolist(),
        "stable_rank": run.stable_rank.tolist(),
        "effective_rank": run.effective_rank.tolist(),
        "above_noise": run.above_noise.tolist(),
        "norm": run.norm.tolist(),
        "losses": losses,
        "take_off": run.take_off,
        "best_step": run.best_step,
        "tensors": {
            one.name: [
                inspection.by_name[one.name].rank if one.name in inspection.by_name else None
                for inspection in run.inspections
            ]
            for one in run.inspections[-1].matrices
        },
    }


def report_of(run: TrainingRun) -> str:
    """The run in Markdown."""
    lines = [
        "# The rank of the change against training",
        "",
        f"{len(run.steps)} checkpoints against {run.start}.",
        "",
        *[f"- {word}" for word in _words(run)],
        "",
        "| step | rank for 90% | stable rank | effective rank | above noise | norm | loss |",
        "|---|---|---|---|---|---|---|",
    ]
    losses = [None] * len(run.steps) if run.losses is None else list(run.losses[1:])
    if run.losses is not None:
        lines.append(f"| {run.start_step} | 0 | 0 | 0 | 0 | 0 | {run.losses[0]:.4g} |")
    rows = zip(
        run.steps, run.rank, run.stable_rank, run.effective_rank, run.above_noise, run.norm,
        losses, strict=True,
    )  # fmt: skip
    for step, rank, stable, effective, above, norm, loss in rows:
        shown = "" if loss is None else f"{loss:.4g}"
        lines.append(
            f"| {step:,} | {rank:.0f} | {stable:.3g} | {effective:.3g} | {above:.0f} | {norm:.3g} "
            f"| {shown} |"
        )
    return "\n".join(lines) + "\n"


def _words(run: TrainingRun) -> list[str]:
    words = []
    low, rank = int(np.argmin(run.rank)), run.rank
    if run.take_off is None:
        words.append(f"The rank does not take off: {rank[low]:.0f} at its lowest, {rank[-1]:.0f} "
                     "at the end.")  # fmt: skip
    else:
        words.append(
            f"The rank takes off after step {run.take_off:,}: from {rank[low]:.0f} at its lowest "
            f"to {rank[-1]:.0f} at the end."
        )
    if run.best_step is not None:
        best = run.best_step
        words.append(
            f"The loss is lowest at step {best:,}"
            + ("." if best == run.steps[-1] else ": what is added after it, rank included, does "
               "not help on these data.")
        )  # fmt: skip
    return words


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
