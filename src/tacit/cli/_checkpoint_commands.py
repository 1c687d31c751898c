"""The commands for people's own checkpoints."""

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli._options import AsJson, command, number, whole_number

Evaluate = Annotated[
    str | None,
    typer.Option(
        "--evaluate",
        metavar="CMD",
        help="A command that gets a path to weights and prints a loss; lower is better.",
    ),
]
MaxDrop = Annotated[
    float,
    typer.Option(
        "--max-drop",
        metavar="D",
        parser=number,
        help="How much of AFTER's loss may be added to it.",
    ),
]
Gates = Annotated[
    int | None,
    typer.Option(
        "--gates", metavar="N", parser=whole_number, help="Gates stacked in recurrent weights."
    ),
]
Report = Annotated[Path | None, typer.Option("--report", metavar="DIR", help="Report and figure.")]
Force = Annotated[bool, typer.Option("--force", help="Write over files.")]


def inspect_command(
    before: Annotated[
        Path,
        typer.Argument(
            metavar="BEFORE|RUN",
            help="Weights before training (safetensors, index, folder, .pt), or a folder of "
            "checkpoints.",
        ),
    ],
    after: Annotated[
        Path | None, typer.Argument(metavar="[AFTER]", help="Weights after training.")
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option("--start", metavar="FILE", help="Of RUN; else its first checkpoint."),
    ] = None,
    gates: Gates = None,
    leading: Annotated[
        int,
        typer.Option(
            "--leading",
            metavar="K",
            parser=whole_number,
            help="Singular values of large matrices.",
        ),
    ] = 64,
    evaluate: Evaluate = None,
    max_drop: MaxDrop = 0.02,
    report: Report = None,
    as_json: AsJson = False,
) -> int:
    """How low-rank the change between checkpoints was.

    Between two checkpoints, or along a training.

    Exit 0 when it is done, 2 on wrong use.
    """
    return command(
        "inspect",
        before,
        after,
        start=start,
        gates=gates,
        leading=leading,
        evaluate=evaluate,
        max_drop=max_drop,
        report=report,
        as_json=as_json,
    )


def compress_command(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="Weights before training.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Weights after training.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The small file.")],
    rank: Annotated[
        int | None,
        typer.Option("--rank", metavar="R", parser=whole_number, help="One rank for all matrices."),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            metavar="T",
            parser=number,
            help="The share of the norm of each change that may be missing.",
        ),
    ] = None,
    evaluate: Evaluate = None,
    max_drop: MaxDrop = 0.02,
    evaluations: Annotated[
        int,
        typer.Option(
            "--evaluations", metavar="N", parser=whole_number, help="At most so many of CMD."
        ),
    ] = 80,
    start: Annotated[
        str | None,
        typer.Option(
            "--start",
            metavar="TEXT",
            help="BEFORE as a seed: 'uniform seed=0 scale=1', 'LSTM width=128 inputs=10 seed=0'.",
        ),
    ] = None,
    lora: Annotated[
        Path | None,
        typer.Option("--lora", metavar="DIR", help="The change as a LoRA adapter of PEFT's, too."),
    ] = None,
    embeddings: Annotated[
        str | None,
        typer.Option(
            "--embeddings",
            metavar="NAMES",
            help="For --lora: modules that are embeddings, '*.wte,tokens'; else by name.",
        ),
    ] = None,
    transposed: Annotated[
        str | None,
        typer.Option(
            "--transposed",
            metavar="NAMES",
            help="For --lora: modules whose weight is (in, out), '*.c_attn'; else by the bias.",
        ),
    ] = None,
    report: Report = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Store a checkpoint as its start and a low-rank change.

    Ranks by --rank, by --tolerance, or by --evaluate alone: then by the loss that CMD measures.
    With --rank or --tolerance, --evaluate warns when the loss is more than allowed. Exit 0 when it
    is done, 2 on wrong use.
    """
    return command(
        "compress",
        before,
        after,
        output=output,
        rank=rank,
        tolerance=tolerance,
        evaluate=evaluate,
        max_drop=max_drop,
        evaluations=evaluations,
        start=start,
        lora=lora,
        embeddings=embeddings,
        transposed=transposed,
        report=report,
        force=force,
        as_json=as_json,
    )


def restore_command(
    compressed: Annotated[
        Path, typer.Argument(metavar="FILE", help="What tacit compress has written.")
    ],
    before: Annotated[
        Path | None,
        typer.Argument(metavar="[BEFORE]", help="The start; not needed if it is kept as a seed."),
    ] = None,
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The weights, as safetensors.")
    ],
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Put a compressed checkpoint back together.

    Exit 0 when it is done, 2 on wrong use.
    """
    return command("restore", compressed, before, output=output, force=force, as_json=as_json)
