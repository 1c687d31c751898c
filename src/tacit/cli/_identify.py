"""`tacit identify`."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from tacit._errors import UsageError, shown
from tacit._files import write_atomically
from tacit.cli._text import plain
from tacit.draw import save_png
from tacit.estimators import LinearSystemIdentifier
from tacit.estimators._identification_report import record_of, report_of
from tacit.estimators._tables import read_frame


def run(
    file: Path,
    *,
    inputs: list[str],
    outputs: list[str],
    record: str | None,
    header: bool | None,
    output: Path | None,
    report: Path | None,
    order: int | None,
    max_order: int | None,
    held_out: float,
    step: float,
    seed: int,
    as_json: bool,
) -> int:
    """Read, identify, compare, write, and tell what was found."""
    if seed < 0 or seed >= 2**32:
        raise UsageError(f"--seed: received {seed}, it must lie in 0 … 4294967295")
    if not 0 <= held_out < 1:
        raise UsageError(f"--held-out: received {held_out}, it must be at least 0 and below 1")
    if output is not None and output.is_dir():
        raise UsageError(f"--output: {output} is a folder, give a file")
    frame = read_frame(file, header=header)
    if len(frame) < 2:
        raise UsageError(f"{file} holds {len(frame)} samples, at least 2 are needed")
    U, Y = (_columns(frame, names, file) for names in (inputs, outputs))
    labels = None if record is None else _labels(frame, record, file)
    model = LinearSystemIdentifier(
        order=order,
        max_order=max_order,
        step=step,
        random_state=seed,
        progress=False if as_json else None,
    )
    try:
        model.fit(U, Y, records=labels)
        comparison = model.compare(held_out) if held_out else None
    except ValueError as error:
        raise UsageError(f"{file}: {error}") from None
    model.name_signals(inputs, outputs)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        model.system_.save(output)
    if report is not None:
        report.mkdir(parents=True, exist_ok=True)
        write_atomically(report / "report.md", report_of(model, comparison).encode())
        save_png(model.plot(), report / "figure.png")
    if as_json:
        told = record_of(model, comparison) | {"system": model.system_.to_dict()}
        print(json.dumps(told, ensure_ascii=False))
        return 0
    print(plain(report_of(model, comparison)))
    for word, place in (("model", output), ("report", report)):
        if place is not None:
            print(plain(f"{word}: {place}"))
    return 0


def _columns(frame: Any, names: list[str], file: Path) -> np.ndarray:
    """Columns by name, as numbers without gaps."""
    import pandas as pd

    found = []
    for name in names:
        if name not in frame.columns:
            known = ", ".join(map(str, frame.columns[:20]))
            raise UsageError(f"{file} has no column {name!r}; it has {known}")
        values = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=float)
        if not np.isfinite(values).all():
            place = int(np.flatnonzero(~np.isfinite(values))[0])
            cell = frame[name].iloc[place]
            what = "empty" if pd.isna(cell) else shown(str(cell))
            raise UsageError(
                f"{file}: column {name!r} has no finite number in line {place + 2} "
                f"({what}); a record may have no gaps: cut it there and name the parts by "
                "--record"
            )
        found.append(values)
    return np.stack(found, axis=1)


def _labels(frame: Any, name: str, file: Path) -> np.ndarray:
    if name not in frame.columns:
        raise UsageError(f"{file} has no column {name!r} that --record could mean")
    return np.asarray(frame[name].astype(str))
