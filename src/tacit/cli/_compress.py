"""`tacit compress`."""

import json
import sys
from pathlib import Path

from tacit._errors import UsageError
from tacit.checkpoints import AbstractBudget, MeasuredLoss, NormTolerance, UniformRank, compress
from tacit.checkpoints._starts import start_from_text
from tacit.cli._inspect import written
from tacit.cli._text import plain


def run(
    before: Path,
    after: Path,
    *,
    output: Path,
    rank: int | None,
    tolerance: float | None,
    evaluate: str | None,
    max_drop: float,
    evaluations: int,
    start: str | None,
    lora: Path | None,
    embeddings: str | None,
    transposed: str | None,
    report: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Compress, write, and tell what came out."""
    made = compress(
        before,
        after,
        output,
        _budget(rank, tolerance, evaluate, max_drop, evaluations),
        start=None if start is None else start_from_text(start),
        adapter=lora,
        embeddings=_names(embeddings),
        transposed=_names(transposed),
        evaluate=evaluate,
        max_drop=max_drop,
        force=force,
    )
    written(report, made)
    if as_json:
        print(json.dumps(made.to_dict(), ensure_ascii=False))
    else:
        print(plain(made.report()))
        for word, place in (("output", output), ("adapter", lora), ("report", report)):
            if place is not None:
                print(plain(f"{word}: {place}"))
    if made.drops:
        choice = made.choice
        print(
            f"tacit: quality drops: the loss is {choice.loss:.6g}, allowed is up to "
            f"{choice.allowed:.6g}; keep a higher rank",
            file=sys.stderr,
        )
    return 0


def _names(text: str | None) -> tuple[str, ...] | None:
    """Names with commas between them; none of them for an empty text."""
    return None if text is None else tuple(name for name in text.split(",") if name)


def _budget(
    rank: int | None,
    tolerance: float | None,
    evaluate: str | None,
    max_drop: float,
    evaluations: int,
) -> AbstractBudget:
    if rank is not None and tolerance is not None:
        raise UsageError("--rank and --tolerance: received both, give one of them")
    if rank is not None:
        return UniformRank(rank)
    if tolerance is not None:
        return NormTolerance(tolerance)
    if evaluate is None:
        raise UsageError("give --rank R, --tolerance T or --evaluate CMD: how much may be lost?")
    return MeasuredLoss(evaluate, max_drop, evaluations)
