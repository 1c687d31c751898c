"""`tacit inspect`."""

import json
from pathlib import Path

from tacit._errors import UsageError
from tacit._files import write_atomically
from tacit.checkpoints import Inspection, TrainingRun, inspect, inspect_run
from tacit.cli._text import plain


def run(
    before: Path,
    after: Path | None,
    *,
    start: Path | None,
    gates: int | None,
    leading: int,
    evaluate: str | None,
    max_drop: float,
    report: Path | None,
    as_json: bool,
) -> int:
    """Inspect a pair or a run, write, and tell what was found."""
    found: Inspection | TrainingRun
    if after is not None:
        if start is not None:
            raise UsageError("--start: received with two checkpoints, it is for a folder of them")
        found = inspect(
            before, after, gates=gates, leading=leading, evaluate=evaluate, max_drop=max_drop
        )
    else:
        if not before.is_dir():
            raise UsageError(
                f"{before} is no folder of checkpoints: give BEFORE and AFTER, or a folder"
            )
        found = inspect_run(before, before=start, gates=gates, leading=leading, evaluate=evaluate)
    written(report, found)
    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False))
        return 0
    print(plain(found.report()))
    if report is not None:
        print(plain(f"report: {report}"))
    return 0


def written(report: Path | None, found: object) -> None:
    """The report and the figure of something that has both, in a folder."""
    if report is None:
        return
    from tacit.draw import save_png

    report.mkdir(parents=True, exist_ok=True)
    write_atomically(report / "report.md", found.report().encode())  # type: ignore[attr-defined]
    save_png(found.plot(), report / "figure.png")  # type: ignore[attr-defined]
