"""What an inspection says of itself."""

from typing import Any

import numpy as np

from tacit.checkpoints._inspection import TOLERANCE, Inspection, TensorChange

_LISTED = 40  # tensors in the table of a report
_VALUES = 64  # singular values of each tensor in the record


def record_of(found: Inspection) -> dict[str, Any]:
    """The inspection as numbers for machines."""
    functional = found.functional
    return {
        "before": found.before,
        "after": found.after,
        "numbers": found.numbers,
        "low_rank_numbers": found.low_rank_numbers,
        "low_rank_tolerance": TOLERANCE,
        "tensors": [_tensor(one) for one in found.tensors],
        "unchanged": list(found.unchanged),
        "without_spectrum": list(found.others),
        "mismatches": list(found.mismatches),
        "functional_rank": None
        if functional is None
        else {
            "rank": functional.rank,
            "ranks": list(functional.ranks),
            "losses": [_finite(loss) for loss in functional.losses],
            "loss_before": _finite(functional.before),
            "loss_after": functional.after,
            "allowed": functional.allowed,
        },
    }


def report_of(found: Inspection) -> str:
    """The inspection in Markdown."""
    few = found.low_rank_numbers
    lines = [
        "# What training changed",
        "",
        f"{found.before} → {found.after}: {len(found.tensors)} tensors, {found.numbers:,} numbers.",
        "",
        *[f"- {word}" for word in _words(found, few)],
        "",
        "| tensor | shape | change over start | share | stable rank | effective rank | above noise "
        "| rank for 90% of it | numbers at that rank |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for one in found.tensors[:_LISTED]:
        lines += [_row(one), *(_row(gate) for gate in one.gates)]
    more = len(found.tensors) - _LISTED
    if more > 0:
        lines.append(f"| … and {more:,} more | | | | | | | | |")
    functional = found.functional
    if functional is not None:
        lines += ["", "## Loss with all changes at one rank", "", "| rank | loss |", "|---|---|"]
        lines.append(f"| start | {functional.before:.4g} |")
        lines += [
            f"| {rank} | {loss:.4g} |"
            for rank, loss in zip(functional.ranks, functional.losses, strict=True)
        ]
        lines.append(f"| as trained | {functional.after:.4g} |")
    if found.mismatches:
        lines += ["", "## What the two do not share", ""]
        lines += [f"- {word}" for word in found.mismatches[:_LISTED]]
        more = len(found.mismatches) - _LISTED
        lines += [f"- and {more:,} more"] if more > 0 else []
    return "\n".join(lines) + "\n"


def _words(found: Inspection, few: int) -> list[str]:
    words = []
    if few:
        words.append(
            f"Kept to {1 - TOLERANCE**2:.0%} of its squared norm, each change has "
            f"{few:,} numbers at low rank: {found.numbers / few:.1f} times fewer."
        )
    if found.matrices:
        most = found.matrices[0]
        edge = most.spectrum.edge() if most.spectrum is not None else None
        if edge is not None and most.share:
            words.append(
                f"The largest share, {most.share:.0%} of the squared norm, is in {most.name}: "
                f"{_count(edge)} of {most.spectrum.rows} × {most.spectrum.columns} "  # type: ignore[union-attr]
                "singular values stand out of noise."
            )
    if found.functional is not None:
        rank = found.functional.rank
        words.append(
            f"Functional rank {rank}: from there the loss is within what is allowed."
            if rank is not None
            else "No rank that was tried brings the loss back to what is allowed."
        )
    if found.unchanged:
        words.append(f"{len(found.unchanged)} not changed: {_names(found.unchanged)}.")
    if found.others:
        words.append(f"Changed, with a dtype that has no spectrum: {_names(found.others)}.")
    broken = tuple(one.name for one in found.tensors if not one.is_finite)
    if broken:
        words.append(f"NaN or infinity in {_names(broken)}.")
    if found.mismatches:
        words.append(f"{len(found.mismatches)} mismatches, listed below, are left out.")
    return words


def _row(one: TensorChange) -> str:
    name = one.name if not one.name.endswith("]") else f"· {one.name.rpartition('[')[2][:-1]}"
    shape = "×".join(map(str, one.shape)) or "number"
    over = one.norm / one.start_norm if one.start_norm else float("nan")
    cells = [name, shape, _number(over), f"{100 * one.share:.1f}%"]
    if one.spectrum is None:
        return f"| {' | '.join([*cells, '', '', '', '', f'{one.low_rank_numbers:,}'])} |"
    about = "" if one.spectrum.complete else "≈ "
    return "| " + " | ".join(
        [
            *cells,
            _number(one.spectrum.stable_rank),
            f"{about}{_number(one.spectrum.effective_rank)}",
            _count(one.spectrum.edge()),
            f"{about}{one.rank}",
            f"{one.low_rank_numbers:,}",
        ]
    ) + " |"  # fmt: skip


def _tensor(one: TensorChange) -> dict[str, Any]:
    said: dict[str, Any] = {
        "name": one.name,
        "dtype": one.dtype,
        "shape": list(one.shape),
        "norm": _finite(one.norm),
        "start_norm": _finite(one.start_norm),
        "share": one.share,
        "low_rank_numbers": one.low_rank_numbers,
    }
    if one.spectrum is not None:
        edge = one.spectrum.edge()
        said |= {
            "singular_values": one.spectrum.values[:_VALUES].tolist(),
            "relative_bounds": one.spectrum.bounds[:_VALUES].tolist(),
            "rest": one.spectrum.rest,
            "complete": one.spectrum.complete,
            "stable_rank": one.spectrum.stable_rank,
            "effective_rank": one.spectrum.effective_rank,
            "noise_edge": edge.value,
            "above_noise": edge.above,
            "above_noise_is_all": edge.complete,
            "rank": one.rank,
        }
    if one.gates:
        said["gates"] = [_tensor(gate) for gate in one.gates]
    return said


def _count(edge: Any) -> str:
    return f"{edge.above}" if edge.complete else f"≥ {edge.above}"


def _number(value: float) -> str:
    return f"{value:.3g}" if np.isfinite(value) else ""


def _names(names: tuple[str, ...]) -> str:
    more = len(names) - 5
    return ", ".join(names[:5]) + (f" and {more:,} more" if more > 0 else "")


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
