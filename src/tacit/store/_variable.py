"""What an experiment says of each of its arrays, and the check that a cell kept to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from tacit._doors import door, instance, text, whole

STORABLE = "biufcU"  # kinds of dtypes


@dataclass(frozen=True, init=False)
class Variable:
    """One stored quantity: `Variable("error on the tail", "iterate", "horizon")`.

    **Arguments:**

    - `long_name`: what it is, for axes and readers.
    - `dims`: its dimensions beyond the grid's; none for one number per cell.
    - `units`: "1" for a pure number.
    - `dtype`: `"float64"`, `"int64"`, `"bool"`, `"complex128"`, …, or `"str"`.
    """

    long_name: str
    dims: tuple[str, ...]
    units: str
    dtype: str

    def __init__(
        self, long_name: str, *dims: str, units: str = "1", dtype: str = "float64"
    ) -> None:
        text("long_name", long_name)
        text("units", units)
        if any(not isinstance(dim, str) for dim in dims) or len(set(dims)) != len(dims):
            raise ValueError(f"dims: received {dims!r}, give distinct names, one argument each")
        try:
            kind = np.dtype(dtype).kind if isinstance(dtype, str | type) and dtype else "O"
        except TypeError:
            kind = "O"
        if kind not in STORABLE:
            raise ValueError(f"dtype: received {dtype!r}, use numbers, booleans or 'str'")
        for name, value in (("long_name", long_name), ("dims", dims), ("units", units)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "dtype", dtype)

    def with_dtype(self, dtype: str) -> "Variable":
        """The same quantity in another dtype."""
        return Variable(self.long_name, *self.dims, units=self.units, dtype=dtype)

    @property
    def fill(self) -> Any:
        """What stands where no cell is stored: NaN, "", False, or -1 (0 if unsigned)."""
        kind = np.dtype(self.dtype).kind
        return {"U": "", "b": False, "i": -1, "u": 0}.get(kind, np.nan)

    @door(answer="any", name=text)
    def convert(self, name: str, value: Any) -> np.ndarray:
        """`value` in the declared dtype, if that loses nothing but the rounding of fractions."""
        array = plain_array(name, value)
        target = np.dtype(self.dtype)
        if target.kind == "U":
            if array.dtype.kind == "O" and all(isinstance(item, str) for item in array.flat):
                array = array.astype(str)
            if array.dtype.kind == "U":
                return array
        elif np.can_cast(array.dtype, target, casting="same_kind"):
            lost = _lost(array, target)
            if lost is not None:
                raise ValueError(f"variable {name!r} has the value {lost}, beyond {self.dtype}")
            return array.astype(target)
        raise ValueError(f"variable {name!r} has dtype {array.dtype}, declared is {self.dtype}")


def plain_array(name: str, value: Any) -> np.ndarray:
    """What a cell gives as an array, if that drops nothing of it: no mask, label or character."""
    kind = type(value)
    labelled = kind.__module__.partition(".")[0] in ("pandas", "xarray")
    if labelled or isinstance(value, np.ma.MaskedArray):
        raise ValueError(
            f"variable {name!r} is a {kind.__name__}, whose mask or labels would be dropped; give "
            "an array, in the order of the batch's cells and with NaN for what is not there"
        )
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"variable {name!r} is no array: {error}") from error
    if array.dtype.kind in "OU":
        texts = array if array is value else np.asarray(value, object)  # with NULs at their ends
        words = [text for text in texts.flat if isinstance(text, str)]
        together = "".join(words)
        if "\0" in together and any(text.endswith("\0") for text in words):
            raise ValueError(
                f"variable {name!r} has a text that ends with a NUL, which is not kept"
            )
        try:
            together.encode()
        except UnicodeEncodeError as error:
            place = together[max(0, error.start - 20) : error.end]
            raise ValueError(
                f"variable {name!r} has half a character in a text, {place!a}: it could not be "
                'read again; give text.encode(errors="replace").decode()'
            ) from None
    return array


def _lost(array: np.ndarray, target: np.dtype) -> Any:
    """A finite value that `target` would turn into another integer, infinity or zero; else None."""
    if array.dtype == target or not array.size or target.kind not in "iufc":
        return None
    if target.kind in "iu":
        limits = np.iinfo(target)
        ends = (int(array.min()), int(array.max()))
        return next((end for end in ends if not limits.min <= end <= limits.max), None)
    with np.errstate(over="ignore", under="ignore"):
        found = array.astype(target)
    if array.dtype.kind in "iu":  # whole numbers are counted, and not measured
        most = 2 ** (np.finfo(target).nmant + 1)
        large = [int(value) for value in array[(array > most) | (array < -most)].flat]
        return next((value for value in large if int(target.type(value).real) != value), None)
    lost = np.isfinite(array) & (~np.isfinite(found) | ((found == 0) & (array != 0)))
    return array[lost][0] if lost.any() else None


@door(
    answer="any",
    arrays=instance(Mapping),
    count=whole(),
    variables=instance(Mapping),
    coords=instance(Mapping),
)
def checked_arrays(
    arrays: Mapping[str, Any],
    count: int,
    variables: Mapping[str, Variable] | None = None,
    coords: Mapping[str, Sequence[Any] | np.ndarray] = MappingProxyType({}),
) -> dict[str, np.ndarray]:
    """The arrays of a batch of `count` cells, as declared by `variables` and `coords`, or an error.

    Every declared variable must be there and no other; each has the shape (cells, *its dims). If
    `variables` is None, nothing is declared.
    """
    if variables is None:
        return {name: plain_array(name, array) for name, array in arrays.items()}
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
