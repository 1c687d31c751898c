"""The linear RNN: a transition, an input map and an output map; one, or many stacked."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tacit._doors import (
    door,
    flag,
    floating,
    instance,
    is_array,
    key,
    number,
    numbers,
    real,
    subclass,
    whole,
    wrong,
)
from tacit._light_programs import lightly
from tacit._types import Array, Float, PRNGKeyArray, precise, x64_for
from tacit.measures import hankel_singular_values
from tacit.models._dense import Dense
from tacit.models._gramian import infinite_hankel_singular_values
from tacit.models._parameter import check_length, gaussian, parameter
from tacit.models._realisation import ho_kalman
from tacit.models._transition import AbstractTransition


@final
class LinearRNN(eqx.Module):
    """s_{t+1} = A s_t + B x_t, y_t = C s_t (lowdim 3.1).

    `C=None` makes the model balanced: its output map is Bᵀ, the same parameters, so that descent
    cannot leave B = Cᵀ (lowdim, Lemma 6). All computation is in the dtype of the parameters.

    **Arguments:**

    - `transition`: A, e.g. `Diagonal`, `ConjugatePairs`, `Symmetric` or `Dense`, of width d.
    - `B`: the input map, (d, inputs).
    - `C`: the output map, (outputs, d), or `None`.
    """

    transition: AbstractTransition
    B: Float[Array, "d inputs"]
    C: Float[Array, "outputs d"] | None

    def __init__(
        self, transition: AbstractTransition, B: ArrayLike, C: ArrayLike | None = None
    ) -> None:
        if not isinstance(transition, AbstractTransition):
            raise ValueError(
                f"transition: received {type(transition).__name__}, it must be a transition "
                "object; wrap a matrix in Dense"
            )
        self.transition = transition
        self.B = parameter("B", B, ("width", "inputs"))
        self.C = None if C is None else parameter("C", C, ("outputs", "width"))
        for name, width, dtype in (
            ("B", self.B.shape[0], self.B.dtype),
            *(() if self.C is None else (("C", self.C.shape[1], self.C.dtype),)),
        ):
            if width != transition.width:
                raise ValueError(
                    f"{name}: received width {width}, it must fit the transition's width "
                    f"{transition.width}"
                )
            if dtype != transition.dtype:
                raise ValueError(
                    f"{name}: received {dtype}, it must have the transition's dtype "
                    f"{transition.dtype}; convert one to the other"
                )

    @property
    def width(self) -> int:
        """The size d of the state."""
        return self.transition.width

    @property
    def balanced(self) -> bool:
        """Whether C = Bᵀ by parametrisation."""
        return self.C is None

    @property
    def input_map(self) -> Float[Array, "d inputs"]:
        """B."""
        return self.B

    @property
    @precise
    def output_map(self) -> Float[Array, "outputs d"]:
        """C, which is Bᵀ in a balanced model."""
        return self.B.T if self.C is None else self.C

    @door(length=whole(1))
    @precise
    def impulse_response(self, length: int) -> Float[Array, "length outputs inputs"]:
        """C A^j B for j < length."""
        check_length(length)
        return self.transition.response(self.input_map, self.output_map, length)

    @door(length=whole(1))
    @precise
    def response_jacobian(self, length: int) -> "LinearRNN":
        """The derivative of `impulse_response` by every parameter.

        A model whose arrays have the response's axes (length, outputs, inputs) before their own.
        """
        check_length(length)
        A, by_B, by_C = self.transition.response_jacobian(self.input_map, self.output_map, length)
        if self.C is None:  # B is the output map too
            return eqx.tree_at(
                lambda m: (m.transition, m.B), self, (A, by_B + jnp.swapaxes(by_C, -1, -2))
            )
        return eqx.tree_at(lambda m: (m.transition, m.B, m.C), self, (A, by_B, by_C))

    @door(inputs=real(finite=False), initial_state=real(finite=False))
    @precise
    def simulate(
        self, inputs: ArrayLike, *, initial_state: ArrayLike | None = None
    ) -> Float[Array, "time outputs"]:
        """The outputs that follow the inputs (time, inputs), from `initial_state` (d,) or zero.

        Output t is C s_{t+1}, read after input t has been taken in: an impulse at t = 0 gives
        CB, CAB, CA²B, … In the indices of (3.1), where y_t is read before x_t, it is y_{t+1}.
        """
        dtype = self.B.dtype
        drive = parameter("inputs", inputs, ("time", "inputs")).astype(dtype)
        if drive.shape[1] != self.B.shape[1]:
            raise ValueError(
                f"inputs: received the shape {drive.shape}, they must have {self.B.shape[1]} "
                "columns, one for each input of the model"
            )
        if initial_state is None:
            state = jnp.zeros(self.width, dtype)
        else:
            state = parameter("initial_state", initial_state, ("width",)).astype(dtype)
            if state.shape != (self.width,):
                raise ValueError(
                    f"initial_state: received {state.shape}, it must have the model's width "
                    f"{self.width}"
                )

        return _simulate(self, drive, state)

    @precise
    def spectral_radius(self) -> Float[Array, ""]:
        """The largest absolute eigenvalue (for a dense transition: of a concrete model only)."""
        return jnp.max(jnp.abs(jnp.asarray(self.transition.eigenvalues())))

    def is_stable(self) -> bool:
        """Whether the impulse response decays: every eigenvalue inside the unit circle."""
        return float(self.spectral_radius()) < 1

    @door(length=whole(1))
    @precise
    def hankel_singular_values(
        self, *, length: int | None = None
    ) -> Float[Array, " singular_values"]:
        """The singular values of the Hankel matrix of the impulse response, the largest first.

        They do not depend on the basis of the state, and as many are nonzero as the order of the
        smallest equal system. With `length`, of the finite matrix made of so many lags; without,
        of the infinite one, from the Gramians of a stable and concrete model.
        """
        if length is not None:
            return jnp.asarray(hankel_singular_values(self.impulse_response(length)))
        if not self.is_stable():
            raise ValueError(
                f"length: received None, but the spectral radius is "
                f"{float(self.spectral_radius()):.6g} and the infinite Hankel matrix needs one "
                "below 1; pass length=… for a finite one"
            )
        A, B, C = (
            np.asarray(m, np.float64)
            for m in (self.transition.matrix(), self.input_map, self.output_map)
        )
        return jnp.asarray(infinite_hankel_singular_values(A, B, C), self.B.dtype)

    @classmethod
    @door(response=real(), order=whole(1))
    def from_impulse_response(cls, response: ArrayLike, order: int) -> "LinearRNN":
        """The balanced realisation of the given order, by the method of Ho and Kalman.

        Exact when `response`, (length,) or (length, outputs, inputs), is that of a system of this
        order and length is at least twice the order; else the truncation of its Hankel matrix to
        that rank. "Balanced" is meant in the sense of equal Gramians over these lags, not B = Cᵀ.
        """
        axes = ("length",) if np.ndim(response) == 1 else ("length", "outputs", "inputs")
        checked = np.asarray(parameter("response", response, axes))
        A, B, C = ho_kalman(checked.reshape(len(checked), *(checked.shape[1:] or (1, 1))), order)
        A, B, C = (m.astype(checked.dtype) for m in (A, B, C))
        return cls(Dense(A), B, C)

    @classmethod
    @door(
        transition=subclass(AbstractTransition),
        width=whole(1, 100_000),
        inputs=whole(1, 100_000),
        outputs=whole(1, 100_000),
        scale=number(0),
        balanced=flag,
        dtype=floating,
        key=key,
    )
    def random(
        cls,
        transition: type[AbstractTransition],
        width: int,
        *,
        inputs: int = 1,
        outputs: int = 1,
        scale: float | Float[Array, ""],
        balanced: bool = False,
        dtype: DTypeLike = np.float64,
        key: PRNGKeyArray,
    ) -> "LinearRNN":
        """A model whose parameters, those of the transition too, are independent N(0, scale²).

        `transition` is a class: `Diagonal`, `ConjugatePairs`, `Symmetric` or `Dense`.
        """
        check_length(inputs, "inputs")
        check_length(outputs, "outputs")
        if balanced and inputs != outputs:
            raise ValueError(
                f"outputs: received {outputs}, a balanced model has as many as inputs = {inputs}"
            )
        if not (isinstance(transition, type) and issubclass(transition, AbstractTransition)):
            raise ValueError(
                f"transition: received {transition!r}, it must be a class such as Diagonal"
            )
        with x64_for(np.dtype(dtype)):
            transition_key, input_key, output_key = jax.random.split(key, 3)
            A = transition.random(width, scale=scale, dtype=dtype, key=transition_key)
            B = gaussian((width, inputs), scale=scale, dtype=dtype, key=input_key)
            C = gaussian((outputs, width), scale=scale, dtype=dtype, key=output_key)
            return cls(A, B, None if balanced else C)


# Compiled here for calls outside a compiled loop, where the scan would be compiled again each time.
@jax.jit
def _simulate(
    model: LinearRNN, inputs: Float[Array, "time inputs"], state: Float[Array, " d"]
) -> Float[Array, "time outputs"]:
    def step(
        state: Float[Array, "d 1"], x: Float[Array, " inputs"]
    ) -> tuple[Float[Array, "d 1"], Float[Array, "d 1"]]:
        state = model.transition.apply(state) + (model.B @ x)[:, None]
        return state, state

    _, states = jax.lax.scan(step, state[:, None], inputs)
    return states[:, :, 0] @ model.output_map.T


@door(
    transition=subclass(AbstractTransition),
    width=whole(1, 100_000),
    scale=numbers(0),
    channels=whole(1, 100_000),
    balanced=flag,
)
def random_linear_rnns(
    transition: type[AbstractTransition],
    width: int,
    *,
    scale: float | int | ArrayLike,
    keys: Array,
    channels: int = 1,
    balanced: bool = False,
) -> LinearRNN:
    """A random model for each key, stacked: their arrays have the models along the first axis.

    Parameters are independent N(0, scale²), float64; `scale` is one number or one for each model.
    Models with equal keys differ in their scale alone. `channels` counts inputs and outputs.
    """
    if not is_array(keys):
        raise wrong("keys", keys, "must be keys of JAX, one for each model")
    if keys.ndim != 1:
        raise ValueError(f"keys: received the shape {keys.shape}, give one key for each model")
    with jax.enable_x64(True):
        if np.shape(scale) not in ((), keys.shape):
            raise ValueError(
                f"scale: received the shape {np.shape(scale)}, give one number, or one for each of "
                f"the {len(keys)} models"
            )
        scales = jnp.broadcast_to(jnp.asarray(scale, jnp.float64), keys.shape)
        return _random(transition, int(width), int(channels), bool(balanced), scales, keys)


@lightly
def _random(
    transition: type[AbstractTransition],
    width: int,
    channels: int,
    balanced: bool,
    scales: Array,
    keys: Array,
) -> LinearRNN:
    def draw(scale: Float[Array, ""], key: PRNGKeyArray) -> LinearRNN:
        return LinearRNN.random(
            transition,
            width,
            inputs=channels,
            outputs=channels,
            scale=scale,
            balanced=balanced,
            key=key,
        )

    return eqx.filter_vmap(draw)(scales, keys)


@door(models=instance(LinearRNN), length=whole(1))
@precise
def impulse_responses(models: LinearRNN, length: int) -> np.ndarray:
    """C A^j B for j < length, of each of several stacked models: (model, lag, output, input)."""
    return np.asarray(_responses(models, int(length)))


@lightly
def _responses(models: LinearRNN, length: int) -> Array:
    return eqx.filter_vmap(lambda model: model.impulse_response(length))(models)
