"""`tacit figure`: figures and tables of stored results, in our style or in the paper's."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tacit._errors import UsageError, nearest
from tacit._files import FileKindError, folder_within
from tacit.cli._text import plain
from tacit.draw import FORMATS, WIDTHS, Figure, save_all
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
_FORMATS = ("png", "svg")


@dataclass(frozen=True)
class How:
    """How a figure is drawn: which of its panels, how wide, and as which kinds of files."""

    as_published: bool
    formats: tuple[str, ...]
    panel: str | None
    size: str | None

    @property
    def stem(self) -> str:
        """The name of its files, without the ending: one for each way of drawing it."""
        paper = "paper" if self.as_published else None
        return "-".join(word for word in ("figure", paper, self.panel, self.size) if word)

    def drawn(self, made: Reproduction) -> Figure:
        """The figure of a run."""
        figure = made.paper_figure() if self.as_published else made.figure()
        if self.panel is not None:
            try:
                figure = figure.only(self.panel.strip("()").lower())
            except ValueError as error:
                raise UsageError(f"{made.experiment.id}: --{error}") from None
        return figure if self.size is None else figure.in_columns(WIDTHS[self.size])


def run(
    ids: Sequence[str],
    *,
    style: str,
    preset: str | None,
    settings: Sequence[str],
    seeds: str | None,
    results: Path | None,
    into: Path | None,
    formats: Sequence[str],
    panel: str | None,
    size: str | None,
    as_json: bool,
) -> int:
    """Write the files, and say which."""
    for option, word, allowed in (
        ("--style", style, _STYLES),
        ("--size", size, tuple(WIDTHS)),
        *(("--format", kind, FORMATS) for kind in formats),
    ):
        if word is not None and word not in allowed:
            raise UsageError(f"{option}: received {word!r}, {nearest(word, allowed)}")
    how = How(style == "paper", tuple(dict.fromkeys(formats)) or _FORMATS, panel, size)
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
        files = _written(made, folder, how)
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


def _written(made: Reproduction, folder: Path, how: How) -> list[Path]:
    figure = how.drawn(made)
    tables = {} if how.panel else made.tables(as_published=how.as_published)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--into: {str(folder)!r} cannot be created: {error.strerror}") from error
    files = save_all(figure, folder / how.stem, how.formats)
    for name, text in tables.items():
        write_atomically(folder / name, text.encode())
        files.append(folder / name)
    return files
