"""Random sequences with the outputs of a linear system and white noise, in NumPy."""

import numpy as np
from jaxtyping import Float

from tacit._doors import door, instance, number, real, whole


@door(
    units=whole(1, 100_000),
    inputs=whole(1, 100_000),
    nu_w=number(0),
    length=whole(1),
    rng=instance(np.random.Generator),
)
def random_rnn_response(
    units: int, *, inputs: int = 1, nu_w: float | int, length: int, rng: np.random.Generator
) -> Float[np.ndarray, "length 1 inputs"]:
    """The impulse response L_j = C W^j F of a random RNN with one output (kernel 1).

    Entries are independent and normal: those of W with variance ν_W/units, those of F with
    variance 1 and those of C with variance 1/units.
    """
    W = rng.normal(0, np.sqrt(nu_w), (units, units)) / np.sqrt(units)
    states = rng.normal(size=(units, inputs))
    C = rng.normal(size=(1, units)) / np.sqrt(units)
    response = []
    for _ in range(length):
        response.append(C @ states)
        states = W @ states
    return np.stack(response)


@door(response=real(3), x=real(3))
def filter_sequences(
    response: Float[np.ndarray, "length outputs inputs"],
    x: Float[np.ndarray, "sequences time inputs"],
) -> Float[np.ndarray, "sequences time outputs"]:
    """The outputs y_t = Σ_{j≤t} L_j x_{t−j} of an impulse response L; later lags of it are zero."""
    response, x = np.asarray(response), np.asarray(x)
    if response.shape[2] != x.shape[2]:
        raise ValueError(
            f"x: received {x.shape[2]} inputs, it must have as many as response, "
            f"{response.shape[2]}"
        )
    time = x.shape[1]
    y = np.zeros((*x.shape[:2], response.shape[1]))
    for j in range(min(time, len(response))):
        y[:, j:] += x[:, : time - j] @ response[j].T
    return y


@door(y=real(), decibels=number(), rng=instance(np.random.Generator))
def with_noise(
    y: Float[np.ndarray, "..."], *, decibels: float | int, rng: np.random.Generator
) -> Float[np.ndarray, "..."]:
    """The outputs with white noise added at a signal-to-noise ratio, in decibels."""
    y = np.asarray(y)
    power = np.mean(y**2) * 10 ** (-decibels / 10)
    return y + np.sqrt(power) * rng.normal(size=y.shape)
