"""The linear RNN in the scaling in which its width can go to infinity."""

import math
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tacit._doors import door, floating, key, number, real, whole
from tacit._types import Array, Float, PRNGKeyArray, precise, x64_for
from tacit.models._dense import Dense
from tacit.models._dense_response import dense_response
from tacit.models._linear_rnn import LinearRNN
from tacit.models._parameter import check_length, gaussian, is_concrete, parameter


@final
class ScaledLinearRNN(eqx.Module):
    """h_t = W h_{t−1}/√n + F x_t, y_t = C h_t/√n (kernel 1): a `LinearRNN` by other parameters.

    As a map it is `LinearRNN(Dense(W/√n), F, C/√n)`; under descent it is not, since the gradient
    by W is that by the transition divided by √n. Its impulse response is
    L_j = n^{−(j+1)/2} C W^j F (kernel 9). All computation is in the dtype of the parameters.

    Descent needs the response alone, also for a loss over many sequences (`SequenceLoss`): its
    gradient by W is then a matrix of rank T or less, and costs T products with W there and back,
    whatever the number of sequences.

    **Arguments:**

    - `W` (n, n), `F` (n, inputs), `C` (outputs, n).
    """

    W: Float[Array, "n n"]
    F: Float[Array, "n inputs"]
    C: Float[Array, "outputs n"]

    def __init__(self, W: ArrayLike, F: ArrayLike, C: ArrayLike) -> None:
        self.W = parameter("W", W, ("width", "width"))
        self.F = parameter("F", F, ("width", "inputs"))
        self.C = parameter("C", C, ("outputs", "width"))
        n = self.W.shape[0]
        if self.W.shape != (n, n) or self.F.shape[0] != n or self.C.shape[1] != n:
            raise ValueError(
                f"W, F and C: received {self.W.shape}, {self.F.shape} and {self.C.shape}, they "
                "must be (n, n), (n, inputs) and (outputs, n)"
            )
        if not self.W.dtype == self.F.dtype == self.C.dtype:
            raise ValueError(
                f"W, F and C: received {self.W.dtype}, {self.F.dtype} and {self.C.dtype}, they "
                "must have one dtype; convert them"
            )

    @property
    def width(self) -> int:
        """The number n of hidden units."""
        return self.W.shape[-1]  # counted from the end, so that lanes of models know it too

    @door(length=whole(1))
    @precise
    def impulse_response(self, length: int) -> Float[Array, "length outputs inputs"]:
        """L_j = n^{−(j+1)/2} C W^j F for j < length; reverse mode only.

        The states run on the side with fewer columns, inputs or outputs.
        """
        check_length(length)
        scale = 1 / math.sqrt(self.width)
        C = self.C * scale
        if self.C.shape[0] < self.F.shape[1]:
            return jnp.swapaxes(dense_response(self.W.T, C.T, self.F.T, length, scale), -1, -2)
        return dense_response(self.W, self.F, C, length, scale)

    @precise
    def as_linear_rnn(self) -> LinearRNN:
        """The same map in the usual parameters, with all methods of a `LinearRNN`."""
        root = np.sqrt(self.width)
        return LinearRNN(Dense(self.W / root), self.F, self.C / root)

    @door(inputs=real(finite=False))
    def simulate(self, inputs: ArrayLike) -> Float[Array, "time outputs"]:
        """The outputs that follow the inputs (time, inputs) from the zero state."""
        return self.as_linear_rnn().simulate(inputs)

    @classmethod
    @door(response=real())
    def from_impulse_response(cls, response: ArrayLike) -> "ScaledLinearRNN":
        """A model with exactly these T coefficients (T, outputs, inputs) (kernel, Prop. 2.1(b)).

        A chain of delays with T · min(inputs, outputs) states, fewer than the T · inputs · outputs
        of the paper; lags from T on are zero.
        """
        target = np.asarray(parameter("response", response, ("length", "outputs", "inputs")))
        if target.shape[1] < target.shape[2]:  # the chain of the transposed system is shorter
            other = cls.from_impulse_response(target.swapaxes(1, 2))
            with x64_for(target.dtype):
                root = np.sqrt(other.width)
                return cls(other.W.T, other.C.T / root, other.F.T * root)
        length, outputs, inputs = target.shape
        n = length * inputs
        root = np.asarray(np.sqrt(n), target.dtype)
        W = root * np.eye(n, k=-inputs, dtype=target.dtype)  # state (j, b) holds input b of lag j
        F = np.eye(n, inputs, dtype=target.dtype)
        C = root * target.transpose(1, 0, 2).reshape(outputs, n)
        return cls(W, F, C)

    @classmethod
    @door(
        width=whole(-100_000, 100_000),
        inputs=whole(1, 100_000),
        outputs=whole(1, 100_000),
        nu_w=number(),
        nu_f=number(),
        nu_c=number(),
        dtype=floating,
        key=key,
    )
    def random(
        cls,
        width: int,
        *,
        inputs: int = 1,
        outputs: int = 1,
        nu_w: float | int | Float[Array, ""],
        nu_f: float | int | Float[Array, ""] = 1.0,
        nu_c: float | int | Float[Array, ""] = 1.0,
        dtype: DTypeLike = np.float64,
        key: PRNGKeyArray,
    ) -> "ScaledLinearRNN":
        """Independent normal entries with the *variances* ν_W, ν_F and ν_C (kernel 4).

        The spectral radius of W/√n tends to √ν_W (the paper prints ν_W), so ν_W < 1 is stable.
        """
        check_length(width, "width")
        check_length(inputs, "inputs")
        check_length(outputs, "outputs")
        for name, value in (("nu_w", nu_w), ("nu_f", nu_f), ("nu_c", nu_c)):
            if is_concrete(value) and not 0 <= float(value) < np.inf:
                raise ValueError(f"{name}: received {value!r}, a variance is a finite number ≥ 0")
        with x64_for(np.dtype(dtype)):
            w_key, f_key, c_key = jax.random.split(key, 3)
            w, f, c = (jnp.sqrt(jnp.asarray(nu, np.dtype(dtype))) for nu in (nu_w, nu_f, nu_c))
            return cls(
                gaussian((width, width), scale=w, dtype=dtype, key=w_key),
                gaussian((width, inputs), scale=f, dtype=dtype, key=f_key),
                gaussian((outputs, width), scale=c, dtype=dtype, key=c_key),
            )
