"""The commands for people's own data, and for data sets that are not ours."""

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli._options import AsJson, command, number, whole_number

data_app = typer.Typer(no_args_is_help=True, help="Data sets that are not ours to distribute.")
DataNames = Annotated[
    list[str] | None, typer.Argument(metavar="NAME", help="As `tacit data list` shows them.")
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line has names; without, columns are 1, 2, 3, …; else it looks.",
    ),
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
    return command("data", names or [], into=into, fetch=False, as_json=as_json)


@data_app.command("fetch")
def data_fetch_command(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME", help="As `tacit data list` shows them.")
    ],
    into: DataFolder = None,
    as_json: AsJson = False,
) -> int:
    """Fetch data sets from their addresses and check them."""
    return command("data", names, into=into, fetch=True, as_json=as_json)


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
            "--depth", metavar="L", parser=whole_number, help="Factors; else chosen, 2 or 3."
        ),
    ] = None,
    decay: Annotated[
        float | None,
        typer.Option("--decay", metavar="X", parser=number, help="Weight decay; else chosen."),
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--form", metavar="NAME", help="wide, long (row, column, value) or auto, which looks."
        ),
    ] = "auto",
    header: Header = None,
    names: Annotated[
        bool | None,
        typer.Option(
            "--names/--no-names",
            help="Whether the first column of a wide table names its rows; else it looks.",
        ),
    ] = None,
    fill_all: Annotated[
        bool,
        typer.Option("--fill-all", help="Fill by means what no method can determine."),
    ] = False,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", parser=whole_number, help="Seed of the start.")
    ] = 0,
    as_json: AsJson = False,
) -> int:
    """Fill the gaps of a table by a deep matrix factorisation.

    What no method can determine is listed and left empty. Exit 0 when it is done, 2 on wrong use.
    """
    return command(
        "complete",
        file,
        output=output,
        report=report,
        depth=depth,
        decay=decay,
        form=form,
        header=header,
        names=names,
        fill_all=fill_all,
        seed=seed,
        as_json=as_json,
    )


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
    header: Header = None,
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
        typer.Option("--order", metavar="N", parser=whole_number, help="States; else chosen."),
    ] = None,
    max_order: Annotated[
        int | None,
        typer.Option(
            "--max-order", metavar="N", parser=whole_number, help="The largest order tried; 12."
        ),
    ] = None,
    held_out: Annotated[
        float,
        typer.Option(
            "--held-out",
            metavar="X",
            parser=number,
            help="The end of each record that all methods are compared on; 0 compares nothing.",
        ),
    ] = 0.25,
    step: Annotated[
        float,
        typer.Option("--step", metavar="T", parser=number, help="Time between samples."),
    ] = 1.0,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", parser=whole_number, help="Seed of the start.")
    ] = 0,
    as_json: AsJson = False,
) -> int:
    """Find a linear system in measured inputs and outputs.

    Its order is chosen, and it is stable. Exit 0 when it is done, 2 on wrong use.
    """
    return command(
        "identify",
        file,
        inputs=inputs,
        outputs=outputs,
        record=record,
        header=header,
        output=model,
        report=report,
        order=order,
        max_order=max_order,
        held_out=held_out,
        step=step,
        seed=seed,
        as_json=as_json,
    )
