"""`tacit show`: what an experiment compares, takes and claims, before anything is run."""

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tacit.cli._text import plain
from tacit.experiments import Experiment
from tacit.reproduction import (
    find_experiment,
    in_words,
    last_result,
    list_experiments,
    load_reference,
)

_WIDEST = 100


def run(name: str, *, as_json: bool, results: Path | None) -> int:
    """Print what is known of one experiment."""
    kind = find_experiment(name)
    record = _record(kind, results)
    if as_json:
        print(json.dumps(record, ensure_ascii=False))
        return 0
    width = min(shutil.get_terminal_size().columns, _WIDEST) if sys.stdout.isatty() else _WIDEST
    for line in _lines(record):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        wrapped = textwrap.wrap(
            plain(line), width, subsequent_indent=indent, break_on_hyphens=False
        )
        print("\n".join(wrapped))
    return 0


def _record(kind: type[Experiment], results: Path | None) -> dict[str, Any]:
    """What is known of an experiment, in JSON's types."""
    entry = next((entry for entry in list_experiments() if entry.id == kind.id), None)
    values = {preset: in_words(kind.from_preset(preset)) for preset in kind.presets}
    preset = "quick" if "quick" in kind.presets else next(iter(kind.presets))
    reference = load_reference(kind, preset)
    last = last_result(kind.id, results) or {}
    claims = [] if reference is None else [claim.to_dict() for claim in reference.claims]
    return {
        "id": kind.id,
        "figure": kind.figure,
        "summary": kind.summary,
        "minutes": {"quick": entry and entry.quick, "paper": entry and entry.paper},
        "paper_on_gpu": bool(entry and entry.gpu),
        "data": entry and entry.data,
        "missing": kind.from_preset(preset).missing(),
        "cells": {preset: len(kind.from_preset(preset).grid()) for preset in kind.presets},
        "parameters": [
            {
                "name": name,
                "doc": spec.doc,
                "allowed": spec.allowed,
                "units": spec.units,
                "swept": spec.swept,
                "values": {preset: values[preset][name] for preset in kind.presets},
            }
            for name, spec in kind.parameters().items()
        ],
        "claims": claims or [claim for claim in last.get("claims") or [] if "name" in claim],
    }


def _lines(record: dict[str, Any]) -> Iterator[str]:
    yield f"{record['id']} · {record['figure']} · {record['summary']}"
    yield ""
    minutes = (f"{name} {'?' if m is None else f'{m:g}'}" for name, m in record["minutes"].items())
    gpu = ", paper on a GPU" if record["paper_on_gpu"] else ""
    yield f"minutes   {', '.join(minutes)}{gpu}"
    yield f"cells     {', '.join(f'{name} {n:,}' for name, n in record['cells'].items())}"
    if record["data"]:
        at_hand = "" if record["missing"] else " (at hand)"
        yield f"data      {record['data']}{at_hand}"
    if record["missing"]:
        yield f"missing   {record['missing']}"
    yield ""
    yield "Parameters (--set NAME=V1,V2; swept ones take several values)"
    for parameter in record["parameters"]:
        units = f" [{parameter['units']}]" if parameter["units"] != "1" else ""
        kind = "swept, " if parameter["swept"] else ""
        yield f"  {parameter['name']}: {parameter['doc']}{units} ({kind}{parameter['allowed']})"
        yield f"    {_of_presets(parameter['values'])}"
    yield ""
    yield f"Claims ({len(record['claims'])})" if record["claims"] else "Claims: known after a run"
    for claim in record["claims"]:
        expected = "" if claim["expected"] == "holds" else " (expected to fail)"
        yield f"  {claim['name']}{expected}"
        yield f"    {claim['statement']}"
    yield ""
    yield f"tacit reproduce {record['id']}"


def _of_presets(values: dict[str, str]) -> str:
    """`smoke 10 · quick, paper 5, …, 20`: presets with the same values stand together."""
    together: dict[str, list[str]] = {}
    for preset, words in values.items():
        together.setdefault(words, []).append(preset)
    if len(together) == 1:
        return f"always {next(iter(together))}"
    return " · ".join(f"{', '.join(names)}: {words}" for words, names in together.items())
