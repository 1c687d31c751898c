"""The commands about what is stored: status, merge, check and clean."""

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli._options import AsJson, Results, Seeds, Settings, command


def status_command(
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="DIR|ID", help="Stores, folders of results, or ids; else all."),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option("--preset", metavar="NAME", help="Against this preset, not the last run."),
    ] = None,
    settings: Settings = None,
    seeds: Seeds = None,
    results: Results = None,
    as_json: AsJson = False,
) -> int:
    """What is stored: cells done, missing, diverged and failed."""
    return command(
        "status",
        targets or [],
        preset=preset,
        settings=settings or [],
        seeds=seeds,
        results=results,
        as_json=as_json,
    )


def merge_command(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="DIR", help="Stores or folders of results made elsewhere."),
    ],
    into: Annotated[
        Path | None,
        typer.Option(
            "--into", metavar="DIR", help="A store or a folder of results; else ./results."
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Add stored parts that were made on other machines."""
    return command("merge", sources, into=into, as_json=as_json)


def check_command(
    targets: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DIR", help="Stores or folders of results; else ./results."),
    ] = None,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Set aside what is not whole, make results.zarr again."),
    ] = False,
    results: Results = None,
    as_json: AsJson = False,
) -> int:
    """Verify stores byte by byte.

    Nothing is written without --repair.

    Exit 0 when all is whole or was mended, 1 when something is not, 2 on wrong use.
    """
    return command("check", targets or [], repair=repair, results=results, as_json=as_json)


def clean_command(
    targets: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DIR", help="Stores or folders of results; else ./results."),
    ] = None,
    remove: Annotated[bool, typer.Option("--yes", help="Remove them.")] = False,
    results: Results = None,
    as_json: AsJson = False,
) -> int:
    """List old stores and what was set aside; --yes removes it."""
    return command("clean", targets or [], remove=remove, results=results, as_json=as_json)
