"""What a compression says of itself."""

from collections import Counter
from typing import Any

from tacit.checkpoints._compression import Compressed
from tacit.checkpoints._lora import Adapter
from tacit.checkpoints._modules import BIAS, VECTOR

_LISTED = 40
_NAMED = 8


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
        "adapter": None
        if made.adapter is None
        else {
            "error": made.adapter.error,
            "modules": dict(made.adapter.modules),
            "left_out": dict(made.adapter.left_out),
            "tied": made.adapter.tied,
        },
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
    lines = [] if made.adapter is None else [*_adapter_words(made.adapter), ""]
    lines += [
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
    return "\n".join(lines) + "\n"


def _adapter_words(adapter: Adapter) -> list[str]:
    """What the adapter cannot hold, before anything else; then what it has."""
    lost = ""
    if adapter.left_out:
        # What an adapter never holds comes last.
        reasons = sorted(set(adapter.left_out.values()), key=lambda why: why in (VECTOR, BIAS))
        groups = [
            f"{_few([name for name, one in adapter.left_out.items() if one == why])} ({why})"
            for why in reasons
        ]
        lost = f"Not in the adapter: {'; '.join(groups)}. "
    kinds = Counter(adapter.modules.values())
    held = (
        ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
        or "nothing, and is not written"
    )
    lines = [
        f"{lost}With the adapter, the weights miss {adapter.error:.4g} of the norm of the change; "
        f"it holds {held}."
    ]
    found = [module for module, kind in adapter.modules.items() if kind == "embedding"]
    if found:
        doubt = " If a head shares the weights of one, its change is not in the adapter: "
        doubt += "config.json beside the weights would tell."
        doubt = "" if adapter.heads_known else doubt
        lines += ["", f"Taken for embeddings: {_few(found)}.{doubt}"]
    if adapter.tied is not None:
        words = (
            f"{adapter.tied} and the head share their weights; the adapter has the change of each"
        )
        lines += ["", f"{words}: use it as it is, as merging would add the change twice."]
    return lines


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
