"""Claims at a prompt and in a notebook: what was measured, expected and found, in few lines."""

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import SupportsIndex, overload

from tacit._errors import nearest
from tacit._notebook import Html, few_lines, html_table, shortened
from tacit.claims._claim import Claim

_COLOURS = {True: "#1a7f37", False: "#cf222e", None: "#9a6700"}  # readable on white and on black


def value_words(claim: Claim) -> str:
    """The value without its interval: `0.1`."""
    return "–" if math.isnan(claim.measured) else f"{claim.measured:.3g}"


def measured_words(claim: Claim) -> str:
    """The value with its interval, as far as they are numbers: `0.1 [0.08, 0.2]`."""
    value = value_words(claim)
    if math.isnan(claim.measured) or claim.low == claim.high:
        return value
    if not (math.isfinite(claim.low) and math.isfinite(claim.high)):
        return value
    return f"{value} [{claim.low:.3g}, {claim.high:.3g}]"


def bound_words(claim: Claim) -> str:
    """The relation and the bound: `≤ 0.001`."""
    return f"{'≤' if claim.relation == '<=' else '≥'} {claim.bound:.3g}"


def verdict_words(claim: Claim) -> str:
    """The verdict, and whether it is the expected one: `fails, as expected`."""
    words = {True: "as expected", False: f"expected: {claim.expected}"}
    if claim.as_expected is None:
        return claim.verdict
    return f"{claim.verdict}, {words[claim.as_expected]}"


def seeds_words(claim: Claim) -> str:
    """How many seeds satisfy the claim: `9 of 10`; nothing if it is about one number."""
    return "" if claim.satisfied is None else f"{claim.satisfied} of {claim.samples}"


def claim_text(claim: Claim) -> str:
    """One claim in a few lines."""
    seeds = f", in {seeds_words(claim)} seeds" if claim.satisfied is not None else ""
    lines = [f"{measured_words(claim)} {bound_words(claim)}{seeds}: {verdict_words(claim)}"]
    lines += [claim.statement, claim.place]
    lines += [f"because: {claim.because}"] if claim.because else []
    return few_lines(f"Claim {claim.name!r}", lines)


def claims_text(claims: Sequence[Claim]) -> str:
    """Claims in ten lines: what is not as expected, then what is open, then the others."""
    order: dict[bool | None, int] = {False: 0, None: 1, True: 2}
    ranked = sorted(claims, key=lambda claim: order[claim.as_expected])
    return few_lines(
        summary(claims),
        (f"{_mark(c)} {shortened(c.name, 50)}: {measured_words(c)} {bound_words(c)}, {c.verdict}"
         for c in ranked),
        more="and {count} more; claims[name] is one of them",
    )  # fmt: skip


def claims_html(claims: Sequence[Claim]) -> str:
    """Claims as a table."""
    rows = (
        (
            Html(f"<b>{escape(claim.name)}</b><br>{escape(claim.statement)}"),
            measured_words(claim),
            bound_words(claim),
            seeds_words(claim),
            Html(
                f'<span style="color:{_COLOURS[claim.as_expected]}">'
                f"{escape(verdict_words(claim))}</span>"
                + (f"<br>{escape(claim.because)}" if claim.because else "")
            ),
        )
        for claim in claims
    )
    headers = ("claim", "measured", "bound", "seeds", "verdict")
    return html_table(headers, rows, caption=summary(claims))


def summary(claims: Iterable[Claim]) -> str:
    """How many came out how: `23 claims: 12 hold, 11 fail as expected; nothing contradicts`."""
    return tally([(claim.verdict, claim.as_expected) for claim in claims])


def tally(found: Sequence[tuple[str, bool | None]]) -> str:
    """The same of verdicts, each with whether it is the expected one."""
    if not found:
        return "no claims"
    holding, failing = found.count(("holds", True)), found.count(("fails", True))
    counts = {
        "holds" if holding == 1 else "hold": holding,
        "fails as expected" if failing == 1 else "fail as expected": failing,
        "at the bound": sum(verdict == "at the bound" for verdict, _ in found),
        "open": sum(verdict == "undecided" for verdict, _ in found),
    }
    words = [f"{count} {name}" for name, count in counts.items() if count]
    wrong = sum(expected is False for _, expected in found)
    end = "nothing contradicts" if not wrong else f"{wrong} contradict{'s' if wrong == 1 else ''}"
    noun = "claim" if len(found) == 1 else "claims"
    return f"{len(found)} {noun}: {', '.join(words)}{'; ' if words else ''}{end}"


def by_name(claims: Iterable[Claim], name: str) -> Claim:
    """The claim with a name; a wrong one is a `KeyError` with the nearest ones."""
    known = {claim.name: claim for claim in claims}
    if name not in known:
        raise KeyError(f"there is no claim {name!r}, {nearest(name, known)}")
    return known[name]


class DecidedClaims(tuple[Claim, ...]):
    """The claims of a run, by number or by name: `run.claims["k = 11: extrapolates"]`."""

    __slots__ = ()

    @overload
    def __getitem__(self, index: SupportsIndex | str) -> Claim: ...
    @overload
    def __getitem__(self, index: slice) -> "DecidedClaims": ...
    def __getitem__(self, index: SupportsIndex | slice | str) -> "Claim | DecidedClaims":
        if isinstance(index, str):
            return by_name(self, index)
        if isinstance(index, slice):
            return DecidedClaims(super().__getitem__(index))
        return super().__getitem__(index)

    def __repr__(self) -> str:
        return claims_text(self)

    def _repr_html_(self) -> str:
        return claims_html(self)


def _mark(claim: Claim) -> str:
    return {True: "✓", False: "✗", None: "?"}[claim.as_expected]
