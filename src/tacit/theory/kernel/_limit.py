"""The kernel of an infinitely wide linear RNN: a weight for each lag."""

import math

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tacit._doors import door, number, real, whole
from tacit.theory.kernel._checks import checked_length, checked_sequences, checked_variance

Number = float | int | np.number


@door(length=whole(1), nu_w=number(), nu_f=number(), nu_c=number())
def lag_weights(
    length: int, *, nu_w: Number, nu_f: Number = 1.0, nu_c: Number = 1.0
) -> Float[np.ndarray, " length"]:
    """ρ_j = ν_C (j ν_F ν_W^{j−1} + ν_W^j) + ν_F ν_W^j for j < length (kernel 21).

    ρ_j is the rate at which gradient descent moves the lag j of a linear RNN of infinite width,
    and the scale of the convolution that learns alike. The three terms come from W, F and C:
    j ν_C ν_F ν_W^{j−1}, ν_C ν_W^j and ν_F ν_W^j.

    **Arguments:**

    - `length`: the number of lags.
    - `nu_w`, `nu_f`, `nu_c`: the variances of the entries of W, F and C at the start, in the
      scaling h_t = W h_{t−1}/√n + F x_t, y_t = C h_t/√n (kernel 1).
    """
    lags = np.arange(checked_length(length))
    w, f, c = (
        checked_variance(name, value)
        for name, value in (("nu_w", nu_w), ("nu_f", nu_f), ("nu_c", nu_c))
    )
    with np.errstate(under="ignore"):
        powers = w ** np.arange(lags.size, dtype=np.float64)
        before = np.concatenate([[0.0], powers[:-1]])  # ν_W^{j−1}, of no account at j = 0
        return c * f * lags * before + (c + f) * powers


@door(nu_w=number(), nu_f=number(), nu_c=number())
def heaviest_lag(*, nu_w: Number, nu_f: Number = 1.0, nu_c: Number = 1.0) -> int:
    """The lag at which ρ_j of `lag_weights` is largest: descent moves it fastest.

    With a = ν_C ν_F and b = ν_C + ν_F, ρ_j = ν_W^{j−1} (a j + b ν_W), so that

        ρ_{j+1} > ρ_j   exactly if   j < ν_W/(1 − ν_W) − ν_W b/a.

    The weights rise up to that lag and fall from there on. They fall from lag 0 on exactly if
    ν_W ≤ 1 − a/b, which is ½ for ν_F = ν_C = 1; at ν_W = 0.9 the heaviest lag is 8. Of two equal
    weights it is the earlier one.

    **Arguments:**

    - `nu_w`: the variance of W's entries, below one: at one and beyond the weights never fall.
    - `nu_f`, `nu_c`: as for `lag_weights`, positive.
    """
    w, f, c = (
        checked_variance(name, value)
        for name, value in (("nu_w", nu_w), ("nu_f", nu_f), ("nu_c", nu_c))
    )
    if not w < 1 or not f * c > 0:
        raise ValueError(
            f"nu_w, nu_f, nu_c: received {w:g}, {f:g} and {c:g}; nu_w must be below 1, the others "
            "positive"
        )
    rise = 1 / (1 - w) - (c + f) / (c * f)
    return max(int(rise > 0), math.ceil(w * rise))  # w times it may underflow to zero, or be zero


@door(x=real())
def toeplitz(x: ArrayLike) -> Float[np.ndarray, "*batch lags_inputs time"]:
    """T(x), the matrix of delayed inputs (kernel 18): row (j, i), column t holds x_{t−j, i}.

    An impulse response L gives the outputs y_t = Σ_j L_j x_{t−j}, that is (L_0, L_1, …) T(x).

    **Arguments:**

    - `x`: sequences (…, time, inputs).
    """
    sequences = checked_sequences("x", x)
    delayed = delays(sequences)  # (…, time, lags, inputs)
    *batch, time, _, inputs = delayed.shape
    return np.swapaxes(delayed.reshape(*batch, time, time * inputs), -1, -2)


@door(x=real(), x2=real(), nu_w=number(), nu_f=number(), nu_c=number())
def limit_kernel(
    x: ArrayLike,
    x2: ArrayLike,
    *,
    nu_w: Number,
    nu_f: Number = 1.0,
    nu_c: Number = 1.0,
) -> Float[np.ndarray, "*both time time2"]:
    """K(x, x') = T(x)ᵀ D(ρ) T(x'), the tangent kernel at infinite width (kernel 20).

    Between every pair of output times, for one output; with several outputs it is K ⊗ I.

    **Arguments:**

    - `x`, `x2`: sequences (…, time, inputs), with any leading axes and lengths of their own. The
      kernel has the leading axes of `x`, then those of `x2`, then both times.
    - `nu_w`, `nu_f`, `nu_c`: as for `lag_weights`.
    """
    one, two = checked_pair(x, x2)
    lags = min(one.shape[-2], two.shape[-2])
    rho = lag_weights(lags, nu_w=nu_w, nu_f=nu_f, nu_c=nu_c)
    left = delays(one)[..., :lags, :] * rho[:, None]
    right = delays(two)[..., :lags, :]
    flat_left = left.reshape(*left.shape[:-2], -1)
    flat_right = right.reshape(*right.shape[:-2], -1)
    return pairwise(flat_left, flat_right)


def checked_pair(
    x: ArrayLike, x2: ArrayLike
) -> tuple[Float[np.ndarray, "*batch time inputs"], Float[np.ndarray, "*batch2 time2 inputs"]]:
    """Two arrays of sequences with as many inputs."""
    one, two = checked_sequences("x", x), checked_sequences("x2", x2)
    if one.shape[-1] != two.shape[-1]:
        raise ValueError(
            f"x2: received {two.shape[-1]} inputs, it must have as many as x, {one.shape[-1]}"
        )
    return one, two


def pairwise(
    one: Float[np.ndarray, "*batch time features"], two: Float[np.ndarray, "*batch2 time2 features"]
) -> Float[np.ndarray, "*both time time2"]:
    """The inner products of all vectors of one with all of the other."""
    products = one.reshape(-1, one.shape[-1]) @ two.reshape(-1, two.shape[-1]).T
    batch, batch2 = one.shape[:-2], two.shape[:-2]
    table = products.reshape(*one.shape[:-1], *two.shape[:-1])
    return np.moveaxis(table, len(batch), len(batch) + len(batch2))


def delays(
    sequences: Float[np.ndarray, "*batch time inputs"],
) -> Float[np.ndarray, "*batch time lags inputs"]:
    """x_{t−j} at the times t and lags j, zero before the sequence begins."""
    *batch, time, inputs = sequences.shape
    out = np.zeros((*batch, time, time, inputs))
    for j in range(time):
        out[..., j:, j, :] = sequences[..., : time - j, :]
    return out
