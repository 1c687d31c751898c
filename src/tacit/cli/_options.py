"""What several commands share: options, how their values are read, and running a command."""

import importlib
from pathlib import Path
from typing import Annotated, Any

import typer

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


Seeds = Annotated[
    str | None,
    typer.Option(
        "--seeds", metavar="N|A..B", help="The seeds 0 … N − 1, or A … B, both ends included."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="End with one JSON object on the last line.")]


def known_ids(incomplete: str) -> list[str]:
    """What can follow at the command line: papers and ids of experiments."""
    from tacit.reproduction import experiment_ids

    ids = experiment_ids()
    words = dict.fromkeys([name.partition("/")[0] for name in ids])
    return [word for word in (*words, *ids) if word.startswith(incomplete)]


def whole_number(text: str) -> int:
    """Parsed here, so that the message can quote what was received."""
    try:
        return int(text)
    except ValueError:
        word = text if len(text) <= 60 else f"{text[:60]}…"
        raise typer.BadParameter(f"received {word!r}, allowed is an integer") from None


def number(text: str) -> float:
    """Parsed here for the same reason."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"received {text[:60]!r}, allowed is a number") from None


_UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds_of(text: str) -> float:
    """A time such as 90s, 30m or 2h, in seconds."""
    number, unit = str(text)[:-1], str(text)[-1:]
    try:
        seconds = float(number) * _UNITS[unit]
    except (KeyError, ValueError):
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise typer.BadParameter(f"received {text!r}, the form is 90s, 30m or 2h")
    return seconds


def command(name: str, *arguments: Any, **options: Any) -> int:
    """Import a command when it is run, so that `tacit --help` imports none of them."""
    code: int = importlib.import_module(f"tacit.cli._{name}").run(*arguments, **options)
    return code
