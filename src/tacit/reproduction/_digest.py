"""The digest of stored results: a few numbers for each variable, by which two runs are compared."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.claims import CHANGE, Movement, same

if TYPE_CHECKING:
    import xarray

# Sizes are told apart between these two. Rounding errors of 1e-12 or less move the logarithm of
# 1e-9 + |x| by 1e-3 at most; beyond 1e9 a run has diverged, and its digits mean nothing.
_SMALL, _LARGE = 1e-9, 1e9
_GOLDEN = (5**0.5 - 1) / 2

# On another machine a descent that amplifies rounding (Adam with steps at the edge of stability,
# 15,000 of them) ends elsewhere in every fifth cell; quartiles were seen to move by one percent.
_OTHER_MACHINE = 0.05

Digest = dict[str, dict[str, Any]]


def digest_of(dataset: "xarray.Dataset", names: Iterable[str]) -> Digest:
    """The named variables in a few numbers each.

    Numbers: how many there are, how many are finite, their quartiles, the `size` (the geometric
    mean of 1e-9 + |x|), and the same mean `by_place`, where each value has a weight of its own.
    Words: how many there are of each.

    Rounding on another machine moves every value a little, and here and there one by a lot: that
    moves these numbers by no more than the typical value moves. A cause moves many values the same
    way, and so the quartiles and the size; values that changed places move the mean by place alone.
    """
    return {name: _summary(dataset[name].values) for name in names}


def _summary(values: np.ndarray) -> dict[str, Any]:
    if values.dtype.kind not in "biufc":
        words, counts = np.unique(values.astype(str), return_counts=True)
        return {str(word): int(count) for word, count in zip(words, counts, strict=True)}
    if values.dtype.kind == "c":
        values = np.stack([values.real, values.imag], axis=-1)
    flat = values.astype(np.float64).ravel()
    finite = np.isfinite(flat)
    found: dict[str, Any] = {"values": flat.size, "finite": int(finite.sum())}
    if not found["finite"]:
        return found
    kept = flat[finite]
    sizes = np.log(_SMALL + np.minimum(np.abs(kept), _LARGE))
    # Multiples of the golden ratio, modulo one: weights that no pattern in the grid repeats.
    weights = (_GOLDEN * np.arange(1, flat.size + 1) % 1)[finite]
    low, median, high = np.quantile(kept, [0.25, 0.5, 0.75])
    numbers = {
        "lower_quartile": low,
        "median": median,
        "upper_quartile": high,
        "size": np.exp(sizes.mean()),
        "by_place": np.exp(np.average(sizes, weights=weights)),
    }
    return found | {name: float(f"{number:.7g}") for name, number in numbers.items()}


def digest_movements(
    now: Mapping[str, Mapping[str, Any]],
    was: Mapping[str, Mapping[str, Any]],
    *,
    same_machine: bool = True,
) -> list[Movement]:
    """What moved from one digest to another, one movement for each variable.

    On one kind of machine counts are equal, and numbers are the same to 1e-3; on another, both are
    so to 5 percent.
    """
    change = CHANGE if same_machine else _OTHER_MACHINE
    moved = []
    for name in [*now, *(name for name in was if name not in now)]:
        if name not in was:
            sentence = "not stored in the reference"
        elif name not in now:
            sentence = "stored in the reference, no longer now"
        else:
            sentence = _difference(now[name], was[name], change)
        if sentence:
            moved.append(Movement(name, "outcomes" if name == "outcome" else "digest", sentence))
    return moved


def _difference(now: Mapping[str, Any], was: Mapping[str, Any], change: float) -> str:
    words, total = [], sum(count for count in was.values() if isinstance(count, int))
    for name in [*was, *(name for name in now if name not in was)]:
        old, new = was.get(name, 0), now.get(name, 0)
        if isinstance(old, int) and isinstance(new, int):
            moved = abs(new - old) > (change * total if change > CHANGE else 0)
        else:
            moved = not same(new, old, change=change)
        if moved:
            words.append(f"{name} {_written(old)} became {_written(new)}")
    return ", ".join(words)


def _written(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:.5g}"
