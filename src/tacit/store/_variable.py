"""What an experiment says of each of its arrays, and the check that a cell kept to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_STORABLE = "biufcU"


@dataclass(frozen=True)
class Variable:
    """One stored quantity.

    **Arguments:**

    - `dims`: its dimensions beyond the grid's, for example `("horizon",)`; `()` for one number a
      cell.
    - `units`, `long_name`: for axes and readers; a pure number has units "1".
    - `dtype`: `"float64"`, `"int64"`, `"bool"`, `"complex128"`, …, or `"str"`.
    """

    dims: tuple[str, ...] = ()
    units: str = "1"
    long_name: str = ""
    dtype: str = "float64"

    def __post_init__(self) -> None:
        if isinstance(self.dims, str) or len(set(self.dims)) != len(self.dims):
            raise ValueError(f"dims: received {self.dims!r}, it must be a tuple of distinct names")
        if np.dtype(self.dtype).kind not in _STORABLE:
            raise ValueError(f"dtype: received {self.dtype!r}, use numbers, booleans or 'str'")

    @property
    def fill(self) -> Any:
        """What stands where no cell is stored: NaN, "", False, or -1 (0 if unsigned)."""
        kind = np.dtype(self.dtype).kind
        return {"U": "", "b": False, "i": -1, "u": 0}.get(kind, np.nan)

    def convert(self, name: str, value: Any) -> np.ndarray:
        """`value` in the declared dtype, if that loses nothing but rounding."""
        array = np.asarray(value)
        target = np.dtype(self.dtype)
        if target.kind == "U":
            if array.dtype.kind == "O" and all(isinstance(item, str) for item in array.flat):
                array = array.astype(str)
            if array.dtype.kind == "U":
                return array
        elif np.can_cast(array.dtype, target, casting="same_kind"):
            return array.astype(target)
        raise ValueError(f"variable {name!r} has dtype {array.dtype}, declared is {self.dtype}")


def checked_arrays(
    arrays: Mapping[str, Any],
    count: int,
    variables: Mapping[str, Variable],
    coords: Mapping[str, Sequence[Any] | np.ndarray],
) -> dict[str, np.ndarray]:
    """The arrays of a batch of `count` cells, as declared by `variables` and `coords`, or an error.

    Every declared variable must be there and no other; each has the shape (cells, *its dims).
    """
    missing, extra = sorted(variables.keys() - arrays), sorted(arrays.keys() - variables)
    if missing or extra:
        parts = [f"lack {missing}"] * bool(missing) + [f"have undeclared {extra}"] * bool(extra)
        raise ValueError(f"the cell's arrays {' and '.join(parts)}; declared are {[*variables]}")
    checked = {}
    for name, variable in variables.items():
        unknown = [dim for dim in variable.dims if dim not in coords]
        if unknown:
            raise ValueError(f"variable {name!r} has dimensions {unknown} without coordinates")
        array = variable.convert(name, arrays[name])
        expected = (count, *(len(coords[dim]) for dim in variable.dims))
        if array.shape != expected:
            words = ", ".join(("cells", *variable.dims))
            raise ValueError(
                f"variable {name!r} has shape {array.shape}, declared is ({words}) = {expected}"
            )
        checked[name] = array
    return checked
