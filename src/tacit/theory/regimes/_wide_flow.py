"""Gradient flow of an infinitely wide linear RNN at any γ₀, with finite matrices and no chance."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.linalg import block_diag
from scipy.signal import convolve2d

from tacit._doors import ANY, door, number, real, whole
from tacit.theory.kernel import lag_weights
from tacit.theory.regimes._kernel_corner import Number, checked_scale, checked_target

Parameters = tuple[Float[np.ndarray, "n n"], Float[np.ndarray, " n"], Float[np.ndarray, " n"]]


class WideFlow(NamedTuple):
    """Where the flow of an infinitely wide student ends.

    - `response`: what was learned, L, at all lags of the target.
    - `own`: ρ_j ∫ (L*_j − L_j) dτ for j < k, the part of L_j that the kernel of the start made. The
      rest of L, and all of it from k on, came through the change of the kernel.
    - `start`, `end`: the kernels, Gram matrices G of the trained lags.
    - `time`: τ at the end; `converged`: whether the train error asked for was reached.
    """

    response: Float[np.ndarray, " lags"]
    own: Float[np.ndarray, " length"]
    start: Float[np.ndarray, "length length"]
    end: Float[np.ndarray, "length length"]
    time: float
    converged: bool


@door(length=whole(1, 1000), nu_w=number(), turns=whole(0, 20))
def wide_start(length: int, nu_w: float, *, turns: int = 1) -> Parameters:
    """M, f and c: what W/√n, F/√n and C/√n are to each other at the start, for n → ∞.

    Inner products between words in M and Mᵀ, applied to f or to c, tend to those of a circular
    element: M = √ν_W (ℓ_a + ℓ_b*) on words in two letters, where ℓ_x writes x before a word and
    ℓ_x* takes it away (or gives 0). f and c are two empty words, orthogonal to each other. Then
    M^j f = ν_W^{j/2} a…a f and (Mᵀ)^j c = ν_W^{j/2} b…b c: the ρ_j of kernel (21) follow.
    On words before c, M acts as Mᵀ does on those before f, with the letters exchanged.

    Words before f have at most `length` letters, in at most `turns` + 1 runs of equal ones (one
    less if the run next to f is of b). A further turn costs a factor γ₀² and weighs little: a
    second one changes errors beyond k by less than 0.02.
    """
    return _wide_start(int(length), float(nu_w), int(turns))


@lru_cache(maxsize=64)
def _wide_start(length: int, nu_w: float, turns: int) -> Parameters:
    words, layer = [""], [""]
    for _ in range(length):
        grown = (letter + word for word in layer for letter in "ab")
        layer = [word for word in grown if _changes(word + "a") <= turns]
        words += layer
    place = {word: i for i, word in enumerate(words)}
    writes = np.zeros((len(words), len(words)))
    for word, i in place.items():
        if "a" + word in place:
            writes[place["a" + word], i] = 1
        if word.startswith("b"):
            writes[place[word[1:]], i] = 1
    f, c = np.zeros((2, 2 * len(words)))
    f[0] = c[len(words)] = 1
    return np.sqrt(nu_w) * block_diag(writes, writes.T), f, c


def _changes(word: str) -> int:
    """How often a letter is followed by another."""
    return word.count("ab") + word.count("ba")


@door(
    target=real(),
    gamma0=number(-1e9, 1e9),
    length=ANY,
    nu_w=number(),
    goal=number(above=0),
    rtol=number(above=0),
    steps=whole(1),
    turns=whole(0, 20),
)
def wide_flow(
    target: ArrayLike,
    gamma0: Number,
    *,
    length: int,
    nu_w: Number,
    goal: float = 2e-3,
    rtol: float = 1e-3,
    steps: int = 1_000,
    turns: int = 1,
) -> WideFlow:
    """Flow on ½ Σ_{j<k} (L_j − L*_j)² with L_j = c M^j f/γ₀, from `wide_start`.

    It is the limit n → ∞, at fixed γ₀, of a linear RNN with its output divided by γ = γ₀ √n and
    centred, at the rate γ² and with ν_F = ν_C = 1. Nothing in it is random. Steps are linearly
    implicit (G in place of the Hessian) and extrapolated to order two; some thirty suffice.

    **Arguments:**

    - `target`: L*, (lags,); those from `length` on are not learned.
    - `gamma0`: γ₀ > 0.
    - `length`, `nu_w`: the training length k, and the variance ν_W of the start.
    - `goal`: it ends where the error on the trained lags is this part of the target.
    - `rtol`: the error of a step over the way that the parameters have come.
    - `steps`: at most so many.
    - `turns`: as for `wide_start`.
    """
    wanted, scale = checked_target(target, length), float(checked_scale(gamma0))
    if wanted.ndim != 1 or not scale > 0:
        raise ValueError(
            f"target and gamma0: received the shape {wanted.shape} and {gamma0!r}, they must be a "
            "response (lags,) and a positive number"
        )
    seen, origin = wanted[:length], wide_start(length, float(nu_w), turns=turns)
    size, here = float(np.linalg.norm(seen)), _Linearised(origin, scale, seen)
    start, made, time, h = here.gram, np.zeros(length), 0.0, 0.01
    for _ in range(steps):
        if np.linalg.norm(here.error) <= goal * size:
            break
        way = _size(a - b for a, b in zip(here.theta, origin, strict=True))
        while True:
            whole, half = here.step(h), here.step(h / 2)
            middle = _Linearised(_moved(here.theta, half), scale, seen)
            rest = middle.step(h / 2)
            wrong = _Step(*(a + b - c for a, b, c in zip(half, rest, whole, strict=True)))
            excess = _size(wrong[:3]) / (rtol * (way + scale * size))
            if excess <= 1:
                break
            h *= max(0.2, 0.9 / np.sqrt(excess))
        here = _Linearised(_moved(_moved(middle.theta, rest), wrong), scale, seen)
        made, time = made + half.made + rest.made + wrong.made, time + h
        h *= min(5.0, 0.9 / np.sqrt(max(excess, 1e-4)))
    M, f, c = here.theta
    return WideFlow(
        response=_powers(M, f, len(wanted)) @ c / scale,
        own=lag_weights(length, nu_w=nu_w) * made,
        start=start,
        end=here.gram,
        time=time,
        converged=bool(np.linalg.norm(here.error) <= goal * size),
    )


class _Step(NamedTuple):
    M: np.ndarray
    f: np.ndarray
    c: np.ndarray
    made: np.ndarray  # ∫ (L* − L) dτ over the step


class _Linearised:
    """The flow at one point: L − L*, G, and linearly implicit Euler steps."""

    def __init__(self, theta: Parameters, scale: float, target: np.ndarray) -> None:
        M, f, c = theta
        self.theta, self.scale, lags = theta, scale, len(target)
        self.q = _powers(M, f, lags)
        self.p = np.roll(self.q, len(f) // 2, axis=1)  # (Mᵀ)^j c, by symmetry
        self.error = self.q @ c / scale - target
        Q = self.q @ self.q.T
        self.gram = 2 * Q
        if lags > 1:
            self.gram[1:, 1:] += convolve2d(Q[:-1, :-1], Q[:-1, :-1])[: lags - 1, : lags - 1]

    def step(self, h: float) -> _Step:
        """−h Jᵀ (1 + h G)⁻¹ (L − L*): by M it is γ₀ Σ_il made_{i+l+1} p_i q_lᵀ."""
        made = -h * np.linalg.solve(np.eye(len(self.gram)) + h * self.gram, self.error)
        lags = len(made)
        padded = np.concatenate([made, np.zeros(lags)])
        hankel = padded[np.add.outer(np.arange(lags), np.arange(lags)) + 1]
        return _Step(
            self.scale * (self.p.T @ (hankel @ self.q)),
            self.scale * (made @ self.p),
            self.scale * (made @ self.q),
            made,
        )


def _moved(theta: Parameters, step: _Step) -> Parameters:
    return theta[0] + step.M, theta[1] + step.f, theta[2] + step.c


def _size(parts: Any) -> float:
    return float(np.sqrt(sum(np.sum(part**2) for part in parts)))


def _powers(
    M: Float[np.ndarray, "n n"], vector: Float[np.ndarray, " n"], length: int
) -> Float[np.ndarray, "length n"]:
    """M^j v for j < length, in rows."""
    rows = [vector]
    for _ in range(length - 1):
        rows.append(M @ rows[-1])
    return np.stack(rows)
