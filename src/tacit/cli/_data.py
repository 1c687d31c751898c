"""`tacit data`: which data sets there are, and how to fetch them."""

import json
from collections.abc import Sequence
from pathlib import Path

from tacit._errors import UsageError, nearest
from tacit.cli._text import plain
from tacit.data import SOURCES, DataMissingError


def run(names: Sequence[str], *, into: Path | None, fetch: bool, as_json: bool) -> int:
    """List the data sets, or fetch some of them."""
    chosen = [_found(name) for name in names] or list(SOURCES)
    rows = []
    for name in chosen:
        source = SOURCES[name]
        folder = into / source.name if into is not None else None
        if fetch:
            try:
                source.fetch(folder)
            except DataMissingError as error:
                raise UsageError(f"data: {error}") from None
        missing = source.missing(folder)
        place = source.place(folder)
        rows.append({"name": name, "folder": str(place), "missing": missing, **_origin(name)})
        if not as_json:
            words = "at hand in" if missing is None else missing if place.is_dir() else "not in"
            print(plain(f"{name:<18}{words}" + ("" if words == missing else f" {place}")))
    if as_json:
        print(json.dumps({"data": rows}, ensure_ascii=False))
    return 0


def _found(name: str) -> str:
    """A data set by its name, or by the beginning of it: m1."""
    begun = [known for known in SOURCES if known.startswith(f"{name}_")]
    if name not in SOURCES and len(begun) != 1:
        raise UsageError(f"data: {name!r} is not known, {nearest(name, SOURCES)}")
    return name if name in SOURCES else begun[0]


def _origin(name: str) -> dict[str, str]:
    return {"address": SOURCES[name].address, "credit": SOURCES[name].credit}
