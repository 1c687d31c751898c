"""Where a model stands before it is trained: what its kernel would do, and whether it would turn.

Groups of parameters descend at rates η_g, so the kernel is K = Σ_g η_g J_g J_gᵀ
(`tacit.theory.regimes.ssm_kernel_parts`). If it stood still, flow would end after the moves
Δθ_g = η_g J_gᵀ z with K z = gap. Two numbers say how far that is from the truth:

- κ² = ‖ΔA‖² + ‖ΔB‖²/‖B‖² + ‖ΔC‖²/‖C‖², the move relative to the start, with A the transition
  matrix itself. For a `ScaledLinearRNN` at equal rates it is the κ of `tacit.theory.regimes.kappa`.
- change = ‖K(θ⁰ + Δθ) − K(θ⁰)‖/‖K(θ⁰)‖: by how much the kernel would change on the way.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import ANY, door, flag, number, real, wrong
from tacit._light_programs import lightly
from tacit._types import Array, Float, PyTree, x64_for
from tacit.models import DiagonalSSM, LinearRNN, ScaledLinearRNN

GROUPS = ("A", "B", "C")
_EQUAL = dict.fromkeys(GROUPS, 1.0)

# The parts of each model that are A, B and C, and its transition matrix (or its spectrum).
_PARTS: dict[type, Callable[[Any], tuple[PyTree, ...]]] = {
    DiagonalSSM: lambda m: (m.spectrum, m.B, m.C),
    LinearRNN: lambda m: (m.transition, m.B, m.C),
    ScaledLinearRNN: lambda m: (m.W, m.F, m.C),
}
_TRANSITION: dict[type, Callable[[Any], Array]] = {
    DiagonalSSM: lambda m: m.eigenvalues(),
    LinearRNN: lambda m: m.transition.matrix(),
    ScaledLinearRNN: lambda m: m.W / np.sqrt(m.width),
}


class LazyPrediction(NamedTuple):
    """What the kernel of the start says; arrays have the models' axis first if they are stacked.

    - `response`: where flow would end if the kernel stood still, all lags of the target.
    - `kappa`: κ, how far the parameters would move relative to where they start.
    - `by_group`: its parts, (A, B, C): κ² is the sum of their squares.
    - `change`: by how much the kernel would change over that move.
    - `kernel`: K on the lags, zero from k on.
    """

    response: Float[Array, "... lags outputs inputs"]
    kappa: Float[Array, "..."]
    by_group: Float[Array, "... groups"]
    change: Float[Array, "..."]
    kernel: Float[Array, "... entries entries"]


@door(target=real(1, 3, most=1e100), length=ANY, centred=flag)
def lazy_prediction(
    model: Any,
    target: ArrayLike,
    *,
    length: int,
    rates: Mapping[str, float] = _EQUAL,
    centred: bool = False,
) -> LazyPrediction:
    """What gradient flow would do to this model on the first `length` lags if its kernel stood.

    **Arguments:**

    - `model`: a `DiagonalSSM`, `LinearRNN` or `ScaledLinearRNN`.
    - `target`: the impulse response to learn, (lags,) or (lags, outputs, inputs); all its lags are
      predicted.
    - `rates`: of A, B and C, not negative; only their ratios matter. A balanced `LinearRNN` has no
      C of its own.
    - `centred`: whether the response at the start is subtracted, as in the map of linear RNNs.
    """
    check_model(model)
    wanted = as_target(model, target, length)
    squares = rate_tree(model, rates)
    mask = np.arange(len(wanted)) < length
    with x64_for(wanted, model):
        dtype = jax.tree.leaves(model)[0].dtype
        goal, trained, offset = (jnp.asarray(a, dtype) for a in (wanted, mask, float(centred)))
        return predict(model, squares, goal, trained, offset)


@eqx.filter_jit
def predict(model: Any, squares: Any, target: Array, mask: Array, centred: Array) -> LazyPrediction:
    """`lazy_prediction` with all its arguments as arrays; it may be mapped over lanes."""
    lags, transition = len(target), _TRANSITION[type(model)]

    def kernel_of(at: Any) -> tuple[Array, Any, Array]:
        jacobian = jax.jacrev(lambda m: m.impulse_response(lags))(at)
        rows = jax.tree.map(lambda j, leaf: j.reshape(target.size, leaf.size), jacobian, at)
        weighted = jax.tree.map(lambda j, s: j * jnp.ravel(s), rows, squares)
        pairs = zip(jax.tree.leaves(weighted), jax.tree.leaves(rows), strict=True)
        with jax.default_matmul_precision("highest"):
            return sum(w @ j.T for w, j in pairs), weighted, at.impulse_response(lags)

    kernel, weighted, start = kernel_of(model)
    entries = jnp.broadcast_to(mask[:, None, None], target.shape).ravel()
    gap = entries * (target - (1 - centred) * start).ravel()
    trained = entries[:, None] * kernel * entries
    values, vectors = jnp.linalg.eigh(trained)
    tiny = 100 * jnp.finfo(values.dtype).eps * jnp.max(values)
    kept = jnp.where(values > tiny, 1 / jnp.where(values > tiny, values, 1), 0)
    z = entries * (vectors @ (kept * (vectors.T @ gap)))
    moves = jax.tree.map(lambda w, leaf: (z @ w).reshape(leaf.shape), weighted, model)
    moved = jax.tree.map(jnp.add, model, moves)
    turned = entries[:, None] * kernel_of(moved)[0] * entries
    _, shift = jax.jvp(transition, (model,), (moves,))
    groups = zip(_PARTS[type(model)](moves)[1:], _PARTS[type(model)](model)[1:], strict=True)
    parts = [_norm(shift), *(_ratio(move, at) for move, at in groups)]
    by_group = jnp.stack(parts)
    response = (1 - centred) * start + (kernel @ z).reshape(target.shape)
    change = _norm(turned - trained) / _norm(trained)
    return LazyPrediction(response, jnp.sqrt(jnp.sum(by_group**2)), by_group, change, trained)


@door(answer="any", target=real(1))
def predict_lanes(
    models: Any, rates: Any, target: ArrayLike, lengths: ArrayLike, centred: ArrayLike
) -> LazyPrediction:
    """`lazy_prediction` of many stacked models on one target, in NumPy arrays.

    A quantity that has no finite value in a lane is NaN there, and nothing else is. Mostly it is
    `change`: where the fit asks for a move of hundreds in log γ, the kernel at its end overflows.

    **Arguments:**

    - `models`: stacked, with one input and one output; `rates`: a tree like it, of their rates.
    - `lengths`, `centred`: a training length for each model, and 1 where it is centred.
    """
    wanted = np.asarray(target, np.float64)[:, None, None]
    masks = np.arange(len(wanted)) < np.asarray(lengths)[:, None]
    with x64_for(models):
        found = _predictions(models, rates, wanted, masks.astype(float), np.asarray(centred, float))
        return LazyPrediction._make(_nan_where_it_overflows(np.asarray(part)) for part in found)


@lightly
def _predictions(models: Any, rates: Any, target: Any, masks: Any, centred: Any) -> LazyPrediction:
    def one(model: Any, squares: Any, mask: Any, offset: Any) -> LazyPrediction:
        return predict(model, squares, jnp.asarray(target), mask, offset)

    return eqx.filter_vmap(one)(models, rates, jnp.asarray(masks), jnp.asarray(centred))


def _nan_where_it_overflows(part: np.ndarray) -> np.ndarray:
    """The lanes of one quantity, NaN throughout where an entry is not finite."""
    known = np.isfinite(part).all(axis=tuple(range(1, part.ndim)), keepdims=True)
    return np.where(known, part, np.nan)


def check_model(model: Any) -> None:
    """Refuse what has no groups A, B and C."""
    if type(model) not in _PARTS:
        known = " or ".join(kind.__name__ for kind in _PARTS)
        raise ValueError(
            f"model: received {type(model).__name__}, it must be a {known}: the map is of linear "
            "recurrences, which have an impulse response; of a stack give one layer, "
            "stack.blocks[0].ssm"
        )


def as_target(model: Any, target: ArrayLike, length: int) -> Float[np.ndarray, "lags o i"]:
    """The target as (lags, outputs, inputs), checked against the model and the length."""
    wanted = np.asarray(target, np.float64)
    wanted = wanted[:, None, None] if wanted.ndim == 1 else wanted
    shape = jax.eval_shape(lambda: model.impulse_response(1)).shape[1:]
    if wanted.shape[1:] != shape:
        raise ValueError(
            f"target: received the shape {np.shape(target)}, it must be (lags, outputs = "
            f"{shape[0]}, inputs = {shape[1]}), as the model's response is"
        )
    if not 1 <= length <= len(wanted):
        raise ValueError(f"length: received {length!r}, it must lie in [1, lags = {len(wanted)}]")
    return wanted


def rate_tree(model: Any, rates: Any) -> Any:
    """A tree like the model with the rate of its group at every parameter."""
    if not isinstance(rates, Mapping) or set(rates) != set(GROUPS):
        raise wrong("rates", rates, "must be a mapping with a rate for each of A, B and C")
    for group, rate in rates.items():
        number(0)(f"rates[{group!r}]", rate)
    if not any(rates.values()):
        raise wrong("rates", rates, "must be positive for one group at least: nothing moves")
    parts = _PARTS[type(model)]
    with x64_for(model):
        filled = [
            jax.tree.map(lambda leaf, rate=rates[group]: jnp.full_like(leaf, rate), part)
            for group, part in zip(GROUPS, parts(model), strict=True)
        ]
    return eqx.tree_at(parts, model, filled, is_leaf=lambda leaf: leaf is None)


def _norm(array: Array) -> Array:
    return jnp.sqrt(jnp.sum(jnp.abs(array) ** 2))


def _ratio(move: Array | None, at: Array | None) -> Array:
    """How far a map moves, relative to its size; a balanced model has no C."""
    return jnp.zeros(()) if move is None or at is None else _norm(move) / _norm(at)
