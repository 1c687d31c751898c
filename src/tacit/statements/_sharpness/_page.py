"""The page of sharpness, generated from the record."""

from itertools import groupby

from tacit.statements._registry import find_statements
from tacit.statements._sharpness._record import Constant, Sharpness, sharpness_of
from tacit.statements._statement import Statement

_HEAD = """\
# How sharp the checks are

For each constant in a statement's formula, the smallest relative change, up or down, that the check
of `tacit verify` notices: 0.1%, 1%, 3%, 10%, 30% or 100%. [verify](verify.md) says which constants
count. This page is generated from the record that comes with the package by
`tacit verify --sharpness docs/sharpness.md`.
"""

_LOOSE = """\

## Constants whose change by a tenth is not noticed

A theorem that gives away a factor cannot be checked more sharply than that factor.
"""


def sharpness_page() -> str:
    """How sharp each check is, in Markdown: counts, what is not sharp and why, all statements."""
    known = [(one, sharpness_of(one)) for one in find_statements()]
    found = [(one, sharpness) for one, sharpness in known if sharpness is not None]
    lines = [
        _HEAD,
        "| paper | statements | constants | noticed within 10% | |",
        "|---|---|---|---|---|",
    ]
    everything = [constant for _, sharpness in found for constant in sharpness.constants]
    for paper, group in groupby(found, key=lambda pair: pair[0].paper):
        pairs = list(group)
        constants = [constant for _, sharpness in pairs for constant in sharpness.constants]
        lines.append(_counts(paper, len(pairs), constants))
    lines += [_counts("all", len(found), everything), _LOOSE]
    lines += ["| statement | constant | noticed | why |", "|---|---|---|---|"]
    lines += [
        f"| {statement.id} | `{_cell(constant.name)}` | {_percent(constant.noticed)} | "
        f"{_cell(constant.because) or 'not yet said'} |"
        for statement, sharpness in found
        for constant in sharpness.constants
        if not constant.is_sharp
    ]
    lines += ["\n## All statements\n", "| statement | constants | worst |", "|---|---|---|"]
    lines += [_row(statement, sharpness) for statement, sharpness in found]
    return "\n".join(lines) + "\n"


def _counts(name: str, statements: int, constants: list[Constant]) -> str:
    sharp = sum(one.is_sharp for one in constants)
    share = f"{100 * sharp / len(constants):.0f}%" if constants else "–"
    return f"| {name} | {statements} | {len(constants)} | {sharp} | {share} |"


def _row(statement: Statement, sharpness: Sharpness) -> str:
    return f"| {statement.id} | {len(sharpness.constants)} | {sharpness} |"


def _percent(noticed: float | None) -> str:
    return "never" if noticed is None else f"{100 * noticed:g}%"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
