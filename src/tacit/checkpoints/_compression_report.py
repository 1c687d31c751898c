"""What a compression says of itself."""

from typing import Any

from tacit.checkpoints._compression import Compressed

_LISTED = 40


def record_of(made: Compressed) -> dict[str, Any]:
    """The compression as numbers for machines."""
    choice = made.choice
    return {
        "output": str(made.path),
        "bytes": made.bytes,
        "bytes_after": made.bytes_after,
        "ratio": made.ratio,
        "error": made.error,
        "largest_error": made.worst,
        "loss": choice.loss,
        "loss_after": choice.reference,
        "loss_allowed": choice.allowed,
        "quality_drops": made.drops,
        "evaluations": choice.evaluations,
        "bytes_by_tolerance": choice.by_tolerance,
        "left_out_of_adapter": list(made.left_out),
        "tensors": [
            {
                "name": name,
                "stored": one.kind,
                "shape": list(one.spec.shape),
                "rank": one.rank,
                "bytes": one.bytes,
                "error": one.relative_error,
            }
            for name, one in made.tensors.items()
        ],
    }


def report_of(made: Compressed) -> str:
    """The compression in Markdown."""
    choice = made.choice
    lines = [
        "# A smaller checkpoint",
        "",
        f"{made.bytes:,} bytes in place of {made.bytes_after:,}: {made.ratio:.2f} times smaller. "
        f"Restored, it misses {made.error:.4g} of the norm of the change, and "
        f"{made.worst:.4g} of one tensor's at most; both are measured, as restored.",
        "",
    ]
    if choice.loss is not None:
        verdict = "more than allowed" if made.drops else "within what is allowed"
        lines += [
            f"Loss {choice.loss:.6g}, as trained {choice.reference:.6g}; allowed is up to "
            f"{choice.allowed:.6g}: {verdict}. {choice.evaluations} evaluations.",
            "",
        ]
    if choice.by_tolerance is not None and choice.tolerance is not None:
        lines += [
            f"One tolerance for all tensors, {choice.tolerance:.3g}, would take "
            f"{choice.by_tolerance:,} bytes.",
            "",
        ]
    lines += ["| tensor | shape | stored | rank | bytes | error |", "|---|---|---|---|---|---|"]
    changed = [(name, one) for name, one in made.tensors.items() if one.kind != "unchanged"]
    for name, one in changed[:_LISTED]:
        shape = "×".join(map(str, one.spec.shape)) or "number"
        rank = "" if one.rank is None else one.rank
        error = f"{one.relative_error:.4g}" if one.kind == "factors" else "0"
        lines.append(f"| {name} | {shape} | {one.kind} | {rank} | {one.bytes:,} | {error} |")
    more = len(changed) - _LISTED
    lines += [f"| … and {more:,} more | | | | | |"] if more > 0 else []
    same = len(made.tensors) - len(changed)
    lines += ["", f"{same} not changed, and not stored."] if same else []
    if made.left_out:
        lines += ["", f"Not in the adapter: {', '.join(made.left_out[:8])}"
                  + (f" and {len(made.left_out) - 8} more" if len(made.left_out) > 8 else "")
                  + "."]  # fmt: skip
    return "\n".join(lines) + "\n"
