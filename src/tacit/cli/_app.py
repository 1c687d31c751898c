"""`tacit`: the commands, with their arguments and options."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from tacit._version import __version__
from tacit.cli._checkpoint_commands import compress_command, inspect_command, restore_command
from tacit.cli._explained import INTERRUPTED, explained
from tacit.cli._options import (
    AsJson,
    Results,
    Seeds,
    Settings,
    command,
    known_ids,
    seconds_of,
    whole_number,
)
from tacit.cli._own_data_commands import complete_command, data_app, identify_command
from tacit.cli._store_commands import check_command, clean_command, merge_command, status_command
from tacit.cli._text import plain, write_anything
from tacit.cli._theory_commands import explore_command, verify_command

app = typer.Typer(
    name="tacit",
    help="What gradient descent does without being told: experiments with measured claims.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"tacit {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="The version.")
    ] = False,
) -> None:
    """What gradient descent does without being told: experiments with measured claims."""


@app.command("list")
def list_command(
    wanted: Annotated[
        str | None,
        typer.Argument(
            metavar="PAPER|WORD",
            help="A paper, or a word in the line.",
            autocompletion=known_ids,
        ),
    ] = None,
    as_json: AsJson = False,
    results: Results = None,
) -> int:
    """The experiments, one a line: minutes, needs, last result."""
    return command("list", wanted, as_json=as_json, results=results)


@app.command("show")
def show_command(
    name: Annotated[
        str,
        typer.Argument(metavar="ID", help="An id, or file.py[:Class].", autocompletion=known_ids),
    ],
    as_json: AsJson = False,
    results: Results = None,
) -> int:
    """One experiment: its parameters, presets, claims and needs."""
    return command("show", name, as_json=as_json, results=results)


@app.command("new")
def new_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to: my_idea.py.")],
    force: Annotated[bool, typer.Option("--force", help="Write over a file.")] = False,
) -> int:
    """Write an experiment of your own that runs as it is."""
    return command("new", file, force=force)


app.add_typer(data_app, name="data")


@app.command("reproduce")
def reproduce_command(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID",
            help="Ids as `tacit list` shows them, whole papers, or file.py[:Class].",
            autocompletion=known_ids,
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every experiment that tacit knows.")
    ] = False,
    preset: Annotated[
        str, typer.Option("--preset", metavar="NAME", help="smoke, quick or paper.")
    ] = "quick",
    settings: Settings = None,
    seeds: Seeds = None,
    results: Results = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            metavar="N",
            parser=whole_number,
            help="Compute in N processes of one thread each; with --all one for each core.",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Compute on a Dask cluster: tcp://host:port, or local.",
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Move stored results aside and start over.")
    ] = False,
    accept_changed: Annotated[
        bool,
        typer.Option(
            "--accept-changed", help="Keep stored results that other code of yours has computed."
        ),
    ] = False,
    until_decided: Annotated[
        bool | None,
        typer.Option(
            "--until-decided/--no-until-decided",
            help="Add seeds to the cells of undecided claims; at paper that is so by default.",
        ),
    ] = None,
    budget: Annotated[
        float,
        typer.Option(
            "--budget",
            metavar="TIME",
            parser=seconds_of,
            help="How long to add seeds to one experiment: 90s, 30m, 2h.",
        ),
    ] = "30m",  # type: ignore[assignment]
    seeds_at_most: Annotated[
        int,
        typer.Option(
            "--seeds-at-most", metavar="N", parser=whole_number, help="Then stop adding seeds."
        ),
    ] = 400,
    compare: Annotated[
        bool, typer.Option("--compare", help="Tell what moved since the committed reference.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be computed, and compute nothing.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--pdb", help="Open the debugger where an experiment raises.")
    ] = False,
    profile: Annotated[
        bool, typer.Option("--profile", help="Tell where the time went, and count programs.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Run experiments, decide their claims, draw their figures.

    Exit 0 when every verdict is the expected one, 1 when one differs, 2 on wrong use, 3 when none
    differs but some claims are undecided.
    """
    return command(
        "reproduce",
        ids or [],
        every=every,
        preset=preset,
        settings=settings or [],
        seeds=seeds,
        results=results,
        workers=workers,
        scheduler=scheduler,
        fresh=fresh,
        accept_changed=accept_changed,
        until_decided=until_decided,
        budget=budget,
        seeds_at_most=seeds_at_most,
        compare=compare,
        dry_run=dry_run,
        debug=debug,
        profile=profile,
        as_json=as_json,
    )


@app.command("figure")
def figure_command(
    ids: Annotated[
        list[str],
        typer.Argument(
            metavar="ID",
            help="Ids as `tacit list` shows them, or file.py[:Class].",
            autocompletion=known_ids,
        ),
    ],
    style: Annotated[
        str,
        typer.Option(
            "--style",
            metavar="NAME",
            help="ours: as reproduce draws it; paper: the authors' panels and seeds alone.",
        ),
    ] = "ours",
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset", metavar="NAME", help="smoke, quick or paper; else the last run's."
        ),
    ] = None,
    settings: Settings = None,
    seeds: Seeds = None,
    results: Results = None,
    into: Annotated[
        Path | None,
        typer.Option("--into", metavar="DIR", help="Where to; else beside the results."),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--format", metavar="KIND", help="png, svg or pdf; repeatable; else png and svg."
        ),
    ] = None,
    panel: Annotated[
        str | None, typer.Option("--panel", metavar="LETTER", help="One panel alone: a, b, …")
    ] = None,
    size: Annotated[
        str | None,
        typer.Option("--size", metavar="NAME", help="single or double: as wide as columns are."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Draw figures and tables from stored results."""
    return command(
        "figure",
        ids,
        style=style,
        preset=preset,
        settings=settings or [],
        seeds=seeds,
        results=results,
        into=into,
        formats=kind or [],
        panel=panel,
        size=size,
        as_json=as_json,
    )


@app.command("report")
def report_command(
    results: Results = None,
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="DIR", help="Compare with this other folder of results."),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option("--into", metavar="DIR", help="Where to; else into the folder of results."),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    as_json: AsJson = False,
) -> int:
    """Write pages that show stored results, for the browser."""
    return command(
        "report", results=results, against=against, into=into, show=show, as_json=as_json
    )


_ELSEWHERE: dict[str, Callable[..., int]] = {
    "status": status_command,
    "merge": merge_command,
    "check": check_command,
    "clean": clean_command,
    "explore": explore_command,
    "verify": verify_command,
    "complete": complete_command,
    "identify": identify_command,
    "inspect": inspect_command,
    "compress": compress_command,
    "restore": restore_command,
}
for _name, _function in _ELSEWHERE.items():
    app.command(_name)(_function)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    _keep_compiled_programs()
    write_anything()
    try:
        code = app(args=arguments, prog_name="tacit", standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except typer.Exit as end:
        return int(end.exit_code)
    except Exception as error:
        told = explained(error)
        if told is None:
            raise
        print(f"tacit: {plain(told.sentence)}", file=sys.stderr)
        return told.code
    return int(code or 0)


def _keep_compiled_programs() -> None:
    """Let JAX, when a command imports it, keep its compiled programs between runs.

    Only for this process and its children, through JAX's own variables, and only where the user has
    not chosen otherwise: importing tacit as a library sets nothing.
    """
    import platformdirs

    cache = platformdirs.user_cache_path("tacit") / "jax"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")
