"""A start that is drawn again from a seed, so that it need not be stored as a file."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, final

import jax
import numpy as np

from tacit import models
from tacit._doors import check_fields, number, whole
from tacit._errors import UsageError, nearest, shown
from tacit._tensors import Spec
from tacit.checkpoints._digest import digest_of
from tacit.checkpoints._dtypes import is_analysed, working
from tacit.checkpoints._files import CheckpointError
from tacit.checkpoints._matrices import layout_of

MOST_DRAWN = 1 << 29  # numbers of a start, all tensors together
# A small file cannot ask for a large start: a matrix of n × n has at least a rank's 4n bytes beside
# it, if it has changed, so that this allows for layers of n = 16,384 on average.
_DRAWN_FREELY = 1 << 24
_DRAWN_PER_BYTE = 1 << 12
_MOST_FOLDS = 64
_SEEDS = whole(0, 2**32 - 1)
_MODELS = ("LSTM", "GRU", "StackedLSTM", "RateRNN")


class AbstractStart(ABC):
    """The weights before training, drawn from a seed."""

    kind: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """What a manifest says of it."""
        return {"kind": self.kind, **asdict(self)}  # type: ignore[call-overload]

    @abstractmethod
    def tensors(self, specs: Mapping[str, Spec]) -> Callable[[str], np.ndarray]:
        """A function that gives the tensor of a name."""


@dataclass(frozen=True)
class _DrawnStart(AbstractStart):
    """Every tensor by itself: from the seed, and from its place in the order of names."""

    seed: int
    scale: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self, seed=_SEEDS, scale=number(above=0))

    def tensors(self, specs: Mapping[str, Spec]) -> Callable[[str], np.ndarray]:
        """Matrices and kernels as `_drawn` says; vectors and numbers are zero."""
        _refuse_large(specs)
        places = {name: place for place, name in enumerate(sorted(specs))}

        def one(name: str) -> np.ndarray:
            spec = specs[name]
            layout = layout_of(spec.shape)
            if layout is None or not is_analysed(spec.dtype):
                return np.zeros(spec.shape, spec.dtype)
            key = jax.random.fold_in(jax.random.key(self.seed), places[name])
            double = spec.dtype == np.float64
            with jax.enable_x64(double), _generator():
                shape = layout.rows, layout.columns
                found = np.asarray(self._drawn(key, shape, working(spec.dtype)))
            return found.reshape(spec.shape).astype(spec.dtype)

        return one

    @abstractmethod
    def _drawn(self, key: Any, shape: tuple[int, int], dtype: np.dtype) -> Any:
        """A matrix of a shape, from a key."""


@final
@dataclass(frozen=True)
class NormalStart(_DrawnStart):
    """Entries N(0, scale² / columns); vectors are zero."""

    kind: ClassVar[str] = "normal"

    def _drawn(self, key: Any, shape: tuple[int, int], dtype: np.dtype) -> Any:
        return dtype.type(self.scale / math.sqrt(shape[1])) * jax.random.normal(key, shape, dtype)


@final
@dataclass(frozen=True)
class UniformStart(_DrawnStart):
    """Entries evenly between ± scale / √columns; vectors are zero."""

    kind: ClassVar[str] = "uniform"

    def _drawn(self, key: Any, shape: tuple[int, int], dtype: np.dtype) -> Any:
        bound = self.scale / math.sqrt(shape[1])
        return jax.random.uniform(key, shape, dtype, -bound, bound)


@final
@dataclass(frozen=True)
class OrthogonalStart(_DrawnStart):
    """A matrix with orthonormal rows or columns, times scale; vectors are zero."""

    kind: ClassVar[str] = "orthogonal"

    def _drawn(self, key: Any, shape: tuple[int, int], dtype: np.dtype) -> Any:
        return jax.nn.initializers.orthogonal(self.scale)(key, shape, dtype)


@final
@dataclass(frozen=True)
class ModelStart(AbstractStart):
    """The start of one of tacit's own models: `tacit.models.<model>.random(**arguments, key=…)`.

    **Arguments:**

    - `model`: LSTM, GRU, StackedLSTM or RateRNN.
    - `seed`: of `jax.random.key`. `fold`: numbers that are folded into the key, in this order.
    - `arguments`: of `random`, without the key.

    The tensors of a checkpoint may have any names: each is found among the model's arrays by its
    bits, and `names` keeps which one it was.
    """

    kind: ClassVar[str] = "model"

    model: str
    seed: int
    fold: tuple[int, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_fields(self, seed=_SEEDS)
        if self.model not in _MODELS:
            raise UsageError(
                f"model: received {shown(self.model)}, {nearest(str(self.model), _MODELS)}"
            )
        if not isinstance(self.fold, list | tuple) or len(self.fold) > _MOST_FOLDS:
            raise UsageError(
                f"fold: received {shown(self.fold)}, it must be at most {_MOST_FOLDS} whole numbers"
            )
        if not isinstance(self.arguments, Mapping) or not isinstance(self.names, Mapping):
            raise UsageError(f"arguments: received {shown(self.arguments)}, give them by name")
        object.__setattr__(self, "fold", tuple(self.fold))
        for place, one in enumerate(self.fold):
            _SEEDS(f"fold[{place}]", one)
        for name, value in self.arguments.items():
            if not isinstance(name, str) or not isinstance(value, int | float | str):
                raise UsageError(f"arguments: received {shown(name)}: {shown(value)}")

    def tensors(self, specs: Mapping[str, Spec]) -> Callable[[str], np.ndarray]:
        """The model's arrays by the names of a checkpoint; `names` must be there."""
        arrays = self._arrays(specs)

        def one(name: str) -> np.ndarray:
            if self.names.get(name) not in arrays:
                raise CheckpointError(f"the start names no array of {self.model} for {shown(name)}")
            return arrays[self.names[name]]

        return one

    def matched(self, specs: Mapping[str, Spec], digests: Mapping[str, str]) -> "ModelStart":
        """The same start with `names`: for each tensor the array that has its bits, if any has."""
        own: dict[str, str] = {}
        for path, array in self._arrays(specs).items():
            own.setdefault(digest_of(Spec(array.dtype, array.shape), [array]), path)
        names = {name: own[digest] for name, digest in digests.items() if digest in own}
        return ModelStart(self.model, self.seed, self.fold, self.arguments, names)

    def _arrays(self, specs: Mapping[str, Spec]) -> dict[str, np.ndarray]:
        _refuse_large(specs)

        def made() -> Any:
            key = jax.random.key(self.seed)
            for each in self.fold:
                key = jax.random.fold_in(key, each)
            return getattr(models, self.model).random(**self.arguments, key=key)

        try:
            with _generator():
                sizes = jax.tree.leaves(jax.eval_shape(_filtered(made)))
                most = max(_DRAWN_FREELY, 2 * sum(spec.size for spec in specs.values()))
                if sum(leaf.size for leaf in sizes) > most:
                    raise UsageError(f"it has more than {most:,} numbers, twice the checkpoint's")
                found = jax.tree_util.tree_leaves_with_path(made())
        except (TypeError, ValueError) as error:
            words = str(error).partition("\n")[0][:200]
            raise UsageError(f"start: tacit.models.{self.model}.random: {words}") from None
        return {
            jax.tree_util.keystr(path): np.asarray(leaf)
            for path, leaf in found
            if hasattr(leaf, "dtype")
        }


def start_from_dict(said: Any) -> AbstractStart:
    """The start that a manifest describes."""
    kinds: dict[str, Any] = {
        kind.kind: kind for kind in (NormalStart, UniformStart, OrthogonalStart, ModelStart)
    }
    if not isinstance(said, dict) or said.get("kind") not in kinds:
        raise UsageError(f"start: received {shown(said)}, known are {', '.join(kinds)}")
    fields = {name: value for name, value in said.items() if name != "kind"}
    try:
        made: AbstractStart = kinds[said["kind"]](**fields)
    except (TypeError, AttributeError):
        raise UsageError(f"start: received {shown(said)}, it is not complete") from None
    return made


def start_from_text(text: str) -> AbstractStart:
    """A start as it is typed: `uniform seed=3 scale=1`, `StackedLSTM width=128 seed=8 fold=3`."""
    word, *rest = text.split()[:20] or [""]
    given: dict[str, Any] = {}
    for part in rest:
        name, equals, value = part.partition("=")
        if not equals or not name:
            raise UsageError(f"start: received {shown(part)}, the form is name=value")
        given[name] = _value(value)
    if "seed" not in given:
        raise UsageError(f"start: received {shown(text)}, it must have seed=…")
    if word in _MODELS:
        seed, fold = given.pop("seed"), given.pop("fold", "")
        numbers = [fold] if isinstance(fold, int) else [_value(n) for n in fold.split(",") if n]
        return start_from_dict(
            {"kind": "model", "model": word, "seed": seed, "fold": numbers, "arguments": given}
        )
    if word not in ("normal", "uniform", "orthogonal"):
        known = ("normal", "uniform", "orthogonal", *_MODELS)
        raise UsageError(f"start: received {shown(word)}, {nearest(word, known)}")
    return start_from_dict({"kind": word, **given})


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _filtered(made: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: [leaf for leaf in jax.tree.leaves(made()) if hasattr(leaf, "dtype")]


def _generator() -> Any:
    """JAX's default generator, whatever the environment says."""
    import contextlib

    stack = contextlib.ExitStack()
    stack.enter_context(jax.default_prng_impl("threefry2x32"))
    stack.enter_context(jax.threefry_partitionable(True))
    return stack


def _refuse_large(specs: Mapping[str, Spec]) -> None:
    total = sum(spec.size for spec in specs.values())
    if total > MOST_DRAWN:
        raise CheckpointError(
            f"a start of {total:,} numbers is too large to be drawn, at most {MOST_DRAWN:,} are "
            "allowed: keep it as a file"
        )


def refuse_start_beyond(stored: int, sizes: Iterable[int]) -> None:
    """A `CheckpointError` if a start of these sizes is too large for a file of `stored` bytes."""
    total, most = sum(sizes), max(_DRAWN_FREELY, _DRAWN_PER_BYTE * stored)
    if total > most:
        raise CheckpointError(
            f"a start of {total:,} numbers is not drawn for {stored:,} bytes of changes, at most "
            f"{most:,} are: give the start as a file"
        )
