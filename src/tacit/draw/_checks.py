"""The checks that every record makes of its arguments: what was received, and what to pass."""

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit._errors import shown


def checked_array(owner: str, name: str, value: ArrayLike, *, ndim: int = 1) -> NDArray[np.float64]:
    """A read-only float64 copy of `value`, which must be real and have `ndim` dimensions."""
    try:
        raw = np.asarray(value)
    except ValueError:  # ragged
        raw = np.asarray("ragged")
    if raw.dtype.kind not in "biuf":
        raise ValueError(
            f"{owner}.{name}: received dtype {raw.dtype}, it must hold real numbers; convert it "
            "(for complex values pass their real part or modulus)"
        )
    if raw.ndim != ndim:
        raise ValueError(
            f"{owner}.{name}: received shape {raw.shape}, it must have {ndim} dimension(s); "
            "reshape it, or make one mark for each row"
        )
    array = np.array(raw, dtype=np.float64)
    array.setflags(write=False)
    return array


def checked_number(owner: str, name: str, value: SupportsFloat) -> float:
    """`value` as a finite float."""
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{owner}.{name}: received {shown(value)}, it must be a number") from None
    if not np.isfinite(number):
        raise ValueError(
            f"{owner}.{name}: received {number}, it must be finite; leave the mark out instead"
        )
    return number


def checked_texts(
    owner: str, name: str, value: Sequence[str] | None, length: int
) -> tuple[str, ...] | None:
    """Texts, one for each of `length` points; None stays None."""
    if value is None:
        return None
    texts = tuple(map(str, value))
    if isinstance(value, str) or len(texts) != length:
        raise ValueError(
            f"{owner}.{name}: received {value!r}, it must be a text for each of {length} points"
        )
    return texts


def check_positive(owner: str, name: str, value: SupportsFloat) -> None:
    """Refuse a size or a width that is not above zero."""
    if not 0 < checked_number(owner, name, value) <= 1e6:
        raise ValueError(
            f"{owner}.{name}: received {value}, it must be above 0 and at most a million"
        )


def check_fraction(owner: str, name: str, value: SupportsFloat) -> None:
    """Refuse a value outside [0, 1]."""
    if not 0 <= checked_number(owner, name, value) <= 1:
        raise ValueError(f"{owner}.{name}: received {value}, it must lie in [0, 1]; rescale it")


def check_choice(owner: str, name: str, value: Any, allowed: Collection[Any]) -> None:
    """Refuse a value that is not among `allowed`."""
    if not isinstance(value, Hashable) or value not in allowed:
        options = ", ".join(repr(option) for option in allowed)
        raise ValueError(f"{owner}.{name}: received {shown(value)}, it must be one of {options}")


def check_words(owner: str, **words: object) -> None:
    """Refuse what is neither text nor None."""
    for name, value in words.items():
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{owner}.{name}: received {shown(value)}, it must be text")


def check_listed(owner: str, name: str, value: object) -> None:
    """Refuse what is neither a sequence, a mapping nor None."""
    listed = isinstance(value, Sequence | Mapping | np.ndarray) and not isinstance(value, str)
    if value is not None and not listed:
        raise ValueError(f"{owner}.{name}: received {shown(value)}, it must be a sequence")


def check_lengths(owner: str, **arrays: NDArray[np.float64]) -> None:
    """Refuse arrays whose lengths differ."""
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(
            f"{owner}: received arrays that differ in length, {told}; pass arrays of one length"
        )


def check_increasing(owner: str, name: str, values: NDArray[np.float64], *, strictly: bool) -> None:
    """Refuse positions that are not finite and in ascending order."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"{owner}.{name}: received {values}, it must be finite; drop those positions"
        )
    steps = np.diff(values)
    if (steps <= 0).any() if strictly else (steps < 0).any():
        raise ValueError(
            f"{owner}.{name}: received {values}, it must be in ascending order; sort it first"
        )
