"""The commands that ask theory: explore and verify."""

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli._options import AsJson, Results, command, whole_number


def explore_command(
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    port: Annotated[
        int,
        typer.Option(
            "--port",
            metavar="N",
            parser=whole_number,
            help="Of the address; else a free one.",
            show_default=False,
        ),
    ] = 0,
) -> int:
    """A local page: theory answers as sliders move.

    A small run trains as you watch. Only this computer can reach it. Ctrl-C ends it.
    """
    return command("explore", show=show, port=port)


def verify_command(
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="PAPER[/STATEMENT]", help="What to check; else everything."),
    ] = None,
    instances: Annotated[
        int | None,
        typer.Option(
            "--instances",
            metavar="N",
            parser=whole_number,
            help="Random instances of each; else each statement's own number.",
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option("--seed", metavar="S", parser=whole_number, help="Seed of the instances."),
    ] = 0,
    mutations: Annotated[
        bool,
        typer.Option(
            "--mutations", help="Show also that wrong constants and broken hypotheses are caught."
        ),
    ] = False,
    replay_file: Annotated[
        Path | None,
        typer.Option("--replay", metavar="FILE", help="Check the one instance in this file."),
    ] = None,
    errata: Annotated[
        Path | None,
        typer.Option("--errata", metavar="FILE", help="Write the page of errata to this file."),
    ] = None,
    sharpness: Annotated[
        Path | None,
        typer.Option(
            "--sharpness",
            metavar="FILE",
            help="Write how sharp the checks are: FILE.md from the record, FILE.json anew (slow).",
        ),
    ] = None,
    results: Results = None,
    as_json: AsJson = False,
) -> int:
    """Check the papers' theorems on random instances.

    Exit 0 when nothing unexpected happened, 1 when something did, 2 on wrong use.
    """
    return command(
        "verify",
        targets or [],
        instances=instances,
        seed=seed,
        mutations=mutations,
        replay_file=replay_file,
        errata=errata,
        sharpness=sharpness,
        results=results,
        as_json=as_json,
    )
