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
            f"loss_or_problem is the class {loss_or_problem.__name__}; make an instance of it, "
            f"{loss_or_problem.__name__}(…)"
        )
    if callable(getattr(loss_or_problem, "loss", None)):
        return loss_or_problem
    if callable(loss_or_problem):
        return LossFunction(loss_or_problem)
    raise ValueError(
        "loss_or_problem must be a function of the model or have a method loss(model), got "
        f"{received(loss_or_problem)}; {ARGUMENTS}"
    )


def check_model(model: Any) -> None:
    """A class is not a model yet, and a model without floating-point arrays cannot move."""
    if isinstance(model, type):
        raise ValueError(
            f"model is the class {model.__name__}; make an instance of it, {model.__name__}(…)"
        )
    arrays = [leaf for leaf in jax.tree.leaves(model) if is_array(leaf)]
    if not any(map(eqx.is_inexact_array, arrays)):
        found = ", ".join(sorted({str(leaf.dtype) for leaf in arrays})) or "no arrays at all"
        raise ValueError(
            f"model must hold floating-point arrays to train, got {received(model)} with {found}; "
            "make its parameters arrays of floats, such as np.ones(3)"
        )
    if any(jnp.issubdtype(leaf.dtype, jnp.complexfloating) for leaf in arrays):
        raise ValueError(
            f"model must hold real arrays to train, got {received(model)} with complex ones; keep "
            "real and imaginary parts as arrays of their own"
        )


def check_stop(stop: Any) -> None:
    """A number is not a `Stop`."""
    if not isinstance(stop, Stop):
        steps = stop if _is_whole(stop) else 1000
        raise ValueError(f"stop must be a Stop, got {received(stop)}; write stop=Stop({steps})")


def check_record(record: Any, stop: Stop) -> None:
    """A dictionary is not a `Record`, and a record ends with the budget."""
    if record is None:
        return
    if not isinstance(record, Record):
        raise ValueError(
            f"record must be a Record, got {received(record)}; write "
            'record=Record([0, 10, 100], {"name": measure})'
        )
    if len(record.steps) and record.steps[-1] > stop.steps:
        raise ValueError(
            f"record.steps goes to {record.steps[-1]}, beyond stop.steps = {stop.steps}; "
            "shorten the record or raise the budget"
        )


def per_lane(name: str, value: PerLane, count: int) -> np.ndarray:
    """One number for all lanes, or one for each of them, as one for each."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be a number or one for each lane, got {received(value)}; give one number "
            f"or {count}"
        ) from None
    if array.shape not in ((), (count,)):
        raise ValueError(
            f"{name} has shape {array.shape}; give one number or {count}, one for each lane"
        )
    return np.broadcast_to(array, (count,))


def finite_per_lane(name: str, value: PerLane, count: int) -> np.ndarray:
    """The same, for a factor that cannot be infinite or undefined."""
    array = per_lane(name, value, count)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {value!r}; give every lane a finite number")
    return array


def check_hyperparameters(hyperparameters: Any, count: int) -> dict[str, np.ndarray]:
    """Names and a number, or one for each lane, for each of them."""
    if hyperparameters is None:
        return {}
    if not isinstance(hyperparameters, Mapping):
        raise ValueError(
            f"hyperparameters must be a dictionary, got {received(hyperparameters)}; write "
            'hyperparameters={"b1": [0.8, 0.9]}'
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
                f"key is {received(key)}, but this problem draws no random data; leave key out, or "
                "let the loss take key="
            )
        return None
    if key is None:
        raise ValueError(
            "key is None, but this problem draws random data; pass key=jax.random.key(0)"
        )
    one = key.tree if isinstance(key, Lanes) else key
    if not _is_key(one):
        number = key if _is_whole(key) else 0
        raise ValueError(
            f"key must be a key of JAX or Lanes of keys, got {received(key)}; write "
            f"key=jax.random.key({number})"
        )
    if not isinstance(key, Lanes):
        if not jax.dtypes.issubdtype(key.dtype, jax.dtypes.prng_key):
            key = jax.random.wrap_key_data(key)
        if key.shape:
            raise ValueError(
                f"key holds keys of shape {key.shape}; give one key, or wrap one for each lane "
                "in Lanes(keys)"
            )
        split = jax.vmap(lambda lane: jax.random.fold_in(key, lane))(jnp.arange(count))
        return jax.random.key_data(split)
    if key.count != count:
        raise ValueError(
            f"key has {key.count} lanes and model has {count}; give one key for all, or one for "
            "each lane"
        )
    return jax.random.key_data(key.tree)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_key(value: Any) -> bool:
    if not isinstance(value, jax.Array | np.ndarray):
        return False
    typed = jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key)
    return typed or (value.dtype == np.uint32 and value.ndim > 0)
