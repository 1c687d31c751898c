"""Kernels of infinitely wide recurrent networks whose weights are the same at every step."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tacit._doors import door, flag, instance, number, real
from tacit.theory.kernel._checks import checked_variance
from tacit.theory.kernel._limit import Number, checked_pair, pairwise
from tacit.theory.kernel._nonlinearity import Nonlinearity


class RecurrentKernel(NamedTuple):
    """Kernels between every pair of output times, (*batch, *batch2, time, time2)."""

    nngp: Float[np.ndarray, "*both time time2"]
    ntk: Float[np.ndarray, "*both time time2"]


@door(
    x=real(),
    x2=real(),
    nonlinearity=instance(Nonlinearity),
    nu_w=number(),
    nu_f=number(),
    nu_c=number(),
    nu_b=number(),
    train_bias=flag,
    scale_inputs=flag,
)
def recurrent_kernel(
    x: ArrayLike,
    x2: ArrayLike,
    *,
    nonlinearity: Nonlinearity,
    nu_w: Number,
    nu_f: Number = 1.0,
    nu_c: Number = 1.0,
    nu_b: Number = 0.0,
    train_bias: bool = True,
    scale_inputs: bool = False,
) -> RecurrentKernel:
    """The Gaussian-process and tangent kernels of h_t = φ(W h_{t−1}/√n + F x_t + b) as n → ∞.

    Outputs are y_t = C h_t/√n, h before the sequence is zero, and W, F, C and b are drawn once,
    with entries of variance ν_w, ν_f, ν_c, ν_b, and used at every step: tied weights. Gradients
    are by these drawn parameters (a convention that moves the standard deviations into the forward
    pass has another tangent kernel). With g_ts = ⟨x_t, x'_s⟩ and quantities before the first step
    zero (Alemohammad and others 2020; Yang 2019),

        Σ_ts = ν_w K_{t−1,s−1} + ν_f g_ts + ν_b,   K = E φ(u)φ(v),  K̇ = E φ'(u)φ'(v),
        Π_ts = K_{t−1,s−1} + g_ts + [ν_b > 0] + ν_w K̇_{t−1,s−1} Π_{t−1,s−1},
        NNGP = ν_c K,    NTK = K + ν_c K̇ Π,

    where (u, v) is Gaussian with the variances Σ_tt(x, x), Σ_ss(x', x') and the covariance Σ_ts.
    Only equal lags survive the limit: tied weights join different times through Σ_ts alone. With
    `Identity()` and no bias the NTK is `limit_kernel`.

    **Arguments:**

    - `x`, `x2`: sequences (…, time, inputs), with any leading axes and lengths of their own.
    - `nonlinearity`: `Identity()`, `Erf()`, `ReLU()`, `Tanh()`, or a `Smooth(φ, φ')`.
    - `nu_w`, `nu_f`, `nu_c`, `nu_b`: the variances; ν_b = 0 is a network without bias.
    - `train_bias`: whether a bias that is there is trained.
    - `scale_inputs`: for networks with F x_t/√inputs: g is divided by the number of inputs.
    """
    one, two = checked_pair(x, x2)
    if not isinstance(nonlinearity, Nonlinearity):
        raise ValueError(
            f"nonlinearity: received {nonlinearity!r}, it must be an object such as Erf() or ReLU()"
        )
    w, f, c, bias = (
        checked_variance(name, value)
        for name, value in (("nu_w", nu_w), ("nu_f", nu_f), ("nu_c", nu_c), ("nu_b", nu_b))
    )
    if scale_inputs:
        one, two = (sequences / np.sqrt(sequences.shape[-1]) for sequences in (one, two))
    g = pairwise(one, two)
    *both, times, times2 = g.shape
    q = _variances(one, nonlinearity, w, f, bias)  # (*batch, time)
    q2 = _variances(two, nonlinearity, w, f, bias)
    left = q.reshape(*q.shape[:-1], *(1,) * (two.ndim - 2), times, 1)
    trained = 1.0 if bias > 0 and train_bias else 0.0

    nngp, ntk = np.zeros(g.shape), np.zeros(g.shape)
    before = np.zeros((*both, times2))  # K_{t−1,s−1} along s
    carried = np.zeros((*both, times2))  # ν_w K̇_{t−1,s−1} Π_{t−1,s−1}
    for t in range(times):
        covariance = w * before + f * g[..., t, :] + bias
        found = nonlinearity.moments(left[..., t, :], q2, covariance)
        value, slope = (np.asarray(moment) for moment in found)
        pi = before + g[..., t, :] + trained + carried
        nngp[..., t, :] = c * value
        ntk[..., t, :] = value + c * slope * pi
        before[..., 1:], carried[..., 1:] = value[..., :-1], (w * slope * pi)[..., :-1]
    return RecurrentKernel(nngp, ntk)


def _variances(
    sequences: Float[np.ndarray, "*batch time inputs"],
    nonlinearity: Nonlinearity,
    w: float,
    f: float,
    bias: float,
) -> Float[np.ndarray, "*batch time"]:
    """Σ_tt(x, x) at every time."""
    drive = f * np.sum(sequences**2, axis=-1) + bias
    found = np.zeros(drive.shape)
    before = np.zeros(drive.shape[:-1])
    for t in range(drive.shape[-1]):
        found[..., t] = drive[..., t] + w * before
        before = np.asarray(nonlinearity.second_moment(found[..., t]))
    return found
