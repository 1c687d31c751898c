"""What runs have written to a folder of results: claims, costs, and what their pages show."""

import datetime
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit._files import parsed_json, read_regular
from tacit.reproduction import PAGE_FILE, digest_of_text

_MOST_BYTES = 64 * 2**20  # of a file
_MONTHS = [
    "Jan",
    "Feb",
    "Mar",
    "Apr",
    "May",
    "Jun",
    "Jul",
    "Aug",
    "Sep",
    "Oct",
    "Nov",
    "Dec",
]  # whatever the locale is
OnSkip = Callable[[Path, str], None]


@dataclass(frozen=True, eq=False)
class Entry:
    """One experiment of a folder of results.

    **Arguments:**

    - `folder`: where its files are; `slug`: its name in the names of files.
    - `claims`: the contents of `claims.json`.
    - `run`: those of `run.json`, empty if there is none.
    - `page`: those of `page.json`, empty if there is none or it belongs to other claims.
    - `digest`, `page_digest`: of the bytes of `claims.json` and of `page.json`.
    """

    folder: Path
    slug: str
    claims: Mapping[str, Any]
    run: Mapping[str, Any] = field(default_factory=dict)
    page: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""
    page_digest: str = ""

    @property
    def id(self) -> str:
        """The experiment, as users write it."""
        return str(self.claims["experiment"])

    @property
    def group(self) -> str:
        """What stands before the slash: the paper."""
        return self.id.partition("/")[0]

    @property
    def name(self) -> str:
        """What stands behind the slash."""
        return self.id.partition("/")[2] or self.id

    @property
    def day(self) -> str:
        """The date in short: 16 Nov."""
        try:
            day = datetime.date.fromisoformat(self.date)
        except ValueError:
            return ""
        return f"{day.day} {_MONTHS[day.month - 1]}"

    @property
    def date(self) -> str:
        """The day on which the run ended, by its record or by its files."""
        finished = self.page.get("finished")
        if isinstance(finished, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:+Z-]+", finished):
            return finished[:10]
        try:
            moment = (self.folder / "claims.json").stat().st_mtime
        except OSError:
            return ""
        return datetime.datetime.fromtimestamp(moment, datetime.UTC).date().isoformat()

    @property
    def seconds(self) -> float | None:
        """What the stored cells took to compute; else how long the last run took."""
        origin = self.page.get("origin")
        found = origin.get("seconds") if isinstance(origin, Mapping) else None
        seconds = found if found is not None else self.run.get("seconds")
        number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        return float(seconds) if number else None  # type: ignore[arg-type]


def _warn(path: Path, reason: str) -> None:
    warnings.warn(f"skipped {path}: {reason}", stacklevel=3)


def read_entries(results_dir: Path, *, on_skip: OnSkip = _warn) -> list[Entry]:
    """Every `results_dir/<paper>/<figure>/claims.json`, sorted by experiment.

    A file of claims that cannot be read does not hide the others: `on_skip` is told its path and
    the reason (by default in a warning), and it is left out.
    """
    entries = []
    for path in sorted(results_dir.glob("*/*/claims.json")):
        try:
            text = read_regular(path, most=_MOST_BYTES)
            claims = _checked(parsed_json(text))
        except (OSError, ValueError, RecursionError) as error:
            on_skip(path, str(error))
            continue
        digest = digest_of_text(text)
        page, page_digest = _known(path.with_name(PAGE_FILE))
        entries.append(
            Entry(
                folder=path.parent,
                slug=_slug(path.parent),
                claims=claims,
                run=_known(path.with_name("run.json"))[0],
                page=page if page.get("claims") == digest else {},
                digest=digest,
                page_digest=page_digest,
            )
        )
    return sorted(entries, key=lambda entry: _natural(entry.id))


def _known(path: Path) -> tuple[Mapping[str, Any], str]:
    """A record that may be missing, and the digest of its bytes."""
    try:
        text = read_regular(path, most=_MOST_BYTES)
        record = parsed_json(text)
    except (OSError, ValueError, RecursionError):
        return {}, ""
    return (record, digest_of_text(text)) if isinstance(record, dict) else ({}, "")


def _natural(text: str) -> list[tuple[bool, int, str]]:
    """An order in which fig2 comes before fig10."""
    parts = re.findall(r"\d+|\D+", text)
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def _slug(folder: Path) -> str:
    """`paper-figure`, of characters that names of files and addresses may have."""
    name = f"{folder.parent.name}-{folder.name}"
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    # What was replaced may be told from others by a few digits.
    return plain if plain == name else f"{plain}-{digest_of_text(name.encode())[:6]}"


def _checked(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise ValueError(f"received {type(entry).__name__}, a JSON object was expected")
    if not isinstance(entry.get("experiment"), str):
        raise ValueError(f"experiment: received {entry.get('experiment')!r}, it must be a text")
    claims = entry.get("claims")
    if not isinstance(claims, list) or not all(isinstance(claim, dict) for claim in claims):
        raise ValueError("claims: they must be a list of objects")
    return entry
