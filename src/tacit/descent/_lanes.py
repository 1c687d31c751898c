"""Many models of one shape as one pytree: every array has a leading axis, the lane."""

from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tacit._types import precise, x64_for

T = TypeVar("T")


class Lanes(eqx.Module, Generic[T]):
    """A pytree whose arrays all carry a leading lane axis: `count` models, problems or keys.

    `Lanes.stack([a, b, c])` makes one from single objects, `Lanes(tree)` marks a tree that is
    stacked already (what `eqx.filter_vmap` returns). `lanes[i]` is the i-th single object.
    """

    tree: T

    def __check_init__(self) -> None:
        data = jax.tree.leaves(eqx.filter(self.tree, _is_data))
        shapes = {tuple(array.shape) for array in data}
        if not shapes:
            raise ValueError("tree holds no arrays, so it has no lane axis; pass it without Lanes")
        if () in shapes or len({shape[0] for shape in shapes}) != 1:
            raise ValueError(
                f"tree needs one leading lane axis on every array, got shapes {sorted(shapes)}; "
                "stack the single objects with Lanes.stack"
            )

    @staticmethod
    def stack(items: Sequence[T]) -> "Lanes[T]":
        """Stack single objects of the same structure into lanes."""
        if not items:
            raise ValueError("items is empty; Lanes.stack needs at least one object")
        structures = {str(jax.tree.structure(item)) for item in items}
        if len(structures) != 1:
            raise ValueError(
                f"items have {len(structures)} different structures; lanes must share one structure"
            )

        def merge(*leaves: Any) -> Any:
            if not _is_data(leaves[0]):
                return leaves[0]
            shapes = {np.shape(leaf) for leaf in leaves}
            if len(shapes) != 1:
                raise ValueError(f"items have arrays of different shapes {sorted(shapes)}")
            on_host = all(isinstance(leaf, np.ndarray) for leaf in leaves)
            return np.stack(leaves) if on_host else jnp.stack(leaves)

        with x64_for(list(items)):
            return Lanes(jax.tree.map(merge, *items))

    @property
    def count(self) -> int:
        """The number of lanes."""
        return jax.tree.leaves(eqx.filter(self.tree, _is_data))[0].shape[0]

    def __len__(self) -> int:
        return self.count

    @precise
    def __getitem__(self, index: int) -> T:
        if not -self.count <= index < self.count:
            raise IndexError(f"lane {index} of {self.count}")
        return jax.tree.map(lambda leaf: leaf[index] if _is_data(leaf) else leaf, self.tree)

    @precise
    def take(self, rows: np.ndarray) -> "Lanes[T]":
        """Some lanes, in the order of `rows`; a row may come more than once."""

        def pick(leaf: Any) -> Any:
            if not _is_data(leaf):
                return leaf
            picked = np.asarray(leaf)[rows]  # on the host: nothing is compiled for it
            return picked if isinstance(leaf, np.ndarray) else jax.device_put(picked)

        return Lanes(jax.tree.map(pick, self.tree))

    @precise
    def replaced(self, rows: np.ndarray, lanes: "Lanes[T]") -> "Lanes[T]":
        """The lanes with those at `rows` replaced by others, in that order."""

        def put(old: Any, new: Any) -> Any:
            if not _is_data(old):
                return old
            merged = np.array(old)
            merged[rows] = np.asarray(new)
            return merged if isinstance(old, np.ndarray) else jax.device_put(merged)

        return Lanes(jax.tree.map(put, self.tree, lanes.tree))

    def __iter__(self) -> Iterator[T]:
        return (self[i] for i in range(self.count))


def _is_data(leaf: Any) -> bool:
    return eqx.is_array(leaf) or isinstance(leaf, np.ndarray)
