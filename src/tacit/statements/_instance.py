"""Instances: drawn again from their seed, or kept in a file to be replayed."""

import hashlib
import inspect
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit._errors import UsageError
from tacit.statements._statement import Statement, StatementError

_HEADER = ("statement", "seed", "index", "without")
_FIELD = "field."
_KINDS = "biufcU"  # of NumPy's dtypes: what can be kept without pickle


@dataclass(frozen=True)
class Instance:
    """One instance of a statement: its fields, and where they come from.

    **Arguments:**

    - `statement`: the id.
    - `seed`, `index`: what it was drawn with.
    - `without`: the hypothesis that it breaks on purpose; empty for none.
    - `fields`: name → array, number or string.
    """

    statement: str
    seed: int
    index: int
    without: str
    fields: Mapping[str, Any]

    def save(self, path: Path) -> Path:
        """Write a .npz without pickled content, that `read_instance` reads back exactly."""
        content = {name: np.asarray(getattr(self, name)) for name in _HEADER}
        content |= {_FIELD + name: np.asarray(value) for name, value in self.fields.items()}
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            np.savez(file, allow_pickle=False, **content)
        return path


def read_instance(path: Path) -> Instance:
    """The instance that `save` wrote."""
    if not path.is_file():
        raise UsageError(f"replay: there is no file {str(path)!r}")
    try:
        if not zipfile.is_zipfile(path):  # NumPy would try to unpickle any other file
            raise ValueError("it is no zip archive")
        with np.load(path, allow_pickle=False) as archive:
            content = {name: _plain(archive[name]) for name in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, KeyError) as error:
        raise UsageError(
            f"replay: {str(path)!r} cannot be read as an instance (a .npz without pickled "
            f"content): {error}"
        ) from error
    header: dict[str, Any] = {name: content.get(name) for name in _HEADER}
    kinds = {"statement": str, "seed": int, "index": int, "without": str}
    if not all(type(header[name]) is kind for name, kind in kinds.items()):
        raise UsageError(
            f"replay: {str(path)!r} is no instance of a statement: it lacks {', '.join(_HEADER)}"
        )
    fields = {
        name.removeprefix(_FIELD): value
        for name, value in content.items()
        if name.startswith(_FIELD)
    }
    return Instance(fields=fields, **header)


def draw_instance(statement: Statement, seed: int, index: int, without: str = "") -> Instance:
    """Instance `index` of a statement, the same however many others are drawn."""
    name = f"{statement.id} without {without}" if without else statement.id
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    rng = np.random.default_rng([seed, index, int.from_bytes(digest, "little")])
    draw = statement.without[without] if without else statement.draw
    where = f"{name}, instance {index} of seed {seed}"
    try:
        drawn = draw(rng)
        fields = {key: _plain(np.asarray(value)) for key, value in drawn.items()}
    except Exception as error:
        raise StatementError(f"{where}: its generator raised {_words(error)}") from error
    for key, value in fields.items():
        if np.asarray(value).dtype.kind not in _KINDS:
            raise StatementError(
                f"{where}: the field {key!r} is {type(value).__name__} of "
                f"{np.asarray(value).dtype}; allowed are arrays of numbers, numbers and strings"
            )
    return Instance(statement.id, seed, index, without, fields)


def broken_hypotheses(statement: Statement, instance: Instance) -> list[str]:
    """The names of the hypotheses that an instance does not satisfy."""
    return [
        name
        for name, holds in statement.hypotheses.items()
        if not bool(call(holds, instance, f"the hypothesis {name!r}"))
    ]


def require_hypotheses(statement: Statement, instance: Instance) -> None:
    """A generator that breaks its own hypotheses is an error, not a verdict."""
    broken = broken_hypotheses(statement, instance)
    meant = [instance.without] if instance.without else []
    if broken != meant:
        raise StatementError(
            f"{_where(instance)}: the generator should break {meant or 'no hypothesis'}, "
            f"it breaks {broken}"
        )


def call(function: Callable[..., Any], instance: Instance, what: str, **constants: Any) -> Any:
    """Call a check or a hypothesis with the fields that it names."""
    named = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    if missing := [name for name in named if name not in instance.fields]:
        raise StatementError(
            f"{_where(instance)}: {what} needs {missing}, the fields are {sorted(instance.fields)}"
        )
    try:
        return function(**{name: instance.fields[name] for name in named}, **constants)
    except Exception as error:
        raise StatementError(f"{_where(instance)}: {what} raised {_words(error)}") from error


def _where(instance: Instance) -> str:
    without = f" without {instance.without}" if instance.without else ""
    return f"{instance.statement}{without}, instance {instance.index} of seed {instance.seed}"


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _plain(array: np.ndarray) -> Any:
    """A number or a string for an array without axes, so that both roads give the same."""
    return array.item() if array.ndim == 0 else array
