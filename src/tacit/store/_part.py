"""The file of one batch: an uncompressed `.npz` that needs no pickle.

Members: each variable's array with the cells along its leading axis, and three JSON texts as
UTF-8 bytes: `_header` (schema, experiment, version), `_cells` (the full parameters of each cell)
and `_provenance`. The archive's comment is a digest of everything before it.
"""

import contextlib
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from tacit._errors import shown
from tacit.store._archive import DIGEST_BYTES, MOST_BYTES, Archive, Member
from tacit.store._errors import ForeignPartError, PartError, StoreError
from tacit.store._key import canonical_text, cell_keys
from tacit.store._names import check_identity
from tacit.store._variable import STORABLE

SCHEMA = 1

_HEADER, _CELLS, _PROVENANCE = "_header", "_cells", "_provenance"
# The archive's comment is a digest of all bytes before it. The archive's own CRCs cover the members
# but not the directory: one flipped bit there renames a variable.
_MOST_TEXT = 16 * 2**20  # of a JSON text; of the cells of a batch, most of all
_MOST_OBJECTS = 1_000_000  # in it: a cell is one, an infinite parameter another

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


def _text(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), dtype=np.uint8)


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
    members = {
        _HEADER: _text(json.dumps(identity.to_dict())),
        _CELLS: _text(canonical_text(list(cells))),
        _PROVENANCE: _text(json.dumps(dict(provenance), allow_nan=False)),
    }
    texts = max(member.nbytes for member in members.values())
    total = sum(array.nbytes for array in arrays.values()) + texts
    if texts > _MOST_TEXT or total > MOST_BYTES - 2**20:
        raise ValueError(
            f"a batch of {len(cells)} cells with {total:,} bytes is too large for one part: cut "
            "the grid into smaller batches, with `chunk`"
        )
    buffer = io.BytesIO()
    # By hand, as numpy.savez cannot take a variable called "file"; ZipInfo has no clock in it.
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.comment = bytes(2 * DIGEST_BYTES)
        for name, array in {**members, **arrays}.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    body = buffer.getvalue()[: -2 * DIGEST_BYTES]
    return body + _digest(body)


def digest_in(data: bytes) -> str:
    """The digest that the bytes of a part end with."""
    return data[-2 * DIGEST_BYTES :].decode()


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=DIGEST_BYTES).hexdigest().encode()


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
    with Archive(path) as archive:
        digest = archive.check_digest()
        members = archive.members()
        header = _json(archive, members, _HEADER)
        if header != identity.to_dict():
            named = header if isinstance(header, dict) else {}
            words = ", ".join(f"{name} {shown(named.get(name))}" for name in identity.to_dict())
            raise ForeignPartError(f"it belongs to {words}")
        arrays = {name: member for name, member in members.items() if not name.startswith("_")}
        if len(arrays) + 3 != len(members):
            raise PartError("it has members that parts do not have")
        origin = _checked_origin(_json(archive, members, _PROVENANCE))
        keys = _checked_keys(identity, _json(archive, members, _CELLS))
        for name, member in arrays.items():
            if member.shape[:1] != (len(keys),):
                raise PartError(f"{name!r} has the shape {member.shape} for {len(keys)} cells")
            if member.dtype.kind == "U":
                archive.check_characters(name, member)
        layout = {name: (member.dtype, member.shape[1:]) for name, member in arrays.items()}
        return Contents(keys, layout, origin.get("code"), digest)


def _json(archive: Archive, members: Mapping[str, Member], name: str) -> Any:
    member = members.get(name)
    if member is None or member.dtype != np.uint8 or len(member.shape) != 1:
        raise PartError(f"it has no {name.removeprefix('_')}")
    if member.size > _MOST_TEXT:
        raise PartError(f"its {name.removeprefix('_')} takes {member.size:,} bytes")
    text = archive.read(member).tobytes()
    try:
        if text.count(b"[") > _MOST_OBJECTS:
            raise ValueError("too many lists")
        return json.loads(text.decode(), object_pairs_hook=_few())
    except (ValueError, RecursionError):
        raise PartError(f"its {name.removeprefix('_')} is not readable") from None


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
    with _reading(path) as archive:
        members = archive.members()
        wanted = [n for n in members if not n.startswith("_")] if names is None else names
        return {name: archive.read(members[name]) for name in wanted if name in members}


def read_provenance(path: Path) -> dict[str, Any]:
    """The provenance of a part."""
    with _reading(path) as archive:
        return _checked_origin(_json(archive, archive.members(), _PROVENANCE))


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[Archive]:
    """A part that was whole when it was taken in; a `StoreError` if it is not any more."""
    try:
        with Archive(path) as archive:
            yield archive
    except (PartError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StoreError(
            f"{path} can no longer be read ({reason}): run the command again"
        ) from error
