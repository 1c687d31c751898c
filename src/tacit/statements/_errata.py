"""The page of errata, generated from the registry and from the checks that show them."""

import functools
import math

from tacit.statements._instance import draw_instance
from tacit.statements._registry import find_statements
from tacit.statements._statement import Statement
from tacit.statements._trial import DrawInstance, Trial, try_statement
from tacit.statements._verify import try_printed

_HEAD = """\
# Errata of the papers

What is printed wrongly, or left out, in the papers, as far as a check of `tacit verify` shows it.
This page is generated: `tacit verify --errata docs/errata.md`. The number of each printed form is
its worst margin over the statement's usual instances, to one digit: the residual of an equality
(relative, so that rounding gives about 1e-15), or the slack of an inequality, which is negative
where the inequality is violated. The corrected form satisfies its bound in every instance.
"""


def errata_page(*, draw: DrawInstance | None = None) -> str:
    """The errata in Markdown, paper by paper. Numbers are rounded so that machines agree.

    `draw` is as for `try_statement`; by default each instance is drawn once.
    """
    lines = [_HEAD]
    paper = ""
    for statement in find_statements():
        if not statement.errata and statement.expected == "holds":
            continue
        if statement.paper != paper:
            paper = statement.paper
            lines += [f"\n## {paper}\n"]
        lines += _entries(statement, draw or functools.cache(draw_instance))
    return "\n".join(lines).rstrip("\n") + "\n"


def _entries(statement: Statement, draw: DrawInstance) -> list[str]:
    trial = try_statement(statement, draw=draw)
    if statement.expected == "fails":
        return _entry(
            statement, statement.place, statement.words, f"none is known: {statement.because}",
            f"as printed: {_margin(statement, trial)}",
        )  # fmt: skip
    lines = []
    for erratum in statement.errata:
        printed = try_printed(statement, erratum, draw=draw)
        missing = f" on instances without “{erratum.without}”" if erratum.without else ""
        lines += _entry(
            statement,
            erratum.place or statement.place,
            erratum.as_printed,
            erratum.as_corrected,
            f"as printed{missing}: {_margin(statement, printed)}; "
            f"as corrected: {_bound(statement, trial)}",
        )
    return lines


def _entry(
    statement: Statement, place: str, printed: str, corrected: str, numbers: str
) -> list[str]:
    return [
        f"- **{place}**",
        f"  - as printed: {printed}",
        f"  - as corrected: {corrected}",
        f"  - shown by `{statement.id}`: {numbers}",
    ]


def _margin(statement: Statement, trial: Trial) -> str:
    name = "residual" if statement.kind == "equality" else "slack"
    value = f"{trial.margin:.1g}" if math.isfinite(trial.margin) else "not finite"
    return f"{name} {value}" + (" (NOT SHOWN)" if trial.met else "")


def _bound(statement: Statement, trial: Trial) -> str:
    """The bound in place of the margin, whose rounding errors differ between machines."""
    name = "residual at most" if statement.kind == "equality" else "slack at least"
    return f"{name} {statement.bound:.0e}" + ("" if trial.met else " (NOT SATISFIED)")
