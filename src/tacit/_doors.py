"""What a public function lets in, said once: every argument is checked, and so is the answer.

    @door(matrix=real(2), rank=whole(0))
    def truncated(matrix, rank): ...

An argument that is not what its check says is a `ValueError` that names it, what was received and
what is allowed. An answer in NumPy's numbers that is not finite is one too, unless the door says
`answer="any"`, or `"overflow"` where sums may overflow on the way: the function then documents
where infinity or NaN is the answer. One field of a dataclass says so by `metadata={"nan": True}`.
What JAX traces passes, and so do the values of JAX arrays: a run that has diverged is an outcome.
"""

import functools
import inspect
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np

from tacit._errors import UsageError, shown

P = ParamSpec("P")
R = TypeVar("R")
Check: TypeAlias = Callable[[str, Any], None]

MOST = 2**31 - 1  # of what is counted
SEEDS = 2**64 - 1


class NoFiniteAnswerError(ValueError):
    """Finite arguments whose answer overflows, or does not exist."""


def door(*, answer: str = "finite", **checks: Check) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check the arguments of a function by name, and that its answer is finite.

    An argument that is the parameter's default passes: None where None stands for a choice of ours.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        parameters = inspect.signature(function).parameters
        # What is given by place, `*rest` left out: names behind it are given by name alone.
        places = tuple(n for n, p in parameters.items() if p.kind <= p.POSITIONAL_OR_KEYWORD)
        defaults = {name: parameter.default for name, parameter in parameters.items()}
        unknown = set(checks) - set(parameters)
        assert not unknown, f"{function.__name__} has no arguments {unknown}"

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            given = dict(zip(places, args, strict=False)) | kwargs
            for name, check in checks.items():
                if name in given and given[name] is not defaults[name]:
                    check(name, given[name])
            if answer == "any":
                return function(*args, **kwargs)
            if answer == "overflow":
                with np.errstate(all="ignore"):
                    return function(*args, **kwargs)
            return _finite(function, given, lambda: function(*args, **kwargs))

        return checked

    return decorate


def number(
    low: float = -math.inf,
    high: float = math.inf,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    infinite: bool = False,
    nan: bool = False,
) -> Check:
    """One real number, in [low, high] and strictly between `above` and `below`; finite or not."""
    words = _range(low, high, above, below, infinite)

    def check(name: str, value: Any) -> None:
        array = _numbers(value)
        if is_traced(array):
            return
        if nan and array is not None and not array.ndim and np.isnan(array):
            return
        if array is None or array.ndim or not _lies(array, low, high, above, below, infinite):
            raise wrong(name, value, words)

    return check


def numbers(
    low: float = -math.inf,
    high: float = math.inf,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    infinite: bool = False,
    nan: bool = False,
    empty: bool = False,
) -> Check:
    """A number or an array of them, each in [low, high] and strictly between above and below."""
    words = _range(low, high, above, below, infinite)

    def check(name: str, value: Any) -> None:
        array = _numbers(value)
        if is_traced(array):
            return
        if nan and array is not None and not is_jax(array):
            array = np.where(np.isnan(array), max(low, 0.0), array)
        if (
            array is None
            or not (array.size or empty)
            or not _lies(array, low, high, above, below, infinite)
        ):
            raise wrong(name, value, f"{words}, or an array of such numbers")

    return check


def whole(low: int = 0, high: int = MOST) -> Check:
    """An integer in [low, high]."""
    words = f"must be an integer from {low} to {high:,}"
    if high in (MOST, SEEDS):
        words = "must be a positive integer" if low == 1 else f"must be an integer, at least {low}"

    def check(name: str, value: Any) -> None:
        if is_traced(value):
            return
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if is_jax(value) and not value.ndim:
            whole = value.dtype.kind in "iu"
        if not whole or value < low or value > high:
            limit = f", at most {MOST:,}" if whole and high == MOST and value > MOST else ""
            raise wrong(name, value, words + limit)

    return check


ANY = whole(-MOST)  # an integer; the function itself says which


def real(*ndims: int, finite: bool = True, most: float = math.inf, empty: bool = False) -> Check:
    """A real array with one of these numbers of axes (any without), finite, with an entry."""
    words = f"must be a real {_kind(ndims)}"

    def check(name: str, value: Any) -> None:
        array = _numbers(value)
        if array is None:
            raise wrong(name, value, words)
        if (ndims and array.ndim not in ndims) or (0 in array.shape and not empty):
            raise ValueError(f"{name}: received the shape {array.shape}, it {words} and not empty")
        if finite and isinstance(array, np.ndarray) and not np.isfinite(array).all():
            raise ValueError(f"{name}: received NaN or infinity, it must be finite")
        if most < math.inf and not is_traced(array) and not np.all(np.abs(array) <= most):
            raise ValueError(
                f"{name}: received entries up to {np.max(np.abs(array)):.3g}, they must not be "
                f"larger than {most:g}"
            )

    return check


def mask(*ndims: int) -> Check:
    """A boolean array, or an object with such a `mask`."""

    def check(name: str, value: Any) -> None:
        array = getattr(value, "mask", value)
        array = array if is_jax(array) else _array(array)
        if array is None or array.dtype != bool or (ndims and array.ndim not in ndims):
            found = shown(value)
            if array is not None and array.dtype != object:
                found = f"the dtype {array.dtype} and the shape {array.shape}"
            raise ValueError(f"{name}: received {found}, it must be a boolean {_kind(ndims)}")

    return check


def flag(name: str, value: Any) -> None:
    """True or False."""
    if not isinstance(value, bool | np.bool_) and not is_traced(value):
        raise wrong(name, value, "must be True or False")


def text(name: str, value: Any) -> None:
    """A string."""
    if not isinstance(value, str):
        raise wrong(name, value, "must be a string")


def function(name: str, value: Any) -> None:
    """Something that can be called."""
    if not callable(value):
        raise wrong(name, value, "must be a function")


def instance(*kinds: type, what: str = "") -> Check:
    """An object of one of these classes."""
    words = what or " or ".join(kind.__name__ for kind in kinds)

    def check(name: str, value: Any) -> None:
        if not isinstance(value, kinds):
            raise wrong(name, value, f"must be a {words}")

    return check


def having(*methods: str) -> Check:
    """An object with these methods."""

    def check(name: str, value: Any) -> None:
        if isinstance(value, type) or not all(hasattr(value, method) for method in methods):
            raise wrong(name, value, f"must be an object with {' and '.join(methods)}")

    return check


def key(name: str, value: Any) -> None:
    """A key of JAX."""
    kept = is_array(value)
    typed = kept and str(value.dtype).startswith("key<")
    if not typed and not (kept and value.dtype == np.uint32 and value.ndim == 1):
        raise wrong(name, value, "must be a key of JAX such as jax.random.key(0)")


def path(name: str, value: Any) -> None:
    """The name of a file or folder."""
    if not isinstance(value, str | os.PathLike) or not str(value) or "\0" in str(value):
        raise wrong(name, value, "must be a path")
    if max(map(len, str(value).split(os.sep))) > 255:
        raise wrong(name, value, "must be a path whose names have at most 255 characters")


def floating(name: str, value: Any) -> None:
    """A real floating-point dtype."""
    try:
        kind = np.dtype(value).kind if value is not None else ""
    except TypeError:
        kind = ""
    if kind != "f":
        raise wrong(name, value, "must be a real floating one; use float64 or float32")


def subclass(base: type) -> Check:
    """A class, not an object of it."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, type) or not issubclass(value, base):
            raise wrong(name, value, f"must be a class such as those derived from {base.__name__}")

    return check


def plain(value: Any) -> Any:
    """A NumPy number as one of Python's own, which a static field of a module must be."""
    return value.item() if isinstance(value, np.generic | np.ndarray) and not value.ndim else value


def check_fields(made: Any, **checks: Check) -> None:
    """Check the fields of a dataclass where it is made; a field's default passes."""
    fields = type(made).__dataclass_fields__
    for name, check in checks.items():
        value = getattr(made, name)
        if value is not fields[name].default:
            check(name, value)


def each(check: Check | None = None, *, least: int = 1) -> Check:
    """A sequence whose entries are what `check` says; the function sees to them without one."""

    def checks(name: str, value: Any) -> None:
        if isinstance(value, Iterator):  # to look at it would use it up
            return
        listed = isinstance(value, Iterable) and not isinstance(value, str | bytes)
        if is_array(value) and not value.ndim:
            listed = False
        entries = list(value) if listed else []
        if not listed or len(entries) < least:
            raise wrong(name, value, f"must be a sequence of {least} or more")
        if check is not None:
            for place, entry in enumerate(entries):
                check(f"{name}[{place}]", entry)

    return checks


def is_jax(value: Any) -> bool:
    """Whether it is an array of JAX's; a process without JAX has none, and does not import it."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.Array)


def is_traced(value: Any) -> bool:
    """Whether JAX traces it, so that it has no value yet."""
    return is_jax(value) and isinstance(value, sys.modules["jax"].core.Tracer)


def is_array(value: Any) -> bool:
    """Whether it is an array of NumPy's or JAX's."""
    return isinstance(value, np.ndarray) or is_jax(value)


def wrong(name: str, value: Any, must: str) -> UsageError:
    """The sentence for an argument that is not what it must be."""
    if is_array(value) and value.shape and (value.size > 8 or value.dtype.kind not in "fiub"):
        return UsageError(
            f"{name}: received the dtype {value.dtype} and the shape {value.shape}, it {must}"
        )
    return UsageError(f"{name}: received {shown(value)}, it {must}")


def _range(low: float, high: float, above: float, below: float, infinite: bool) -> str:
    """What a number must do, in the words that the house has for it."""
    least, most = low > -math.inf, high < math.inf
    after, before = above > -math.inf, below < math.inf
    end = "" if infinite else " and finite"
    if after and before:
        return f"must lie between {above:g} and {below:g}"
    if (least or after) and (most or before):
        ends = f"[{low:g}, " if least else f"({above:g}, "
        return f"must lie in {ends}{f'{high:g}]' if most else f'{below:g})'}"
    if low == 0:
        return "must not be negative, and must be " + ("a number" if infinite else "finite")
    if above == 0:
        return "must be positive" + (end or " or infinite")
    limit = f" of at least {low:g}" if least else f" above {above:g}" if after else ""
    limit = f" of at most {high:g}" if most else f" below {below:g}" if before else limit
    return f"must be a {'' if infinite else 'finite '}number{limit}"


def _kind(ndims: tuple[int, ...]) -> str:
    known = {(): "array", (1,): "vector", (2,): "matrix", (1, 2): "vector or matrix"}
    return known.get(ndims, f"array with {' or '.join(map(str, ndims))} axes")


def _lies(array: Any, low: float, high: float, above: float, below: float, infinite: bool) -> bool:
    fits = (array >= low) & (array <= high)
    if above > -math.inf:
        fits &= array > above
    if below < math.inf:
        fits &= array < below
    return bool(np.all(fits if infinite else fits & np.isfinite(array)))


def _array(value: Any) -> np.ndarray | None:
    """The value as an array of NumPy's, or nothing if it has no shape."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _numbers(value: Any) -> Any:
    """The value as an array of real numbers, or nothing; booleans by themselves are no numbers."""
    if isinstance(value, bool | np.bool_ | str | bytes) or value is None:
        return None
    if isinstance(value, Fraction):
        value = float(value)
    array = value if is_jax(value) else _array(value)
    if array is None or is_traced(array):
        return array
    kinds = "fiub" if array.ndim else "fiu"
    real = array.dtype.kind in kinds or array.dtype.name == "bfloat16"
    return array if real else None


def _finite(function: Callable[..., Any], given: dict[str, Any], run: Callable[[], R]) -> R:
    """The answer, or the sentence that names the argument which is the furthest from one."""
    try:
        with np.errstate(all="ignore"):
            answer = run()
    except (ArithmeticError, np.linalg.LinAlgError, MemoryError, NoFiniteAnswerError) as error:
        raise _extreme(function, given) from error
    if not _all_finite(answer) and _all_finite(tuple(given.values())):
        raise _extreme(function, given)
    return answer


def _all_finite(answer: Any) -> bool:
    return all(bool(np.all(np.isfinite(leaf))) for leaf in _leaves(answer))


def _leaves(answer: Any) -> Iterator[Any]:
    if isinstance(answer, float | complex | np.ndarray | np.generic):
        if np.asarray(answer).dtype.kind in "fc":
            yield answer
    elif isinstance(answer, list | tuple):
        for part in answer:
            yield from _leaves(part)
    elif hasattr(answer, "__dataclass_fields__") and not isinstance(answer, type):
        fields = answer.__dataclass_fields__
        for name, part in vars(answer).items():
            documented = name in fields and fields[name].metadata.get("nan", False)
            yield from (leaf for leaf in _leaves(part) if not (documented and np.isnan(leaf).all()))


def _extreme(function: Callable[..., Any], given: dict[str, Any]) -> ValueError:
    """The argument whose size is furthest from one, in orders of magnitude; zero counts as 50."""
    worst, words = -1.0, "these arguments"
    for name, value in given.items():
        for part in value if isinstance(value, list | tuple) else (value,):
            array = _numbers(part)
            if array is None or is_traced(array) or not array.size:
                continue
            sizes = np.abs(np.asarray(array, np.float64))
            largest, positive = float(sizes.max()), sizes[sizes > 0]
            smallest = float(positive.min()) if positive.size else 0.0
            for size in (largest, smallest):
                word = "as large as" if size >= 1 else "as small as"
                far = abs(math.log10(size)) if 0 < size < math.inf else 50.0
                if far > worst:
                    worst, words = far, f"{name}: received a size {word} {size:.3g}"
    return NoFiniteAnswerError(
        f"{words}; {function.__name__} has no finite answer there: keep it nearer to one"
    )
