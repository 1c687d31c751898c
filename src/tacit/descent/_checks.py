"""Wrong uses of `descend`, each answered by one sentence: the argument, what it was, the remedy."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from tacit.descent._lanes import Lanes, is_array
from tacit.descent._objective import LossFunction
from tacit.descent._received import ARGUMENTS, received
from tacit.descent._record import Record
from tacit.descent._stop import Stop

PerLane: TypeAlias = ArrayLike | Sequence[float]  # one number, or one for each lane


def as_problem(loss_or_problem: Any) -> Any:
    """The problem itself, or the function wrapped as one."""
    if isinstance(loss_or_problem, type):
        raise ValueError(
            f"loss_or_problem: received {received(loss_or_problem)}, it must be an instance; write "
            f"{loss_or_problem.__name__}(…)"
        )
    if callable(getattr(loss_or_problem, "loss", None)):
        return loss_or_problem
    if callable(loss_or_problem):
        return LossFunction(loss_or_problem)
    raise ValueError(
        f"loss_or_problem: received {received(loss_or_problem)}, it must be a function of the "
        f"model or have a method loss(model); {ARGUMENTS}"
    )


def check_model(model: Any) -> None:
    """A class is not a model yet, and a model without floating-point arrays cannot move."""
    if isinstance(model, type):
        raise ValueError(
            f"model: received {received(model)}, it must be an instance; write {model.__name__}(…)"
        )
    arrays = [leaf for leaf in jax.tree.leaves(model) if is_array(leaf)]
    if not any(map(eqx.is_inexact_array, arrays)):
        found = ", ".join(sorted({str(leaf.dtype) for leaf in arrays})) or "no arrays at all"
        raise ValueError(
            f"model: received {received(model)} with {found}, it must hold floating-point arrays "
            "to train; make its parameters arrays of floats, such as np.ones(3)"
        )
    if any(jnp.issubdtype(leaf.dtype, jnp.complexfloating) for leaf in arrays):
        raise ValueError(
            f"model: received {received(model)} with complex arrays, it must hold real arrays to "
            "train; keep real and imaginary parts as arrays of their own"
        )


def check_stop(stop: Any) -> None:
    """A number is not a `Stop`."""
    if not isinstance(stop, Stop):
        steps = stop if _is_whole(stop) else 1000
        raise ValueError(
            f"stop: received {received(stop)}, it must be a Stop; write stop=Stop({steps})"
        )


def check_record(record: Any, stop: Stop) -> None:
    """A dictionary is not a `Record`, and a record ends with the budget."""
    if record is None:
        return
    if not isinstance(record, Record):
        raise ValueError(
            f"record: received {received(record)}, it must be a Record; write "
            'record=Record([0, 10, 100], {"name": measure})'
        )
    if len(record.steps) and record.steps[-1] > stop.steps:
        raise ValueError(
            f"record.steps: received steps up to {record.steps[-1]}, they must not pass "
            f"stop.steps = {stop.steps}; shorten the record or raise the budget"
        )


def per_lane(name: str, value: PerLane, count: int) -> np.ndarray:
    """One number for all lanes, or one for each of them, as one for each."""
    try:
        array = np.asarray(value, dtype=float)
        if isinstance(value, bool):
            raise TypeError("a bool is no number")
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{name}: received {received(value)}, it must be a number or one for each lane; give "
            f"one number or {count}"
        ) from None
    if array.shape not in ((), (count,)):
        raise ValueError(
            f"{name}: received the shape {array.shape}, it must be a number or one for each lane; "
            f"give one number or {count}"
        )
    return np.broadcast_to(array, (count,))


def finite_per_lane(name: str, value: PerLane, count: int) -> np.ndarray:
    """The same, for a factor that cannot be infinite or undefined."""
    array = per_lane(name, value, count)
    wrong = np.flatnonzero(~np.isfinite(array))
    if wrong.size:
        raise ValueError(
            f"{name}: received {array[wrong[0]]} for lane {wrong[0]}, it must be finite; give "
            "every lane a finite number"
        )
    return array


def check_hyperparameters(hyperparameters: Any, count: int) -> dict[str, np.ndarray]:
    """Names and a number, or one for each lane, for each of them."""
    if hyperparameters is None:
        return {}
    if not isinstance(hyperparameters, Mapping):
        raise ValueError(
            f"hyperparameters: received {received(hyperparameters)}, it must be a dictionary; "
            'write hyperparameters={"b1": [0.8, 0.9]}'
        )
    return {
        name: finite_per_lane(f"hyperparameters[{name!r}]", values, count)
        for name, values in hyperparameters.items()
    }


def lane_keys(key: Any, problem: Any, count: int) -> jax.Array | None:
    """The data of one key for each lane; None for a problem that draws nothing."""
    if not getattr(problem, "stochastic", False):
        if key is not None:
            raise ValueError(
                f"key: received {received(key)}, it must be None for a problem that draws no "
                "random data; leave key out, or let the loss take key="
            )
        return None
    if key is None:
        raise ValueError(
            "key: received None, it must be a key of JAX for a problem that draws random data; "
            "pass key=jax.random.key(0)"
        )
    one = key.tree if isinstance(key, Lanes) else key
    if not _is_key(one):
        number = key if _is_whole(key) else 0
        raise ValueError(
            f"key: received {received(key)}, it must be a key of JAX or Lanes of keys; write "
            f"key=jax.random.key({number})"
        )
    if not isinstance(key, Lanes):
        if not jax.dtypes.issubdtype(key.dtype, jax.dtypes.prng_key):
            key = jax.random.wrap_key_data(key)
        if key.shape:
            raise ValueError(
                f"key: received keys of shape {key.shape}, it must be one key or Lanes of keys; "
                "give one key, or wrap one for each lane in Lanes(keys)"
            )
        split = jax.vmap(lambda lane: jax.random.fold_in(key, lane))(jnp.arange(count))
        return jax.random.key_data(split)
    if key.count != count:
        raise ValueError(
            f"key: received {key.count} lanes, it must have as many as model, {count}; give one "
            "key for all, or one for each lane"
        )
    return jax.random.key_data(key.tree)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_key(value: Any) -> bool:
    if not isinstance(value, jax.Array | np.ndarray):
        return False
    typed = jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key)
    return typed or (value.dtype == np.uint32 and value.ndim > 0)
