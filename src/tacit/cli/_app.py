"""`tacit`: the commands, with their arguments and options."""

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit._version import __version__
from tacit.cli._explained import INTERRUPTED, explained
from tacit.cli._text import plain, write_anything

app = typer.Typer(
    name="tacit",
    help="What gradient descent does without being told: experiments with measured claims.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _known_ids(incomplete: str) -> list[str]:
    """What can follow at the command line: papers and ids of experiments."""
    from tacit.reproduction import experiment_ids

    ids = experiment_ids()
    words = dict.fromkeys([name.partition("/")[0] for name in ids])
    return [word for word in (*words, *ids) if word.startswith(incomplete)]


Results = Annotated[
    Path | None,
    typer.Option("--results", metavar="DIR", help="Folder of results: TACIT_RESULTS or ./results."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=V1,V2",
        help="Other values of a parameter, integers also as a range 5..20; repeatable.",
    ),
]


def _whole_number(text: str) -> int:
    """Parsed here, so that the message can quote what was received."""
    try:
        return int(text)
    except ValueError:
        word = text if len(text) <= 60 else f"{text[:60]}…"
        raise typer.BadParameter(f"received {word!r}, allowed is an integer") from None


def _number(text: str) -> float:
    """Parsed here for the same reason."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"received {text[:60]!r}, allowed is a number") from None


_UNITS = {"s": 1, "m": 60, "h": 3600}


def _seconds(text: str) -> float:
    """A time such as 90s, 30m or 2h, in seconds."""
    number, unit = str(text)[:-1], str(text)[-1:]
    try:
        seconds = float(number) * _UNITS[unit]
    except (KeyError, ValueError):
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise typer.BadParameter(f"received {text!r}, the form is 90s, 30m or 2h")
    return seconds


Seeds = Annotated[
    str | None,
    typer.Option(
        "--seeds", metavar="N|A..B", help="The seeds 0 … N − 1, or A … B, both ends included."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="End with one JSON object on the last line.")]


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
            metavar="[PAPER|WORD]",
            help="A paper, or a word in the line.",
            autocompletion=_known_ids,
        ),
    ] = None,
    as_json: AsJson = False,
    results: Results = None,
) -> int:
    """The experiments: id, minutes, needs, the last result, what is compared."""
    return _command("list", wanted, as_json=as_json, results=results)


@app.command("show")
def show_command(
    name: Annotated[
        str,
        typer.Argument(metavar="ID", help="An id, or file.py[:Class].", autocompletion=_known_ids),
    ],
    as_json: AsJson = False,
    results: Results = None,
) -> int:
    """An experiment: its parameters with ranges and presets, claims, minutes, data, GPU."""
    return _command("show", name, as_json=as_json, results=results)


@app.command("new")
def new_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to: my_idea.py.")],
    force: Annotated[bool, typer.Option("--force", help="Write over a file.")] = False,
) -> int:
    """Write an experiment of your own that runs as it is, to be changed."""
    return _command("new", file, force=force)


data_app = typer.Typer(no_args_is_help=True, help="Data sets that are not ours to distribute.")
app.add_typer(data_app, name="data")
DataNames = Annotated[
    list[str] | None, typer.Argument(metavar="NAME…", help="As `tacit data list` shows them.")
]
DataFolder = Annotated[
    Path | None,
    typer.Option("--into", metavar="DIR", help="Else TACIT_DATA, or the user's cache folder."),
]


@data_app.command("list")
def data_list_command(
    names: DataNames = None, into: DataFolder = None, as_json: AsJson = False
) -> int:
    """Which data sets there are, and which are at hand."""
    return _command("data", names or [], into=into, fetch=False, as_json=as_json)


@data_app.command("fetch")
def data_fetch_command(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME…", help="As `tacit data list` shows them.")
    ],
    into: DataFolder = None,
    as_json: AsJson = False,
) -> int:
    """Fetch data sets from their addresses and check them."""
    return _command("data", names, into=into, fetch=True, as_json=as_json)


@app.command("reproduce")
def reproduce_command(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID…",
            help="Ids as `tacit list` shows them, whole papers, or file.py[:Class].",
            autocompletion=_known_ids,
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
            parser=_whole_number,
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
            parser=_seconds,
            help="How long to add seeds to one experiment: 90s, 30m, 2h.",
        ),
    ] = "30m",  # type: ignore[assignment]
    seeds_at_most: Annotated[
        int,
        typer.Option(
            "--seeds-at-most", metavar="N", parser=_whole_number, help="Then stop adding seeds."
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
    as_json: AsJson = False,
) -> int:
    """Run experiments, decide their claims, draw their figures.

    Exit 0 when every verdict is the expected one, 1 when one differs, 2 on wrong use, 3 when none
    differs but some claims are undecided.
    """
    return _command(
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
        as_json=as_json,
    )


@app.command("figure")
def figure_command(
    ids: Annotated[
        list[str],
        typer.Argument(
            metavar="ID…",
            help="Ids as `tacit list` shows them, or file.py[:Class].",
            autocompletion=_known_ids,
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
    """Draw figures and tables from stored results; nothing is computed."""
    return _command(
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
    """Write pages that show stored results: figures, claims, statements; nothing is computed."""
    return _command(
        "report", results=results, against=against, into=into, show=show, as_json=as_json
    )


@app.command("status")
def status_command(
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DIR|ID]…", help="Stores, folders of results, or ids; else all."),
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
    """How many cells are done, missing, diverged and failed, and why they failed."""
    return _command(
        "status",
        targets or [],
        preset=preset,
        settings=settings or [],
        seeds=seeds,
        results=results,
        as_json=as_json,
    )


@app.command("merge")
def merge_command(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="DIR…", help="Stores or folders of results made elsewhere."),
    ],
    into: Annotated[
        Path | None,
        typer.Option(
            "--into", metavar="DIR", help="A store or a folder of results; else ./results."
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Add stored parts that were made elsewhere: on a GPU machine or a cluster."""
    return _command("merge", sources, into=into, as_json=as_json)


@app.command("check")
def check_command(
    targets: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[DIR]…", help="Stores or folders of results; else ./results."),
    ] = None,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Set aside what is not whole, make results.zarr again."),
    ] = False,
    results: Results = None,
    as_json: AsJson = False,
) -> int:
    """Verify stores byte by byte; nothing is written without --repair.

    Exit 0 when all is whole or was mended, 1 when something is not, 2 on wrong use.
    """
    return _command("check", targets or [], repair=repair, results=results, as_json=as_json)


@app.command("clean")
def clean_command(
    targets: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[DIR]…", help="Stores or folders of results; else ./results."),
    ] = None,
    remove: Annotated[bool, typer.Option("--yes", help="Remove them.")] = False,
    results: Results = None,
    as_json: AsJson = False,
) -> int:
    """List old stores (of --fresh) and files that were set aside; --yes removes them."""
    return _command("clean", targets or [], remove=remove, results=results, as_json=as_json)


@app.command("explore")
def explore_command(
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    port: Annotated[
        int,
        typer.Option(
            "--port",
            metavar="N",
            parser=_whole_number,
            help="Of the address; else a free one.",
            show_default=False,
        ),
    ] = 0,
) -> int:
    """A local page: theory answers as sliders move, and a small run trains as you watch.

    Only this computer can reach it. Ctrl-C ends it.
    """
    return _command("explore", show=show, port=port)


@app.command("verify")
def verify_command(
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PAPER|PAPER/STATEMENT]…", help="What to check; else everything."),
    ] = None,
    instances: Annotated[
        int | None,
        typer.Option(
            "--instances",
            metavar="N",
            parser=_whole_number,
            help="Random instances of each; else each statement's own number.",
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option("--seed", metavar="S", parser=_whole_number, help="Seed of the instances."),
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
    return _command(
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


@app.command("complete")
def complete_command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A CSV, TSV or Parquet table with gaps.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The completed table, in its form."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="DIR", help="Report, figure and undetermined entries."),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth", metavar="L", parser=_whole_number, help="Factors; else chosen, 2 or 3."
        ),
    ] = None,
    decay: Annotated[
        float | None,
        typer.Option("--decay", metavar="X", parser=_number, help="Weight decay; else chosen."),
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--form", metavar="NAME", help="wide, long (row, column, value) or auto, which looks."
        ),
    ] = "auto",
    fill_all: Annotated[
        bool,
        typer.Option("--fill-all", help="Fill by means what no method can determine."),
    ] = False,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", parser=_whole_number, help="Seed of the start.")
    ] = 0,
    as_json: AsJson = False,
) -> int:
    """Fill the gaps of a table by a deep matrix factorisation.

    What no method can determine is listed and left empty. Exit 0 when it is done, 2 on wrong use.
    """
    return _command(
        "complete",
        file,
        output=output,
        report=report,
        depth=depth,
        decay=decay,
        form=form,
        fill_all=fill_all,
        seed=seed,
        as_json=as_json,
    )


@app.command("identify")
def identify_command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A CSV, TSV or Parquet table, a line a sample.")
    ],
    inputs: Annotated[
        list[str],
        typer.Option("-u", "--input", metavar="NAME", help="A column of inputs; may be repeated."),
    ],
    outputs: Annotated[
        list[str],
        typer.Option(
            "-y", "--output", metavar="NAME", help="A column of outputs; may be repeated."
        ),
    ],
    record: Annotated[
        str | None,
        typer.Option("--record", metavar="NAME", help="A column that tells records apart."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option("-o", "--model", metavar="FILE", help="The system, as JSON."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="DIR", help="Report and figure."),
    ] = None,
    order: Annotated[
        int | None,
        typer.Option("--order", metavar="N", parser=_whole_number, help="States; else chosen."),
    ] = None,
    max_order: Annotated[
        int | None,
        typer.Option(
            "--max-order", metavar="N", parser=_whole_number, help="The largest order tried; 12."
        ),
    ] = None,
    held_out: Annotated[
        float,
        typer.Option(
            "--held-out",
            metavar="X",
            parser=_number,
            help="The end of each record that all methods are compared on; 0 compares nothing.",
        ),
    ] = 0.25,
    step: Annotated[
        float,
        typer.Option("--step", metavar="T", parser=_number, help="Time between samples."),
    ] = 1.0,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", parser=_whole_number, help="Seed of the start.")
    ] = 0,
    as_json: AsJson = False,
) -> int:
    """Find a linear system in measured inputs and outputs.

    Its order is chosen, and it is stable. Exit 0 when it is done, 2 on wrong use.
    """
    return _command(
        "identify",
        file,
        inputs=inputs,
        outputs=outputs,
        record=record,
        output=model,
        report=report,
        order=order,
        max_order=max_order,
        held_out=held_out,
        step=step,
        seed=seed,
        as_json=as_json,
    )


def _command(name: str, *arguments: Any, **options: Any) -> int:
    """Import a command when it is run, so that `tacit --help` imports none of them."""
    code: int = importlib.import_module(f"tacit.cli._{name}").run(*arguments, **options)
    return code


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
