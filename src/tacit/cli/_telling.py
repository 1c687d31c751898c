"""What came out of a run, at the terminal."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tacit.claims._shown import (
    bound_words,
    measured_words,
    seeds_words,
    summary,
    value_words,
)
from tacit.cli._console import NARROW, open_table, tell
from tacit.cli._text import many, marked, plain
from tacit.reproduction import TOO_MANY_SEEDS, Reproduction

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from tacit.claims import Claim
    from tacit.reproduction import Effort

_COLOURS = {True: "green", False: "bold red", None: "yellow"}  # by whether it was expected


def tell_run(console: "Console", made: Reproduction, *, compare: bool) -> None:
    """The claims in a table, then what else there is to say of the run."""
    if made.claims:
        console.print(_table(made.claims, short=console.width < NARROW))
    _tell_reasons(console, [claim for claim in made.claims if claim.expected == "fails"])
    _tell_left_out(console, [claim for claim in made.claims if claim.many_left_out])
    outcomes = ", ".join(f"{count} {name}" for name, count in made.outcomes.items())
    kept = made.summary.skipped_batches
    whole = many(kept + made.summary.computed_batches, "batch")
    stored = f", {kept} of {whole} {'was' if kept == 1 else 'were'} stored already" if kept else ""
    tell(console, f"{outcomes}; {made.seconds:.1f} s{stored}; {made.path}/figure.png")
    for name, effort in made.efforts.items():
        tell(console, f"undecided: {name}: {_effort(effort)}")
    for remark in made.remarks:
        tell(console, remark)
    for warning in made.warnings:
        print(f"tacit: {plain(warning)}", file=sys.stderr)
    if made.finding:
        tell(console, f"found: {made.finding}")
    tell(console, summary(made.claims))
    if compare:
        _tell_moved(console, made)


def _table(claims: Sequence["Claim"], *, short: bool) -> "Table":
    """A line for each claim; intervals are left out where there is no room for them."""
    table = open_table()
    table.add_column("claim", overflow="fold")
    table.add_column("measured", justify="right", no_wrap=True)
    for name in ("bound", "seeds"):
        table.add_column(name, no_wrap=True)
    table.add_column("verdict")
    for claim in claims:
        words: str = claim.verdict
        if claim.as_expected is False:
            words = f"{claim.verdict} ← not as expected"
        elif claim.expected == "fails" and claim.as_expected:
            words = "fails, as expected"
        table.add_row(
            marked(claim.name),
            value_words(claim) if short else measured_words(claim),
            bound_words(claim),
            seeds_words(claim),
            f"[{_COLOURS[claim.as_expected]}]{words}[/]",
        )
    return table


def _tell_left_out(console: "Console", claims: Sequence["Claim"]) -> None:
    names: dict[tuple[int, int], list[str]] = {}
    for claim in claims:
        counts = (claim.left_out, claim.samples + claim.left_out)
        names.setdefault(counts, []).append(claim.name)
    for (left_out, total), together in names.items():
        tell(console, f"{left_out} of {total} seeds do not count: {'; '.join(together)}")


def _tell_reasons(console: "Console", claims: Sequence["Claim"]) -> None:
    """Why claims are expected to fail; on a terminal those of one reason stand together."""
    if not console.is_terminal:
        for claim in claims:
            tell(console, f"expected to fail: {claim.name}: {claim.because}", style="dim")
        return
    names: dict[str, list[str]] = {}
    for claim in claims:
        names.setdefault(claim.because, []).append(claim.name)
    for because, together in names.items():
        for name in together:
            tell(console, f"expected to fail: {name}", style="dim")
        tell(console, because, indent=4, hang=0, style="dim")


def _tell_moved(console: "Console", made: Reproduction) -> None:
    found = made.compare()
    if found.unable or not found.moved:
        tell(console, found.unable or "nothing moved against the reference")
    if found.remark:
        tell(console, found.remark)
    for movement in found.moved:
        tell(console, f"moved: {movement.name} ({movement.kind}): {movement.sentence}")


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
