"""`tacit complete`."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from tacit._errors import UsageError
from tacit._files import write_atomically
from tacit.cli._text import plain
from tacit.draw import save_png
from tacit.estimators import DeepMatrixCompleter
from tacit.estimators._completion_report import record_of, report_of
from tacit.estimators._tables import MatrixTable, read_matrix, write_matrix

_LISTED = 10


def run(
    file: Path,
    *,
    output: Path | None,
    report: Path | None,
    depth: int | None,
    decay: float | None,
    form: str,
    header: bool | None,
    names: bool | None,
    fill_all: bool,
    seed: int,
    as_json: bool,
) -> int:
    """Read, complete, write, and tell what was done."""
    table = read_matrix(file, form=form, header=header, names=names)
    if seed < 0 or seed >= 2**32:
        raise UsageError(f"--seed: received {seed}, it must lie in 0 … 4294967295")
    if output is not None and output.is_dir():
        raise UsageError(f"--output: {output} is a folder, give a file")
    completer = DeepMatrixCompleter(
        depth=depth,
        weight_decay=decay,
        fill_undetermined=fill_all,
        random_state=seed,
        progress=False if as_json else None,
    )
    try:
        completer.fit(table.matrix)
    except ValueError as error:
        raise UsageError(f"{file}: {error}") from None
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        write_matrix(output, table, completer.completed_)
    if report is not None:
        report.mkdir(parents=True, exist_ok=True)
        write_atomically(
            report / "report.md", report_of(completer, [*map(str, table.columns)]).encode()
        )
        save_png(completer.plot(), report / "figure.png")
        _write_undetermined(report / "undetermined.csv", completer, table)
    _tell(completer, table, output=output, report=report, fill_all=fill_all, as_json=as_json)
    return 0


def _undetermined(completer: Any, table: MatrixTable) -> list[tuple[str, str]]:
    places = np.argwhere(completer.diagnosis_.undetermined)
    return [(str(table.rows[i]), str(table.columns[j])) for i, j in places]


def _write_undetermined(path: Path, completer: Any, table: MatrixTable) -> None:
    import csv
    import io

    text = io.StringIO(newline="")
    csv.writer(text).writerows([("row", "column"), *_undetermined(completer, table)])
    write_atomically(path, text.getvalue().encode())


def _tell(
    completer: Any,
    table: MatrixTable,
    *,
    output: Path | None,
    report: Path | None,
    fill_all: bool,
    as_json: bool,
) -> None:
    names = [str(name) for name in table.columns]
    told = record_of(completer, names)
    if as_json:
        told |= {
            "form": table.form,
            "remark": table.remark,
            "duplicates": table.duplicates,
            "output": None if output is None else str(output),
            "report": None if report is None else str(report),
            "undetermined_entries": [list(pair) for pair in _undetermined(completer, table)],
        }
        print(json.dumps(told, ensure_ascii=False))
        return
    if table.remark:
        print(plain(f"{table.remark}.\n"))
    print(plain(report_of(completer, names)))
    if table.duplicates:
        print(f"{table.duplicates:,} lines repeat an entry: such entries were averaged.")
    pairs = [f"{row} × {column}" for row, column in _undetermined(completer, table)]
    if pairs:
        more = f" and {len(pairs) - _LISTED:,} more" if len(pairs) > _LISTED else ""
        done = "filled by means" if fill_all else "left empty"
        print(
            plain(f"{done}, since no method can determine them: {', '.join(pairs[:_LISTED])}{more}")
        )
    for word, place in (("completed table", output), ("report", report)):
        if place is not None:
            print(plain(f"{word}: {place}"))
