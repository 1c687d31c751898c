"""A wide linear RNN, descended from a small start on the simulation error: the gradient's start.

Of L lags the simulation error is a quadratic form in the impulse response: ‖R h − z‖² with R and z
from one QR decomposition of the samples. A step of descent therefore costs the same for any length
of the record.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import optax

from tacit._types import Array, Float, precise
from tacit.descent import Stop, descend
from tacit.estimators._records import Records
from tacit.estimators._system_starts import Matrices
from tacit.models import Dense, LinearRNN

_STEPS, _RATE, _SCALE = 1500, 3e-3, 0.3


class CorrelationLoss(eqx.Module):
    """‖R h − z‖² / N, with h the response h_1, …, h_L of a model; direct terms are eliminated."""

    triangle: Float[Array, "rows lagged"]
    target: Float[Array, "rows outputs"]
    lags: int = eqx.field(static=True)

    @precise
    def loss(self, model: LinearRNN) -> Float[Array, ""]:
        """The squared simulation error a sample, without what no response can reach."""
        response = model.impulse_response(self.lags)  # (lags, outputs, inputs)
        stacked = response.transpose(0, 2, 1).reshape(-1, response.shape[1])
        return jnp.sum((self.triangle @ stacked - self.target) ** 2)


def correlations(records: Records, lags: int) -> CorrelationLoss:
    """The loss of these records; samples whose past is not known are left out."""
    rows, targets = [], []
    for U, Y in zip(records.measured, records.outputs, strict=True):
        count = len(Y) - lags
        if count < 1:
            continue
        past = [U[lags - j : len(U) - j] for j in range(lags + 1)]
        rows.append(np.concatenate([np.ones((count, 1)), *past], axis=1))
        targets.append(Y[lags:])
    matrix, target = np.concatenate(rows), np.concatenate(targets)
    nuisance = 1 + records.inputs
    whole = np.asarray(np.linalg.qr(np.concatenate([matrix, target], axis=1), mode="r"))
    wide = matrix.shape[1]
    scale = 1 / np.sqrt(len(matrix))
    part = whole[nuisance:wide]
    return CorrelationLoss(
        jnp.asarray(scale * part[:, nuisance:wide], dtype=jnp.float32),
        jnp.asarray(scale * part[:, wide:], dtype=jnp.float32),
        lags,
    )


def descended(records: Records, *, width: int, seed: int) -> Matrices:
    """The wide network at the end of its descent; its direct term is left at zero."""
    longest = max(len(one) for one in records.outputs)
    lags = max(2, min(64, longest // (2 + 2 * records.inputs)))
    loss = correlations(records, lags)
    rng = np.random.default_rng(seed)
    outputs = records.outputs[0].shape[1]
    gain = _SCALE / np.sqrt(width)

    def drawn(*shape: int) -> np.ndarray:
        return (gain * rng.normal(size=shape)).astype(np.float32)

    start = LinearRNN(
        Dense(drawn(width, width)), drawn(width, records.inputs), drawn(outputs, width)
    )
    result = descend(start, loss, optax.adam(_RATE), stop=Stop(_STEPS), progress=False)
    best = result.best
    matrices = (best.transition.matrix(), best.input_map, best.output_map)
    A, B, C = (np.asarray(one, np.float64) for one in matrices)
    return Matrices(A, B, C, np.zeros((outputs, records.inputs)))
