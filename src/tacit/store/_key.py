"""Content addresses: a cell is known by its experiment, the version and all its parameters."""

import functools
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tacit._doors import door, instance, text, whole

_SCALARS = (bool, int, float, str)
# Made once: `json.dumps` would make one for each of many thousand cells.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical(value: Any) -> Any:
    """`value` in the JSON form that addresses are made from.

    Equal values have one form: 2 and 2.0 (also NumPy's) are one number, a tuple is a list, the
    order of a mapping does not count. A float is written by its shortest representation.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            raise ValueError("a NaN cannot be the parameter of a cell: it equals nothing")
        if math.isinf(value):
            return {"__float__": repr(value)}
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        form = {str(key): canonical(value[key]) for key in value}
        if len(form) != len(value) or [k for k in value if k is None or k is True or k is False]:
            raise ValueError(
                f"a mapping with the keys {[*value]!r} cannot be the parameter of a cell: another "
                "one has the same texts for keys; use texts"
            )
        return form
    if isinstance(value, np.ndarray):
        return canonical(value.tolist())
    if isinstance(value, list | tuple):
        return [canonical(item) for item in value]
    raise ValueError(
        f"a {type(value).__name__} cannot be the parameter of a cell ({value!r}): "
        "use numbers, strings, booleans, None, and lists or mappings of them"
    )


def check_given(value: Any) -> None:
    """Refuse, of what a user gives, a mapping that stands for infinity in the JSON form."""
    if isinstance(value, Mapping) and value.keys() == {"__float__"}:
        raise ValueError(
            f"the mapping {dict(value)!r} cannot be the parameter of a cell: infinity is written so"
        )
    for inner in value.values() if isinstance(value, Mapping) else value:
        if inner.__class__ not in _SCALARS and isinstance(inner, Mapping | list | tuple):
            check_given(inner)


def canonical_text(value: Any) -> str:
    """The canonical form as text, mappings in sorted order."""
    return _ENCODER.encode(canonical(value))


@door(experiment=text, version=whole(), params=instance(Mapping))
def cell_key(experiment: str, version: int, params: Mapping[str, Any]) -> str:
    """The address of a cell: a hash of the experiment, its version and the cell's parameters."""
    check_given(params)
    return _address(_owner_text(experiment, version), canonical(params))


def cell_keys(
    experiment: str,
    version: int,
    fixed: Mapping[str, Any],
    cells: Iterable[Mapping[str, Any]],
) -> list[str]:
    """The addresses of cells that share their `fixed` parameters, whose form is found once."""
    owner, shared = _owner_text(experiment, version), canonical(fixed)
    return [_address(owner, {**shared, **canonical(cell)}) for cell in cells]


def _address(owner: str, form: Any) -> str:
    text = f"{owner}{_ENCODER.encode(form)}"
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


@functools.lru_cache(maxsize=64)
def _owner_text(experiment: str, version: int) -> str:
    return canonical_text([experiment, version])
