"""Many models of one shape as one pytree: every array has a leading axis, the lane.

Keys for lanes depend on each lane alone, so that its draws do not depend on those beside it.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeAlias, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tacit._doors import MOST, check_fields, door, each, whole
from tacit._types import PRNGKeyArray, precise, x64_for
from tacit.descent._by_value import value_key

T = TypeVar("T")
Label: TypeAlias = int | float | str | bool


class Lanes(eqx.Module, Generic[T]):
    """A pytree whose arrays all carry a leading lane axis: `count` models, problems or keys.

    `Lanes.stack([a, b, c])` makes one from single objects, `Lanes(tree)` marks a tree that is
    stacked already (what `eqx.filter_vmap` returns). `lanes[i]` is the i-th single object.
    `Lanes.grid` makes one object for each point of a grid and remembers the grid's labels.
    """

    tree: T
    axes: tuple[tuple[str, tuple[Label, ...]], ...] = eqx.field(static=True, default=())

    def __check_init__(self) -> None:
        check_fields(self, axes=each(each(), least=0))
        data = jax.tree.leaves(eqx.filter(self.tree, is_array))
        shapes = {tuple(array.shape) for array in data}
        if not shapes:
            raise ValueError(
                "tree: received no arrays, it must hold some, which have the lane axis; pass it "
                "without Lanes"
            )
        if () in shapes or len({shape[0] for shape in shapes}) != 1:
            raise ValueError(
                f"tree: received the shapes {sorted(shapes)}, every array must have the same "
                "leading lane axis; stack the single objects with Lanes.stack"
            )
        points = math.prod(len(values) for _, values in self.axes)
        if self.axes and points != self.count:
            raise ValueError(
                f"axes: received labels for {points} points, there must be one for each of the "
                f"{self.count} lanes of tree; make both with Lanes.grid"
            )

    @staticmethod
    @door(items=each(least=0))
    def stack(items: Iterable[T]) -> "Lanes[T]":
        """Stack single objects of the same structure into lanes.

        What is not an array belongs to all lanes, so it must be the same in every object.
        """
        items = list(items)
        if not items:
            raise ValueError(
                "items: received none, there must be at least one; give one object for each lane"
            )
        structures = {str(jax.tree.structure(item)) for item in items}
        if len(structures) != 1:
            raise ValueError(
                f"items: received {len(structures)} different structures, they must share one; "
                "make every object in the same way"
            )

        def merge(*leaves: Any) -> Any:
            if not is_array(leaves[0]):
                if any(value_key(leaf) != value_key(leaves[0]) for leaf in leaves):
                    raise ValueError(
                        f"items: received {leaves[0]!r} and others at one place, what is not an "
                        "array must be equal in all of them; make it an array to give each lane "
                        "its own"
                    )
                return leaves[0]
            shapes = {np.shape(leaf) for leaf in leaves}
            if len(shapes) != 1:
                raise ValueError(
                    f"items: received arrays of different shapes {sorted(shapes)}, they must share "
                    "one; descend from each shape on its own"
                )
            return _stacked(leaves)

        with x64_for(items):
            return Lanes(jax.tree.map(merge, *items))

    @staticmethod
    def grid(make: Callable[..., T], **axes: Iterable[Label]) -> "Lanes[T]":
        """One lane for each point of a grid, in the order of nested loops over its axes.

        ```python
        lanes = Lanes.grid(lambda *, seed, rate: draw(seed), seed=range(3), rate=(1e-2, 1e-3))
        result = descend(lanes, loss, optax.adam(1.0), rate=lanes.label("rate"), stop=Stop(1000))
        result.to_xarray().loss.sel(seed=2, rate=1e-3)
        ```

        Arguments:
        - `make`: called as `make(seed=…, rate=…)` at every point, returns one model. Not every
          axis needs to show in the model; `label` gives its values to other arguments.
        - `axes`: the values along each axis, numbers or words. They label the results.
        """
        for name, values in axes.items():
            each(least=0)(name, values)
        labels = tuple(
            (name, tuple(_plain(name, value) for value in values)) for name, values in axes.items()
        )
        if not callable(make):
            raise ValueError(
                f"make: received {make!r}, it must be a function that returns a model; write "
                "Lanes.grid(make, seed=range(3))"
            )
        for name, values in labels:
            if not values or len(set(values)) != len(values):
                raise ValueError(
                    f"{name}: received {list(values)}, it must hold different values, at least "
                    "one; give each row of the grid its own"
                )
        if not labels:
            raise ValueError(
                "axes: received none, there must be at least one; name one, as in seed=range(3)"
            )
        names = [name for name, _ in labels]
        points = itertools.product(*(values for _, values in labels))
        items = [make(**dict(zip(names, point, strict=True))) for point in points]
        return Lanes(Lanes.stack(items).tree, labels)

    def label(self, name: str) -> np.ndarray:
        """The value of one axis of the grid in every lane."""
        sizes = [len(values) for _, values in self.axes]
        for place, (axis, values) in enumerate(self.axes):
            if axis == name:
                return np.array(values)[np.unravel_index(np.arange(self.count), sizes)[place]]
        raise ValueError(
            f"name: received {name!r}, it must be an axis of the grid; choose one of "
            f"{[axis for axis, _ in self.axes]}"
        )

    @property
    def count(self) -> int:
        """The number of lanes."""
        return jax.tree.leaves(eqx.filter(self.tree, is_array))[0].shape[0]

    def __len__(self) -> int:
        return self.count

    @precise
    def __getitem__(self, index: int) -> T:
        if not -self.count <= index < self.count:
            raise IndexError(f"lane {index} of {self.count}")
        return jax.tree.map(lambda leaf: leaf[index] if is_array(leaf) else leaf, self.tree)

    @door(rows=each(whole()))
    @precise
    def take(self, rows: np.ndarray) -> "Lanes[T]":
        """Some lanes, in the order of `rows`; a row may come more than once. Labels are dropped."""

        def pick(leaf: Any) -> Any:
            if not is_array(leaf):
                return leaf
            picked = np.asarray(leaf)[rows]  # on the host: nothing is compiled for it
            return picked if isinstance(leaf, np.ndarray) else jax.device_put(picked)

        return Lanes(jax.tree.map(pick, self.tree))

    @precise
    def replaced(self, rows: np.ndarray, lanes: "Lanes[T]") -> "Lanes[T]":
        """The lanes with those at `rows` replaced by others, in that order."""

        def put(old: Any, new: Any) -> Any:
            if not is_array(old):
                return old
            merged = np.array(old)
            merged[rows] = np.asarray(new)
            return merged if isinstance(old, np.ndarray) else jax.device_put(merged)

        return Lanes(jax.tree.map(put, self.tree, lanes.tree), self.axes)

    def __iter__(self) -> Iterator[T]:
        return (self[i] for i in range(self.count))


def is_array(leaf: Any) -> bool:
    """Whether a leaf is an array of JAX or NumPy."""
    return eqx.is_array(leaf) or isinstance(leaf, np.ndarray)


def _stacked(leaves: tuple[Any, ...]) -> Any:
    """Arrays of one shape along a new first axis, by way of the host: nothing is compiled for it.

    What JAX would convert, and what was put on a device, is left to JAX.
    """
    if all(isinstance(leaf, np.ndarray) for leaf in leaves):
        return np.stack(leaves)
    kind = leaves[0].dtype

    def is_plain(leaf: Any) -> bool:
        known = isinstance(leaf, jax.Array) and not isinstance(leaf, jax.core.Tracer)
        numbers = known and not jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return numbers and leaf.dtype == kind and not (leaf.weak_type or leaf.committed)

    if all(map(is_plain, leaves)):
        return jax.device_put(np.stack([np.asarray(leaf) for leaf in leaves]))
    return jnp.stack(leaves)


def _plain(name: str, value: Any) -> Label:
    """A number or a word of Python's own, so that labels compare and hash by value."""
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, int | float | str):
        raise ValueError(
            f"{name}: received {value!r}, a label must be a number or a word; look the object up "
            "by its label inside make"
        )
    return plain


@door(stream=whole())
def lane_keys(stream: int, *numbers: np.ndarray) -> Lanes[PRNGKeyArray]:
    """A key for each lane from its own integers, such as its seed and its training length.

    It does not depend on the lanes beside it, so that a lane is the same in any batch.

    **Arguments:**

    - `stream`: what the key is for: starts and data, say, take keys of two streams.
    - `numbers`: arrays with an integer for each lane; they are folded in one after the other.
    """
    for column in numbers:
        each(whole(-MOST, MOST))("numbers", column)
    shapes = {np.shape(column) for column in numbers}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        raise ValueError(
            f"numbers: received the shapes {sorted(shapes)}, give one integer for each lane"
        )
    columns = [jnp.asarray(column, jnp.int32) for column in numbers]

    def key_of(*own: jax.Array) -> PRNGKeyArray:
        key = jax.random.key(stream)
        for number in own:
            key = jax.random.fold_in(key, number)
        return key

    return Lanes(jax.vmap(key_of)(*columns))
