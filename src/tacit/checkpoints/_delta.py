"""What training changed: AFTER − BEFORE, tensor by tensor."""

from collections.abc import Iterator, Mapping
from typing import Any, final

import numpy as np

from tacit._errors import shown
from tacit._tensors import Spec, blocks, name_of
from tacit.checkpoints._checkpoint import Checkpoint, opened
from tacit.checkpoints._dtypes import is_analysed, working
from tacit.checkpoints._files import CheckpointError

_LISTED = 8  # mismatches that a sentence names


@final
class Delta(Mapping[str, np.ndarray]):
    """The change of each tensor that two checkpoints share, computed when it is asked for.

    `delta["name"]` is AFTER − BEFORE in float32 (float64 for float64 tensors), in the tensor's
    shape. `specs` has shapes and dtypes; `mismatches` says in words what the two do not share:
    names that one lacks, other shapes, other dtypes.

    Its names are the tensors of 16-bit floats or more that both have; `others` has the names of
    integers, booleans and 8-bit floats, whose change has no spectrum here.
    """

    def __init__(self, before: Checkpoint, after: Checkpoint) -> None:
        self.before, self.after = before, after
        self.mismatches = tuple(_mismatches(before.specs, after.specs))
        self.specs: dict[str, Spec] = {
            name: spec
            for name, spec in after.specs.items()
            if name in before.specs and _agree(before.specs[name], spec)
        }
        self.others = tuple(n for n, spec in self.specs.items() if not is_analysed(spec.dtype))
        others = set(self.others)
        # In their order, and found at once, were they a hundred thousand.
        self._names = dict.fromkeys(name for name in self.specs if name not in others)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._names:
            raise KeyError(name)
        spec = self.specs[name]
        change = np.empty(spec.size, working(spec.dtype))
        for start, stop in blocks(spec.size):
            self._part(name, start, stop, change[start:stop])
        return change.reshape(spec.shape)

    def __contains__(self, name: object) -> bool:
        return name in self._names  # Mapping's own would compute the change

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def is_changed(self, name: str) -> bool:
        """Whether a bit of a tensor differs; any tensor that both have."""
        size = self.specs[name].size
        return any(
            self.before.numbers(name, start, stop).tobytes()
            != self.after.numbers(name, start, stop).tobytes()
            for start, stop in blocks(size)
        )

    def refuse_mismatches(self) -> None:
        """One sentence that lists what the two checkpoints do not share, if there is anything."""
        if self.mismatches:
            raise CheckpointError(
                f"{self.before.name} and {self.after.name} do not match: {listed(self.mismatches)}"
            )

    def close(self) -> None:
        """Close both checkpoints."""
        self.before.close()
        self.after.close()

    def __enter__(self) -> "Delta":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        words = f"; {len(self.mismatches)} mismatches" if self.mismatches else ""
        return f"Delta of {len(self)} tensors, {self.before.name} to {self.after.name}{words}"

    def _part(self, name: str, start: int, stop: int, out: np.ndarray) -> None:
        out[...] = self.after.numbers(name, start, stop)
        with np.errstate(invalid="ignore", over="ignore"):  # what is not finite stays so
            out -= self.before.numbers(name, start, stop).astype(out.dtype)


def delta(before: Any, after: Any) -> Delta:
    """What training changed, from two checkpoints: paths, or arrays by name.

    Nothing is read before it is asked for: `delta(a, b)["name"]` is one tensor's change.
    """
    start = opened(before, "before")
    try:
        end = opened(after, "after")
    except BaseException:
        start.close()
        raise
    made = Delta(start, end)
    if not made.specs:
        made.close()
        raise CheckpointError(
            f"{start.name} and {end.name} share no tensor: "
            f"{listed(made.mismatches) or 'both are empty'}"
        )
    return made


def listed(words: tuple[str, ...]) -> str:
    """The first few, and how many more there are."""
    more = len(words) - _LISTED
    return "; ".join(words[:_LISTED]) + (f"; and {more:,} more" if more > 0 else "")


def _agree(one: Spec, other: Spec) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype


def _mismatches(before: Mapping[str, Spec], after: Mapping[str, Spec]) -> Iterator[str]:
    for name, old in before.items():
        new = after.get(name)
        if new is None:
            yield f"{shown(name)} is in the first only"
        elif new.shape != old.shape:
            yield f"{shown(name)} has the shapes {list(old.shape)} and {list(new.shape)}"
        elif new.dtype != old.dtype:
            yield f"{shown(name)} has the dtypes {name_of(old.dtype)} and {name_of(new.dtype)}"
    for name in after:
        if name not in before:
            yield f"{shown(name)} is in the second only"
