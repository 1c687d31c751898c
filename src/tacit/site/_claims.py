"""Claims as the pages show them: numbers in words, and what kind of answer each is."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.claims import Claim, decide_all
from tacit.site._entries import Entry

DASH = "—"
MARKS = {"holds": "✓", "fails": "✗", "undecided": "?", "at the bound": "≈"}
_RELATIONS = {"<=": "≤", ">=": "≥"}

KINDS = {
    "unexpected": "not as expected",
    "undecided": "undecided",
    "bound": "at the bound",
    "failure": "expected failures",
    "holds": "holds, as expected",
}
"""Kinds of answers, in the order in which a reader wants to know of them."""


@dataclass(frozen=True)
class ClaimView:
    """One claim, in texts."""

    name: str
    statement: str
    place: str
    measured: str
    interval: str
    bound: str
    seeds: str
    expected: str
    verdict: str
    kind: str
    because: str
    remarks: tuple[str, ...]

    @property
    def mark(self) -> str:
        """The verdict as one sign."""
        return MARKS.get(self.verdict, "?")


def views(entry: Entry, stands: Sequence[bool | None] | None = None) -> list[ClaimView]:
    """The claims of an entry; `stands` says which are part of the whole set's decisions."""
    known = stands or [None] * len(entry.claims["claims"])
    pairs = zip(entry.claims["claims"], known, strict=True)
    return [_view(entry, claim, stand) for claim, stand in pairs]


def _view(entry: Entry, claim: Mapping[str, Any], stand: bool | None) -> ClaimView:
    low, high = claim.get("low"), claim.get("high")
    relation = str(claim.get("relation") or "")
    bare = (low is None and high is None) or low == high
    return ClaimView(
        name=words(claim.get("name")),
        statement=words(claim.get("statement")),
        place=words(claim.get("place"), ""),
        measured=number(claim.get("measured")),
        interval="" if bare else f"[{number(low)}, {number(high)}]",
        bound=f"{_RELATIONS.get(relation, relation)} {number(claim.get('bound'))}".strip(),
        seeds=_seeds(claim),
        expected=words(claim.get("expected")),
        verdict=words(claim.get("verdict")),
        kind=_kind(claim),
        because=words(claim.get("because"), ""),
        remarks=(*_remarks(entry, claim), *(["alone"] if stand is False else [])),
    )


def _kind(claim: Mapping[str, Any]) -> str:
    verdict, expected = claim.get("verdict"), claim.get("expected")
    if verdict in ("holds", "fails"):
        if verdict != expected:
            return "unexpected"
        return "holds" if verdict == "holds" else "failure"
    return "bound" if verdict == "at the bound" else "undecided"


def _seeds(claim: Mapping[str, Any]) -> str:
    """How many seeds a claim comes from, and how many of them satisfy it."""
    samples, satisfied = claim.get("samples"), claim.get("satisfied")
    if samples is None:
        return ""
    if satisfied is not None:
        return f"{satisfied} of {samples} seeds"
    return f"{samples} samples" if samples != 1 else ""


def _remarks(entry: Entry, claim: Mapping[str, Any]) -> list[str]:
    """What else is to be said of a verdict: who was left out, what it would take."""
    found = []
    left_out, samples = claim.get("left_out"), claim.get("samples")
    if isinstance(left_out, int) and isinstance(samples, int) and left_out:
        found.append(f"{left_out} of {left_out + samples} seeds do not count")
    efforts = entry.run.get("efforts")
    effort = efforts.get(str(claim.get("name"))) if isinstance(efforts, Mapping) else None
    if isinstance(effort, Mapping):
        seeds = effort.get("seeds")
        more = "1 more seed" if seeds == 1 else f"{words(seeds)} more seeds"
        found.append(f"about {more}, {duration(effort.get('seconds'))}")
    return found


def standing(entries: Iterable[Entry]) -> dict[str, list[bool | None]]:
    """Which claims stand as part of the whole set, by slug; None for those not decided."""
    listed = list(entries)
    found: list[Claim | None] = []
    for claim in (claim for entry in listed for claim in entry.claims["claims"]):
        try:
            found.append(Claim.from_dict(claim))
        except (AttributeError, OverflowError, TypeError, ValueError):
            found.append(None)  # of another state of tacit; it is shown as it is
    whole = iter(decide_all([claim for claim in found if claim is not None]))
    flat = []
    for claim in found:
        stands = claim is not None and next(whole)
        flat.append(None if claim is None or claim.as_expected is None else stands)
    rest = iter(flat)
    return {entry.slug: [next(rest) for _ in entry.claims["claims"]] for entry in listed}


def counts(claims: Iterable[ClaimView]) -> dict[str, int]:
    """How many claims are of which kind; every kind is there."""
    found = Counter(claim.kind for claim in claims)
    return {kind: found[kind] for kind in KINDS}


def number(value: Any) -> str:
    """A number in four digits; a dash where there is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return words(value)
    if math.isnan(value):
        return DASH
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.4g}".replace("-", "−")


def duration(seconds: Any) -> str:
    """A time in the unit that suits it."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds < 0:
        return DASH
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= size:
            return (
                f"{seconds / size:.2g} {unit}"
                if seconds < 100 * size
                else f"{seconds / size:.0f} {unit}"
            )
    return f"{max(1, round(seconds))} s"


def words(value: Any, none: str = DASH) -> str:
    """A value as text; `none` where there is none."""
    return none if value is None or value == "" else str(value)
