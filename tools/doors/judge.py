"""Whether the answer to an odd value is one that the house allows."""

import dataclasses
import itertools
import re
import signal
import traceback
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

import tacit

LIMIT = 15  # seconds
_OURS = str(Path(tacit.__file__).parent)


class TooLong(BaseException):
    """A call that did not return."""


def _ring(*_: Any) -> None:
    raise TooLong


signal.signal(signal.SIGALRM, _ring)


def finding(
    run: Callable[[], Any],
    names: tuple[str, ...],
    answer: str,
    infinite: bool,
    others: tuple[str, ...] = (),
) -> str:
    """What is wrong with what comes of a call, in words; nothing if it is as it should be."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        signal.setitimer(signal.ITIMER_REAL, LIMIT, 1)  # again, if it was swallowed
        try:
            result = run()
            finite = is_finite(result)
        except TooLong:
            return f"no answer in {LIMIT} s"
        except Exception as error:
            # Where two arguments do not fit each other, the error may name either.
            return _of_error(error, (*names, *others) if answer == "free" else names)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    if answer == "none":
        return f"took a wrong type: {_short(result)}"
    if answer == "finite" and finite:
        return f"a finite answer: {_short(result)}"
    if answer == "free" and not finite and not infinite:
        return f"a silent non-finite answer: {_short(result)}"
    if told and answer == "free":
        return f"warned: {str(told[0].message)[:100]}"
    return ""


def _of_error(error: Exception, names: tuple[str, ...]) -> str:
    """Ours is a ValueError that our own code raises, and that names the argument."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    text = " ".join(str(error).split())[:140]
    if not isinstance(error, (ValueError, *tacit_errors())):
        return f"foreign {type(error).__name__}: {text}"
    if not last.filename.startswith(_OURS):
        return f"foreign {type(error).__name__} from {Path(last.filename).name}: {text}"
    named = "|".join(re.escape(name) for name in names)
    if not re.search(rf"(?<![A-Za-z0-9_])({named})(?![A-Za-z0-9_])", str(error)):
        return f"an error that does not name it: {text}"
    return ""


def tacit_errors() -> tuple[type[Exception], ...]:
    """What else we raise on purpose."""
    from tacit.data import DataMissingError
    from tacit.reproduction import ReproductionError
    from tacit.statements import StatementError
    from tacit.store import StoreError, WriteError
    from tacit.sweep import WorkersError

    return (
        DataMissingError, ReproductionError, StatementError, StoreError, WriteError, WorkersError,
    )  # fmt: skip


def is_finite(result: Any) -> bool:
    """Whether no number in a result is NaN or infinite."""
    return all(bool(np.all(np.isfinite(leaf))) for leaf in _numbers(result, 0))


def _numbers(thing: Any, depth: int) -> Iterator[Any]:
    if isinstance(thing, jax.Array) and jax.dtypes.issubdtype(thing.dtype, jax.dtypes.prng_key):
        return
    if isinstance(thing, float | complex | np.ndarray | np.generic | jax.Array):
        array = np.asarray(thing)
        if array.dtype.kind in "fc" or array.dtype.name == "bfloat16":
            yield array
    elif depth > 6 or isinstance(thing, str | bytes | type | types.ModuleType | types.FunctionType):
        return
    elif isinstance(thing, Mapping):
        for value in thing.values():
            yield from _numbers(value, depth + 1)
    elif isinstance(thing, list | tuple | set | frozenset | types.GeneratorType):
        for value in itertools.islice(thing, 10_000):
            yield from _numbers(value, depth + 1)
    elif dataclasses.is_dataclass(thing):
        for name in vars(thing):
            yield from _numbers(getattr(thing, name), depth + 1)
    elif hasattr(thing, "to_numpy"):
        yield from _numbers(thing.to_numpy(), depth + 1)


def _short(result: Any) -> str:
    try:
        return " ".join(repr(result).split())[:90]
    except Exception as error:
        return f"{type(result).__name__} (whose repr fails: {type(error).__name__})"
