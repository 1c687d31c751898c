"""The page `index.html`: a table of all claims, then every experiment with its figure."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tacit._files import write_atomically
from tacit.claims import Claim, decide_all
from tacit.site._style import CSS

_DASH = "—"
_MARKS = {"holds": "✓", "fails": "✗", "undecided": "?", "at the bound": "≈"}
_RELATIONS = {"<=": "≤", ">=": "≥"}
_COLUMNS = ("experiment", "claim", "measured", "bound", "expected", "verdict", "because")

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>tacit: results</title>
<style>{css}</style>
</head>
<body>
<header>
<h1>tacit: results</h1>
<p class="lead">Claims of the papers, measured. A claim holds when the evidence that most seeds
satisfy it is at least 20, and fails when the evidence that most do not is; an interval stands
beside the median. {family}</p>
<ul class="counts">{counts}</ul>
</header>
<main>
<h2 id="claims">Claims</h2>
{table}
<h2 id="experiments">Experiments</h2>
{sections}
</main>
<footer class="small">Written by tacit from the claims.json of each experiment.</footer>
</body>
</html>
"""


def write_index(results_dir: Path, entries: Sequence[Mapping[str, Any]]) -> Path:
    """Write `results_dir/index.html` from what `read_entries` found, and return its path.

    The page is self-contained except for the figures, which it shows from `<experiment>/figure.svg`
    beside it. It is replaced whole: a reader never sees half a page.
    """
    results_dir.mkdir(parents=True, exist_ok=True)
    stands = _standing(entries)
    page = _PAGE.format(
        css=CSS,
        family=_family(stands),
        counts=_counts(entries),
        table=_table(entries, stands),
        sections="\n".join(_section(results_dir, entry) for entry in entries)
        or '<p class="none">There are no results here yet.</p>',
    )
    path = results_dir / "index.html"
    write_atomically(path, page.encode())
    return path


def _counts(entries: Sequence[Mapping[str, Any]]) -> str:
    claims = [claim for entry in entries for claim in entry["claims"]]
    surprises = sum(_surprising(claim) for claim in claims)
    close = sum(claim.get("verdict") == "at the bound" for claim in claims)
    decided = sum(claim.get("verdict") in ("holds", "fails") for claim in claims)
    shown = [
        (len(entries), "experiments", ""),
        (len(claims), "claims", ""),
        (decided - surprises, "as expected", ""),
        (surprises, "not as expected", "alarm" if surprises else ""),
        (len(claims) - decided - close, "undecided", ""),
        (close, "at the bound", ""),
    ]
    return "".join(f'<li class="{look}"><b>{n}</b>{words}</li>' for n, words, look in shown)


def _standing(entries: Sequence[Mapping[str, Any]]) -> list[bool | None]:
    """Which claims stand as part of the whole set, in the order of the page; None if undecided."""
    found: list[Claim | None] = []
    for claim in (claim for entry in entries for claim in entry["claims"]):
        try:
            found.append(Claim.from_dict(claim))
        except (AttributeError, TypeError, ValueError):
            found.append(None)  # of another state of tacit; it is shown as it is
    stand = iter(decide_all([claim for claim in found if claim is not None]))
    standing = [claim is not None and next(stand) for claim in found]
    return [
        None if claim is None or claim.as_expected is None else stands
        for claim, stands in zip(found, standing, strict=True)
    ]


def _family(stands: Sequence[bool | None]) -> str:
    decided = sum(stand is not None for stand in stands)
    return (
        f"Of {decided} decided claims {sum(stand is True for stand in stands)} also stand as part "
        "of the whole set (e-BH: at most 5% of them are false on average); the others are marked "
        "“alone”."
    )


def _table(entries: Sequence[Mapping[str, Any]], stands: Sequence[bool | None]) -> str:
    pairs = [(entry, claim) for entry in entries for claim in entry["claims"]]
    rows = [_row(entry, claim, stand) for (entry, claim), stand in zip(pairs, stands, strict=True)]
    if not rows:
        return '<p class="none">There are no claims here yet.</p>'
    head = "".join(f'<th scope="col">{name}</th>' for name in _COLUMNS)
    body = "\n".join(rows)
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _row(entry: Mapping[str, Any], claim: Mapping[str, Any], stand: bool | None) -> str:
    surprise = _surprising(claim)
    name = str(entry["experiment"])
    place = f'<div class="small">{_words(claim.get("place"))}</div>' if claim.get("place") else ""
    told = '<span class="surprise">not as expected</span>' if surprise else ""
    remarks = [*_remarks(entry, claim), *(["alone"] if stand is False else [])]
    told += "".join(f'<div class="small">{_words(remark)}</div>' for remark in remarks)
    relation = _RELATIONS.get(str(claim.get("relation")), str(claim.get("relation") or ""))
    cells = [
        f'<td><a href="#{_anchor(name)}"><code>{escape(name)}</code></a></td>',
        f'<td class="words"><b>{_words(claim.get("name"))}</b>'
        f"<div>{_words(claim.get('statement'))}</div>{place}</td>",
        f'<td class="number">{_measured(claim)}{_seeds(claim)}</td>',
        f'<td class="number">{escape(relation)} {_number(claim.get("bound"))}</td>',
        f"<td>{_words(claim.get('expected'))}</td>",
        f"<td>{_verdict(claim.get('verdict'))}{told}</td>",
        f'<td class="words">{_words(claim.get("because"))}</td>',
    ]
    return f'<tr class="{"alarm" if surprise else ""}">{"".join(cells)}</tr>'


def _seeds(claim: Mapping[str, Any]) -> str:
    """How many seeds a claim comes from, and how many of them satisfy it."""
    samples, satisfied = claim.get("samples"), claim.get("satisfied")
    if samples is None:
        return ""
    words = f"{samples} samples" if satisfied is None else f"{satisfied} of {samples} seeds"
    return f'<div class="small">{_words(words)}</div>'


def _remarks(entry: Mapping[str, Any], claim: Mapping[str, Any]) -> list[str]:
    """What else is to be said of a verdict: who was left out, what it would take."""
    found = []
    left_out, samples = claim.get("left_out") or 0, claim.get("samples") or 0
    if left_out:
        found.append(f"{left_out} of {left_out + samples} seeds do not count")
    effort = (entry.get("efforts") or {}).get(str(claim.get("name")))
    if effort is not None:
        seeds = "1 more seed" if effort["seeds"] == 1 else f"{effort['seeds']} more seeds"
        found.append(f"about {seeds}, {_number(effort['seconds'])} s")
    return found


def _section(results_dir: Path, entry: Mapping[str, Any]) -> str:
    name = str(entry["experiment"])
    title = str(entry.get("title") or name)
    outcomes = entry.get("outcomes") or {}
    surprises = sum(_surprising(claim) for claim in entry["claims"])
    facts = {
        "experiment": f"<code>{escape(name)}</code>",
        "paper": ", ".join(_words(entry[key]) for key in ("paper", "figure") if entry.get(key)),
        "preset": _words(entry.get("preset")),
        "lanes": ", ".join(f"{_words(count)} {_words(kind)}" for kind, count in outcomes.items()),
        "time": _DASH if entry.get("seconds") is None else f"{_number(entry['seconds'])} s",
        "claims": " ".join(_verdict(claim.get("verdict")) for claim in entry["claims"]),
    }
    told = f'<span class="surprise">{surprises} not as expected</span>' if surprises else ""
    listed = "".join(f"<div><dt>{k}</dt><dd>{v or _DASH}</dd></div>" for k, v in facts.items())
    if (results_dir / name / "figure.svg").is_file():
        described = escape(f"{title} ({name}): the figure of this experiment")
        source = f"{quote(name)}/figure.svg"
        shown = f'<figure><img src="{source}" alt="{described}" loading="lazy"></figure>'
    else:
        shown = '<p class="none">This run left no figure.</p>'
    return (
        f'<section id="{_anchor(name)}"><h3>{escape(title)}</h3>{told}'
        f"<dl>{listed}</dl>\n{shown}</section>"
    )


def _surprising(claim: Mapping[str, Any]) -> bool:
    """Whether a claim was decided against its expectation; an undecided one was not."""
    verdict = claim.get("verdict")
    return verdict in ("holds", "fails") and verdict != claim.get("expected")


def _verdict(verdict: Any) -> str:
    look = str(verdict).replace(" ", "-") if verdict in _MARKS else "unknown"
    return f'<span class="tag {look}">{_MARKS.get(verdict, "?")} {_words(verdict)}</span>'


def _measured(claim: Mapping[str, Any]) -> str:
    low, high = claim.get("low"), claim.get("high")
    interval = "" if low is None and high is None else f" [{_number(low)}, {_number(high)}]"
    return _number(claim.get("measured")) + interval


def _number(value: Any) -> str:
    """A number in four digits; a dash where there is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _words(value)
    if math.isnan(value):
        return _DASH
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.4g}".replace("-", "−")


def _words(value: Any) -> str:
    return _DASH if value is None or value == "" else escape(str(value))


def _anchor(name: str) -> str:
    """An identifier that can stand in an attribute and in a link."""
    return quote(name.replace("/", "-"), safe="")
