"""`tacit figure`: figures and tables of stored results, in our style or in the paper's."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tacit._errors import UsageError, nearest
from tacit._files import FileKindError, folder_within
from tacit.cli._text import plain
from tacit.draw import save_both
from tacit.reproduction import (
    Reproduction,
    find_experiment,
    parse_seeds,
    parse_settings,
    results_folder,
    stored_run,
)
from tacit.store import write_atomically

_STYLES = ("ours", "paper")


def run(
    ids: Sequence[str],
    *,
    style: str,
    preset: str | None,
    settings: Sequence[str],
    seeds: str | None,
    results: Path | None,
    into: Path | None,
    as_json: bool,
) -> int:
    """Write the files, and say which."""
    if style not in _STYLES:
        raise UsageError(f"--style: received {style!r}, {nearest(style, _STYLES)}")
    asked = parse_seeds(seeds)
    kinds = [find_experiment(name) for name in dict.fromkeys(ids)]
    if into is not None and len(kinds) > 1:
        raise UsageError(
            f"--into: received {str(into)!r} for {len(kinds)} experiments, whose files have the "
            "same names; give one experiment"
        )
    records = []
    for kind in kinds:
        overrides = parse_settings(kind, settings)
        made = stored_run(kind, preset=preset, seeds=asked, results=results, **overrides)
        for warning in made.warnings:
            print(f"tacit: {plain(warning)}", file=sys.stderr)
        folder = _own(results, kind.id) if into is None else Path(os.path.expanduser(into))
        files = _written(made, folder, in_paper_style=style == "paper")
        names = [str(path) for path in files]
        records.append(
            {"experiment": kind.id, "preset": made.preset, "style": style, "files": names}
        )
        if not as_json:
            print("\n".join(names))
    if as_json:
        print(json.dumps({"figures": records}, ensure_ascii=False))
    return 0


def _own(results: Path | None, experiment: str) -> Path:
    """The folder of an experiment's results, which no link in it may lead out of."""
    try:
        return folder_within(results_folder(results), experiment)
    except FileKindError as error:
        raise UsageError(f"results: {error}") from None


def _written(made: Reproduction, folder: Path, *, in_paper_style: bool) -> list[Path]:
    figure = made.paper_figure() if in_paper_style else made.figure()
    tables = made.tables(as_published=in_paper_style)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--into: {str(folder)!r} cannot be created: {error.strerror}") from error
    files = [*save_both(figure, folder / ("figure-paper" if in_paper_style else "figure"))]
    for name, text in tables.items():
        write_atomically(folder / name, text.encode())
        files.append(folder / name)
    return files
