"""Instances: drawn from a seed, or saved to a file and read back."""

import hashlib
import inspect
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit._errors import UsageError
from tacit._files import FileKindError, open_regular, parsed_json, write_atomically
from tacit._tensors import ArrayFile, encoded
from tacit.statements._statement import Statement, StatementError

_HEADER = ("statement", "seed", "index", "without")
_KEY = "instance"  # of a file's metadata: the header as a JSON object
_KINDS = "biufcU"  # the kinds of NumPy's dtypes that a file can hold
_MOST_BYTES = 2**28


@dataclass(frozen=True)
class Instance:
    """One instance of a statement: its fields and their origin.

    **Arguments:**

    - `statement`: the id.
    - `seed`, `index`: what it was drawn with.
    - `without`: the hypothesis that it breaks on purpose; empty if there is none.
    - `fields`: name → array, number or string. The arrays are read-only: checks share them.
    """

    statement: str
    seed: int
    index: int
    without: str
    fields: Mapping[str, Any]

    def save(self, path: Path) -> Path:
        """Write a safetensors file; `read_instance` reads it back exactly."""
        header = json.dumps({name: getattr(self, name) for name in _HEADER})
        fields = {name: np.asarray(value) for name, value in self.fields.items()}
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, encoded(fields, {_KEY: header}))
        return path


def read_instance(path: Path) -> Instance:
    """Read an instance that `Instance.save` wrote."""

    def refuse(reason: object) -> UsageError:
        return UsageError(
            f"replay: received {str(path)!r}, which cannot be read as an instance: {reason}"
        )

    try:
        file = os.fdopen(open_regular(Path(os.path.realpath(path))), "rb", buffering=0)
    except (FileNotFoundError, FileKindError):
        raise UsageError(f"replay: there is no file {str(path)!r}") from None
    except OSError as error:
        raise refuse(error.strerror) from None
    with ArrayFile(file, refuse, most=_MOST_BYTES) as stored:
        fields = {name: _plain(array) for name, array in stored.arrays().items()}
        try:
            header = parsed_json(stored.metadata.get(_KEY, "{}").encode())
        except ValueError as error:
            raise refuse(error) from None
    kinds = {"statement": str, "seed": int, "index": int, "without": str}
    known = isinstance(header, dict) and header.keys() == kinds.keys()
    if not known or not all(type(header[name]) is kind for name, kind in kinds.items()):
        raise UsageError(
            f"replay: received {str(path)!r}, allowed is an instance of a statement, with "
            f"{', '.join(_HEADER)}"
        )
    return Instance(fields=fields, **header)


def draw_instance(statement: Statement, seed: int, index: int, without: str = "") -> Instance:
    """Instance `index` of a statement, which does not depend on what else is drawn.

    It satisfies the statement's hypotheses, apart from the one named by `without`. A generator that
    breaks another one is an error, not a verdict.
    """
    name = f"{statement.id} without {without}" if without else statement.id
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    rng = np.random.default_rng([seed, index, int.from_bytes(digest, "little")])
    draw = statement.without[without] if without else statement.draw
    where = f"{name}, instance {index} of seed {seed}"
    try:
        fields = {key: _plain(np.asarray(value)) for key, value in draw(rng).items()}
    except Exception as error:
        raise StatementError(f"{where}: the generator raised {_describe(error)}") from error
    for key, value in fields.items():
        if np.asarray(value).dtype.kind not in _KINDS:
            raise StatementError(
                f"{where}: received {type(value).__name__} of {np.asarray(value).dtype} for the "
                f"field {key!r}, allowed is an array of numbers, a number or a string"
            )
    instance = Instance(statement.id, seed, index, without, fields)
    _require_hypotheses(statement, instance)
    return instance


def broken_hypotheses(statement: Statement, instance: Instance) -> list[str]:
    """The names of the hypotheses that an instance breaks."""
    return [
        name
        for name, holds in statement.hypotheses.items()
        if not bool(call_with_fields(holds, instance, f"the hypothesis {name!r}"))
    ]


def _require_hypotheses(statement: Statement, instance: Instance) -> None:
    broken = broken_hypotheses(statement, instance)
    intended = [instance.without] if instance.without else []
    if broken != intended:
        raise StatementError(
            f"{_origin(instance)}: the generator must break {intended or 'no hypothesis'}, but it "
            f"breaks {broken}"
        )


def call_with_fields(
    function: Callable[..., Any], instance: Instance, what: str, **constants: Any
) -> Any:
    """Call a check or a hypothesis with the fields that it names as its arguments."""
    named = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    if missing := [name for name in named if name not in instance.fields]:
        raise StatementError(
            f"{_origin(instance)}: {what} needs {missing}, the fields are {sorted(instance.fields)}"
        )
    try:
        return function(**{name: instance.fields[name] for name in named}, **constants)
    except Exception as error:
        raise StatementError(f"{_origin(instance)}: {what} raised {_describe(error)}") from error


def _origin(instance: Instance) -> str:
    without = f" without {instance.without}" if instance.without else ""
    return f"{instance.statement}{without}, instance {instance.index} of seed {instance.seed}"


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _plain(array: np.ndarray) -> Any:
    """An array without axes as a number or a string; any other as a read-only array.

    Drawn and saved instances then have the same types.
    """
    if array.ndim == 0:
        return array.item()
    array.flags.writeable = False
    return array
