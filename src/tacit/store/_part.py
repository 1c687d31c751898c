"""The file of one batch: an uncompressed `.npz` that needs no pickle.

Members: each variable's array with the cells along its leading axis, and three JSON texts as
UTF-8 bytes: `_header` (schema, experiment, version), `_cells` (the full parameters of each cell)
and `_provenance`. The archive's comment is a digest of everything before it.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.store._errors import PartError
from tacit.store._key import canonical_text, cell_key
from tacit.store._names import check_identity

SCHEMA = 1

_HEADER, _CELLS, _PROVENANCE = "_header", "_cells", "_provenance"
_STORABLE = "biufcU"
# The archive's comment: a digest of all bytes before it. The archive's own CRCs cover the members
# but not the directory: one flipped bit there renames a variable.
_DIGEST_BYTES = 32


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
        return cell_key(self.experiment, self.version, params)


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
        if array.dtype.kind not in _STORABLE:
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
    buffer = io.BytesIO()
    # By hand, as numpy.savez cannot take a variable called "file"; ZipInfo has no clock in it.
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.comment = bytes(2 * _DIGEST_BYTES)
        for name, array in {**members, **arrays}.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    body = buffer.getvalue()[: -2 * _DIGEST_BYTES]
    return body + _digest(body)


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST_BYTES).hexdigest().encode()


def _json(archive: Any, member: str) -> Any:
    return json.loads(archive[member].tobytes().decode())


def read_keys(path: Path, identity: Identity) -> list[str]:
    """The addresses of a part's cells, after checking all of it: a `PartError` says what is wrong.

    Every byte is checked, so that damage is found before the sweep decides what is missing, not
    when the figure is drawn.
    """
    try:
        data = path.read_bytes()
    except IsADirectoryError:
        raise PartError("it is a folder") from None
    body, digest = data[: -2 * _DIGEST_BYTES], data[-2 * _DIGEST_BYTES :]
    if digest != _digest(body):
        raise PartError("it is damaged, or not one of tacit's: its digest does not match")
    with np.load(io.BytesIO(data), allow_pickle=False) as part:
        header = _json(part, _HEADER)
        if header != identity.to_dict():
            words = ", ".join(f"{name} {header.get(name)}" for name in identity.to_dict())
            raise PartError(f"it belongs to {words}")
        return [identity.key(cell) for cell in _json(part, _CELLS)]


def read_arrays(path: Path, names: Sequence[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of a part (all of them, or the named ones that it has)."""
    with np.load(path, allow_pickle=False) as part:
        wanted = [n for n in part.files if not n.startswith("_")] if names is None else names
        return {name: part[name] for name in wanted if name in part.files}


def read_provenance(path: Path) -> dict[str, Any]:
    """The provenance of a part."""
    with np.load(path, allow_pickle=False) as part:
        return _json(part, _PROVENANCE)
