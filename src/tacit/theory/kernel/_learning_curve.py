"""Gradient descent on a kernel model after any number of steps, without taking them."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from tacit._doors import door, number, real
from tacit.theory.kernel._checks import checked_array
from tacit.theory.kernel._limit import delays


@final
@dataclass(frozen=True)
class LearningCurve:
    """What gradient descent has made of the model after each of `steps`.

    **Arguments:**

    - `steps`: the step counts asked for.
    - `response`: the impulse response, (steps, length, outputs, inputs).
    - `outputs`: on the training sequences, (steps, sequences, time, outputs).
    - `test_outputs`: on `x_test`, or None.
    - `largest_rate`: descent converges for smaller rates and diverges for larger ones.
    """

    steps: Int[np.ndarray, " steps"]
    response: Float[np.ndarray, "steps length outputs inputs"]
    outputs: Float[np.ndarray, "steps sequences time outputs"]
    test_outputs: Float[np.ndarray, "steps test_sequences time outputs"] | None
    largest_rate: float


@door(
    answer="overflow",
    gram=real(),
    x=real(),
    y=real(),
    rate=number(above=0),
    start=real(),
    x_test=real(),
)
def learning_curve(
    gram: ArrayLike,
    x: ArrayLike,
    y: ArrayLike,
    *,
    rate: float | int | np.number,
    steps: int | float | ArrayLike,
    start: ArrayLike | None = None,
    x_test: ArrayLike | None = None,
) -> LearningCurve:
    """Full-batch gradient descent on ½ Σ ‖ŷ − y‖², in closed form.

    The sum is over sequences, times and outputs: there is no mean, and the ½ makes `rate` the
    factor before Σ (ŷ − y) ∂ŷ. For a loss without the ½ double the rate.

    A model that is linear in its parameters, with the Gram matrix G of `gram` in the space of
    impulse responses, moves by L ← L − rate · G Aᵀ(A L − y), where A L are the outputs. With
    G = B Bᵀ and the singular values A B = U Σ Vᵀ, after s steps

        L_s = L_0 + B V diag((1 − (1 − rate σ²)^s)/σ) Uᵀ (y − A L_0),

    so that every s costs the same.

    **Arguments:**

    - `gram`: ρ (length,) from `lag_weights` or all ones (a convolution with scales √ρ, the limit
      of infinite width), or G (entries, entries) from `finite_width_gram`: the model linearised at
      its start.
    - `x`, `y`: sequences (sequences, time, inputs) and (sequences, time, outputs). Their length
      is that of the impulse response.
    - `rate`: of the descent. One above `largest_rate` diverges here as it does there, to infinity.
    - `steps`: one step count or several, in any order.
    - `start`: the impulse response L_0 (length, outputs, inputs); zero if None.
    - `x_test`: sequences to predict on the way.
    """
    inputs = checked_array("x", x, ("sequences", "time", "inputs"))
    targets = checked_array("y", y, ("sequences", "time", "outputs"))
    if inputs.shape[:2] != targets.shape[:2]:
        raise ValueError(
            f"y: received the shape {targets.shape}, it must have as many sequences and times as "
            f"x, {inputs.shape}"
        )
    tests = None if x_test is None else checked_array("x_test", x_test, ("sequences", "time", "i"))
    if tests is not None and tests.shape[1:] != inputs.shape[1:]:
        raise ValueError(
            f"x_test: received {tests.shape[1:]}, it must have the length and inputs of x, "
            f"{inputs.shape[1:]}"
        )
    length, outputs = inputs.shape[1], targets.shape[2]
    shape = (length, outputs, inputs.shape[2])
    counts, eta = _checked_steps(steps), _checked_rate(rate)
    first = np.zeros(shape) if start is None else checked_array("start", start, _AXES)
    if first.shape != shape:
        raise ValueError(f"start: received {first.shape}, it must have the shape {shape}")
    root, coupled = _square_root(gram, shape)

    design = _design(inputs)  # (sequences · time, length · inputs)
    misfit = targets.reshape(-1, outputs) - design @ _columns(first)
    if coupled:  # the Gram matrix joins the outputs: one system for all of them
        design_all = np.einsum(
            "rji,ab->rajbi", design.reshape(len(design), length, -1), np.eye(outputs)
        )
        moved, largest = _moved(
            design_all.reshape(misfit.size, -1) @ root, misfit.reshape(-1, 1), eta, counts
        )
        change = (moved[..., 0] @ root.T).reshape(counts.size, *shape)
    else:  # every output learns by itself, in the same way
        moved, largest = _moved(design * root, misfit, eta, counts)
        change = moved * root[:, None]
        change = np.moveaxis(change.reshape(counts.size, length, -1, outputs), -1, 2)
    response = first + change
    return LearningCurve(
        steps=counts,
        response=response,
        outputs=_outputs(response, inputs, design),
        test_outputs=None if tests is None else _outputs(response, tests, _design(tests)),
        largest_rate=largest,
    )


_AXES = ("length", "outputs", "inputs")


def _moved(
    features: Float[np.ndarray, "rows entries"],
    misfit: Float[np.ndarray, "rows columns"],
    rate: float,
    steps: Int[np.ndarray, " steps"],
) -> tuple[Float[np.ndarray, "steps entries columns"], float]:
    """The parameters after each number of steps from zero, and the rate that is too large."""
    rows, entries = features.shape
    if rows > entries:  # what is orthogonal to all features moves nothing
        basis, features = np.linalg.qr(features)
        misfit = basis.T @ misfit
    u, sigma, vt = np.linalg.svd(features, full_matrices=False)
    pace = rate * sigma**2
    counts = steps[:, None].astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        slow = -np.expm1(counts * np.log1p(-np.minimum(pace, 1)))  # keeps the digits of tiny paces
        fast = 1 - np.where(steps[:, None] % 2, -1.0, 1.0) * np.abs(1 - pace) ** counts
        share = np.where(pace < 1, slow, fast)
        share = np.where(counts == 0, 0.0, share)
        gain = np.where(sigma > 0, share / sigma, 0.0)  # (steps, modes)
        coordinates = gain[..., None] * (u.T @ misfit)
        found = np.matmul(vt.T, coordinates)
    return found, float(2 / sigma[0] ** 2) if sigma[0] > 0 else np.inf


def _design(x: Float[np.ndarray, "sequences time inputs"]) -> Float[np.ndarray, "rows entries"]:
    """The matrix from impulse responses (length · inputs) to outputs (sequences · time)."""
    sequences, time, inputs = x.shape
    return delays(x).reshape(sequences * time, time * inputs)


def _columns(
    response: Float[np.ndarray, "*steps length outputs inputs"],
) -> Float[np.ndarray, "*steps entries outputs"]:
    """An impulse response as what the design multiplies: lags and inputs in rows."""
    swapped = np.swapaxes(response, -1, -2)
    return swapped.reshape(*response.shape[:-3], -1, response.shape[-2])


def _outputs(
    response: Float[np.ndarray, "steps length outputs inputs"],
    x: Float[np.ndarray, "sequences time inputs"],
    design: Float[np.ndarray, "rows entries"],
) -> Float[np.ndarray, "steps sequences time outputs"]:
    with np.errstate(invalid="ignore", over="ignore"):
        columns = _columns(response)  # (steps, entries, outputs)
        flat = design @ np.moveaxis(columns, 0, 1).reshape(design.shape[1], -1)
    table = flat.reshape(len(design), len(response), -1)
    return np.moveaxis(table, 1, 0).reshape(len(response), *x.shape[:2], -1)


def _square_root(gram: Any, shape: tuple[int, int, int]) -> tuple[Float[np.ndarray, "..."], bool]:
    """B with G = B Bᵀ: a diagonal over lags and inputs, or a matrix that joins the outputs."""
    length, outputs, inputs = shape
    entries = length * outputs * inputs
    axes = ("length",) if np.ndim(gram) == 1 else ("entries", "entries")
    g = checked_array("gram", gram, axes)
    if g.shape not in ((length,), (entries, entries)):
        raise ValueError(
            f"gram: received {g.shape}, it must be ({length},), a weight for each lag, or "
            f"({entries}, {entries}), from finite_width_gram with {outputs} outputs, {inputs} "
            f"inputs and length {length}"
        )
    if g.ndim == 1:
        if np.any(g < 0):
            raise ValueError(f"gram: received {g.min():g}, it must not have negative weights")
        return np.sqrt(np.repeat(g, inputs)), False
    values, vectors = np.linalg.eigh((g + g.T) / 2)
    top = max(float(np.abs(values).max()), np.finfo(float).tiny)
    if np.abs(g - g.T).max() > 1e-8 * top or values[0] < -1e-8 * top:
        raise ValueError(
            f"gram: received the smallest eigenvalue {values[0]:.3g} beside the largest "
            f"{values[-1]:.3g}, it must be symmetric and positive semidefinite"
        )
    return vectors * np.sqrt(np.maximum(values, 0)), True


def _checked_steps(steps: Any) -> Int[np.ndarray, " steps"]:
    try:
        counts = np.atleast_1d(np.asarray(steps))
    except ValueError:  # ragged
        counts = np.zeros(0)
    if counts.ndim != 1 or counts.dtype.kind not in "iu" or counts.size == 0 or counts.min() < 0:
        raise ValueError(f"steps: received {steps!r}, they must be whole numbers of at least 0")
    return counts.astype(np.int64)


def _checked_rate(rate: Any) -> float:
    if np.ndim(rate) or not 0 < float(rate) < np.inf:
        raise ValueError(f"rate: received {rate!r}, it must be a positive finite number")
    return float(rate)
