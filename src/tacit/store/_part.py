"""The file of one batch: arrays by name under a digest, as `tacit._tensors` has them.

Its arrays are the variables, with the cells along the leading axis; its metadata are three JSON
texts: `header` (schema, experiment, version), `cells` (the full parameters of each cell) and
`provenance`. Parts of 0.2.0 say the same in another form.
"""

import contextlib
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from tacit._errors import UsageError, shown
from tacit._files import FileKindError, open_regular
from tacit._tensors import MOST_BYTES, ArrayFile, encoded
from tacit.store._errors import ForeignPartError, PartError, StoreError
from tacit.store._key import canonical_text, cell_keys
from tacit.store._names import check_identity
from tacit.store._old_part import SUFFIX as OLD_SUFFIX
from tacit.store._old_part import OldPart
from tacit.store._variable import STORABLE

SCHEMA = 1
SUFFIX = ".safetensors"
SUFFIXES = (SUFFIX, OLD_SUFFIX)

_MOST_OBJECTS = 1_000_000  # in a text: a cell is one, an infinite parameter another

Layout = Mapping[str, tuple[np.dtype, tuple[int, ...]]]  # by name: dtype and the shape of a cell


@dataclass(frozen=True)
class Identity:
    """The experiment and version that a store belongs to; it holds no others."""

    experiment: str
    version: int
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        check_identity(self.experiment, self.version)

    def to_dict(self) -> dict[str, Any]:
        """As in `store.json` and in each part's header."""
        return {"experiment": self.experiment, "version": self.version, "schema": self.schema}

    def key(self, params: Mapping[str, Any]) -> str:
        """The address of a cell."""
        return self.keys([params])[0]

    def keys(
        self, cells: Iterable[Mapping[str, Any]], fixed: Mapping[str, Any] = MappingProxyType({})
    ) -> list[str]:
        """The addresses of cells, beside the parameters that they share."""
        return cell_keys(self.experiment, self.version, fixed, cells)


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if not name.isidentifier() or name.startswith("_"):
            raise ValueError(f"variable {name!r}: a name is an identifier without leading '_'")


def encode(
    identity: Identity,
    cells: Sequence[Mapping[str, Any]],
    arrays: Mapping[str, np.ndarray],
    provenance: Mapping[str, Any],
) -> bytes:
    """The bytes of a part, after checking that it can be read back."""
    _check_names(list(arrays))
    for name, array in arrays.items():
        if array.dtype.kind not in STORABLE:
            raise ValueError(f"variable {name!r} has dtype {array.dtype}, which is not storable")
        if array.ndim == 0 or len(array) != len(cells):
            raise ValueError(
                f"variable {name!r} has shape {array.shape}, its leading axis must be the "
                f"{len(cells)} cells"
            )
    texts = {
        "header": json.dumps(identity.to_dict()),
        "cells": canonical_text(list(cells)),
        "provenance": json.dumps(dict(provenance), allow_nan=False),
    }
    total = sum(array.nbytes for array in arrays.values())
    try:
        if total > MOST_BYTES - 2**26:
            raise PartError(f"{total:,} bytes are too many")
        data = encoded(arrays, texts)
        with ArrayFile(io.BytesIO(data), PartError):
            return data
    except (PartError, UsageError) as error:
        raise ValueError(
            f"a batch of {len(cells)} cells with {total:,} bytes is too large for one part "
            f"({error}): cut the grid into smaller batches, with `chunk`"
        ) from None


def digest_in(data: bytes) -> str:
    """The digest in the bytes of a part."""
    with ArrayFile(io.BytesIO(data), PartError) as part:
        return part.digest


@dataclass(frozen=True)
class Contents:
    """What a whole part holds: its cells' addresses in order, and the arrays of one cell.

    `code` is the fingerprint of what computed it, `digest` that of the file.
    """

    keys: tuple[str, ...]
    layout: Layout
    code: str | None
    digest: str


def check(path: Path, identity: Identity) -> Contents:
    """What is in a part, after checking all of it: a `PartError` says what is wrong.

    Every byte is checked, so that damage is found before the sweep decides what is missing, not
    when the figure is drawn; and what the bytes say, as whoever wrote them may have meant harm.
    """
    with _opened(path) as part:
        part.check()
        header = _json(part, "header")
        if header != identity.to_dict():
            named = header if isinstance(header, dict) else {}
            words = ", ".join(f"{name} {shown(named.get(name))}" for name in identity.to_dict())
            raise ForeignPartError(f"it belongs to {words}")
        origin = _checked_origin(_json(part, "provenance"))
        keys = _checked_keys(identity, _json(part, "cells"))
        for name, (dtype, shape) in part.layout.items():
            if not name.isidentifier() or name.startswith("_") or dtype.kind not in STORABLE:
                raise PartError(f"it has the array {shown(name)} of {dtype}, which parts have not")
            if shape[:1] != (len(keys),):
                raise PartError(f"{name!r} has the shape {shape} for {len(keys)} cells")
        layout = {name: (dtype, shape[1:]) for name, (dtype, shape) in part.layout.items()}
        return Contents(keys, layout, origin.get("code"), part.digest)


def _opened(path: Path) -> ArrayFile | OldPart:
    try:
        file = os.fdopen(open_regular(path), "rb", buffering=0)
    except FileKindError as error:
        raise PartError(str(error)) from None
    if path.suffix == OLD_SUFFIX:
        return OldPart(file, most=MOST_BYTES)
    return ArrayFile(file, PartError)


def _json(part: ArrayFile | OldPart, name: str) -> Any:
    text = part.metadata.get(name)
    if text is None:
        raise PartError(f"it has no {name}")
    try:
        if text.count("[") > _MOST_OBJECTS:
            raise ValueError("too many lists")
        return json.loads(text, object_pairs_hook=_few())
    except (ValueError, RecursionError):
        raise PartError(f"its {name} is not readable") from None


def _few() -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    """A maker of objects for a JSON reader that makes no more than a part has cells, and some."""
    count = 0

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal count
        count += 1
        if count > _MOST_OBJECTS:
            raise ValueError("too many objects")
        return dict(pairs)

    return made


def _checked_keys(identity: Identity, cells: Any) -> tuple[str, ...]:
    if not isinstance(cells, list) or not all(isinstance(cell, dict) and cell for cell in cells):
        raise PartError("its cells are not a list of parameters")
    try:
        keys = tuple(identity.keys(cells))
    except (ValueError, RecursionError, UnicodeError) as error:
        raise PartError(f"its cells cannot be: {str(error)!a:.100}") from None
    if not keys or len(set(keys)) != len(keys):
        raise PartError("it has no cells, or one of them twice")
    return keys


def _checked_origin(origin: Any) -> dict[str, Any]:
    """The provenance, if what is read of it later has the kinds that are expected there."""
    if not isinstance(origin, dict):
        raise PartError("its provenance is not readable")
    seconds = origin.get("seconds", 0.0)
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not number or not 0 <= seconds < 1e12:
        raise PartError("its provenance has seconds that are no time")
    for name, kind in (("rounding", str), ("code", str), ("versions", dict)):
        if not isinstance(origin.get(name) or kind(), kind):
            raise PartError(f"its provenance has no readable {name}")
    return origin


def read_arrays(path: Path, names: Sequence[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of a part (all of them, or the named ones that it has)."""
    with _reading(path) as part:
        wanted = part.layout if names is None else [n for n in names if n in part.layout]
        return {name: part.array(name) for name in wanted}


def read_provenance(path: Path) -> dict[str, Any]:
    """The provenance of a part."""
    with _reading(path) as part:
        return _checked_origin(_json(part, "provenance"))


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[ArrayFile | OldPart]:
    """A part that was whole when it was taken in; a `StoreError` if it is not any more."""
    try:
        with _opened(path) as part:
            yield part
    except (PartError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StoreError(
            f"{path} can no longer be read ({reason}): run the command again"
        ) from error
