"""The papers' statements as pages show them: their words, and the margins that were measured."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit._files import parsed_json, read_regular
from tacit.site._claims import ClaimView, number, words

MARGINS = Path("verify") / "margins.json"
"""Where `tacit verify` keeps its last answer on each statement, within a folder of results."""

_MOST_BYTES = 16 * 2**20
_OURS = "ours"
_NUMBER = r"[A-Z]?\.?\d[\d.]*"
_PLACE = re.compile(
    r"(theorem|proposition|lemma|corollary|claim|definition|remark|equation)s?\s+"
    rf"({_NUMBER}(?:(?:,| and|, and)\s+{_NUMBER})*)",
    re.IGNORECASE,
)
_EQUATION = re.compile(r"\(\d+\)")


@dataclass(frozen=True)
class ErratumView:
    """An erratum, in texts; `margin` is that of the printed form, where it was measured.

    `gravity` is how grave it is, `right_in` where the paper has the right form, `glyph` the sign
    that it rests on, `edition` what it was read in, if not what its paper was.
    """

    place: str
    printed: str
    corrected: str
    margin: str
    gravity: str
    right_in: str
    glyph: str
    edition: str


@dataclass(frozen=True)
class StatementView:
    """One statement, in texts; without an answer of `tacit verify` there is no margin."""

    id: str
    paper: str
    place: str
    words: str
    tried: str
    margin: str
    bound: str
    verdict: str
    expected: str
    as_expected: bool
    because: str
    errata: tuple[ErratumView, ...]

    @property
    def anchor(self) -> str:
        """Its name in an address."""
        return re.sub(r"[^A-Za-z0-9._-]", "-", self.id)


def statement_views(papers: Iterable[str], results: Path) -> list[StatementView]:
    """The statements of these papers, of those that were verified, and what is ours."""
    from tacit.statements import find_statements, paper_names

    answers = read_margins(results / MARGINS)
    wanted = {*papers, *(key.partition("/")[0] for key in answers)}
    known = [paper for paper in paper_names() if paper in wanted]
    if not known:
        return []
    chosen = [*known, *([_OURS] if _OURS in paper_names() and _OURS not in known else [])]
    return [_view(one, answers.get(one.id)) for one in find_statements(*chosen)]


def read_margins(path: Path) -> dict[str, Mapping[str, Any]]:
    """What `tacit verify` has kept, by statement; nothing of a file that cannot be read."""
    try:
        record = parsed_json(read_regular(path, most=_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    items = record.items() if isinstance(record, dict) else ()
    return {key: value for key, value in items if isinstance(value, dict)}


def tested_by(
    claims: Sequence[ClaimView], statements: Sequence[StatementView]
) -> list[StatementView]:
    """The statements whose place in the paper is named by one of the claims."""
    said = _places(" ".join(f"{claim.place}; {claim.statement}" for claim in claims))
    return [one for one in statements if said & _places(one.place)]


def _places(text: str) -> set[str]:
    """Places of a paper that a text names, each alone: "Lemmas 3.1 and A.1, (4)" names three."""
    named = {
        f"{kind.casefold()} {number.rstrip('.')}"
        for kind, numbers in _PLACE.findall(text)
        for number in re.findall(_NUMBER, numbers)
    }
    return named | set(_EQUATION.findall(text))


def errata_facts(grouped: Mapping[str, Sequence[StatementView]]) -> dict[str, Any]:
    """What the page of errata says of all: what its words mean, what was read, and how many."""
    from tacit.statements import EDITIONS, GRAVITIES

    rows = []
    for paper, statements in grouped.items():
        found = [erratum for one in statements for erratum in one.errata]
        by_gravity = [sum(one.gravity == name for one in found) for name in GRAVITIES]
        if found:
            rows.append((paper, [*by_gravity, sum(bool(one.glyph) for one in found)]))
    heads = [*GRAVITIES, "rest on a sign"]
    return {"gravities": GRAVITIES, "editions": EDITIONS, "heads": heads, "counted": rows}


def _view(one: Any, answer: Mapping[str, Any] | None) -> StatementView:
    known = answer or {}
    printed = known.get("correction")
    shown = printed if isinstance(printed, list) and len(printed) == len(one.errata) else []
    margins = [part.get("worst_margin_as_printed") for part in shown if isinstance(part, dict)]
    errata = tuple(
        ErratumView(
            place=erratum.place or one.place,
            printed=erratum.as_printed,
            corrected=erratum.as_corrected,
            margin=number(margins[rank]) if rank < len(margins) else "",
            gravity=erratum.gravity or "not yet judged",
            right_in=erratum.right_in,
            glyph=erratum.glyph,
            edition=erratum.edition,
        )
        for rank, erratum in enumerate(one.errata)
    )
    expected = "holds with a correction" if one.errata else one.expected
    return StatementView(
        id=one.id,
        paper=one.paper,
        place=one.place,
        words=one.words,
        tried=words(known.get("instances"), ""),
        margin=_margin(known.get("worst_margin")) if known else "",
        bound=f"{'≤' if one.relation == '<=' else '≥'} {_margin(one.bound)}",
        verdict=words(known.get("verdict"), "not measured"),
        expected=expected,
        as_expected=known.get("as_expected") is not False,
        because=one.because,
        errata=errata,
    )


def _margin(value: Any) -> str:
    number_ = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:.1e}".replace("-", "−") if number_ else words(value)
