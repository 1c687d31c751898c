"""What came out of a run, at the terminal."""

import sys
from typing import TYPE_CHECKING

from tacit.claims._shown import bound_words, measured_words, seeds_words
from tacit.cli._text import many, marked, plain
from tacit.reproduction import TOO_MANY_SEEDS, Reproduction

if TYPE_CHECKING:
    from rich.console import Console

    from tacit.claims import Claim
    from tacit.reproduction import Effort

_COLOURS = {True: "green", False: "bold red", None: "yellow"}  # by whether it was expected


def tell(console: "Console", made: Reproduction, *, compare: bool) -> None:
    """The claims in a table, then what else there is to say of the run."""
    from rich.table import Table

    table = Table(header_style="bold", expand=False)
    for name in ("claim", "measured", "bound", "seeds", "expected", "verdict"):
        table.add_column(name, overflow="fold", justify="right" if name == "measured" else "left")
    for claim in made.claims:
        mark = "  ← not as expected" if claim.as_expected is False else ""
        table.add_row(
            marked(claim.name),
            measured_words(claim),
            bound_words(claim),
            seeds_words(claim),
            claim.expected,
            f"[{_COLOURS[claim.as_expected]}]{claim.verdict}{mark}[/]{_remark(claim)}",
        )
    console.print(table)
    for claim in made.claims:
        if claim.expected == "fails":
            words = f"  expected to fail: {plain(claim.name)}: {plain(claim.because)}"
            console.print(words, markup=False, highlight=False, style="dim")
    outcomes = ", ".join(f"{count} {name}" for name, count in made.outcomes.items())
    kept = made.summary.skipped_batches
    whole = many(kept + made.summary.computed_batches, "batch")
    console.print(
        f"  {outcomes}; {made.seconds:.1f} s"
        + (f", {kept} of {whole} {'was' if kept == 1 else 'were'} stored already" if kept else "")
        + f"; {marked(made.path)}/figure.png"
    )
    for name, effort in made.efforts.items():
        console.print(
            f"  undecided: {plain(name)}: {_effort(effort)}", markup=False, highlight=False
        )
    for remark in made.remarks:
        console.print(f"  {plain(remark)}", markup=False, highlight=False)
    for warning in made.warnings:
        print(f"tacit: {plain(warning)}", file=sys.stderr)
    if compare:
        _tell_moved(console, made)


def _tell_moved(console: "Console", made: Reproduction) -> None:
    found = made.compare()
    if found.unable or not found.moved:
        console.print(f"  {found.unable or 'nothing moved against the reference'}", markup=False)
    if found.remark:
        console.print(f"  {found.remark}", markup=False)
    for movement in found.moved:
        console.print(
            plain(f"  moved: {movement.name} ({movement.kind}): {movement.sentence}"), markup=False
        )


def _remark(claim: "Claim") -> str:
    """What the verdict leaves out, if that is much."""
    total = claim.samples + claim.left_out
    return f"; {claim.left_out} of {total} seeds do not count" if claim.many_left_out else ""


def _effort(effort: "Effort") -> str:
    if effort.seeds >= TOO_MANY_SEEDS:
        return f"more than {TOO_MANY_SEEDS:,} seeds, too near the bound"
    seeds = "1 more seed" if effort.seeds == 1 else f"{effort.seeds} more seeds"
    return f"about {seeds}, {_duration(effort.seconds)} (--until-decided)"


def _duration(seconds: float) -> str:
    for unit, size in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.2g} {unit}"
    return f"{max(1, round(seconds))} s"
