"""Plain gradient descent on W of a linear network on the Simple task, in NumPy.

Two ways, which agree to rounding while the network is stable (the tests compare them):

- `at_fixed_point`: the output is z = wᵀ(I − W)⁻¹m, where the trial ends. The gradient y xᵀ has rank
  one, so that (I − W)⁻¹ is brought up to date in O(N²) operations (Sherman and Morrison).
- `in_time`: the trial is simulated in Euler steps and differentiated backwards, as the paper did;
  about 2 × 202 matrix–vector products an epoch.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

DT, STEPS, ONSET, READ = 0.5, 202, 2, 2  # the Simple task: T = 101, loss on the last two steps
_LOST = 1e6  # an output beyond this has diverged
_BLOCK = 8  # steps of a trial that are taken together


class Network(NamedTuple):
    """A linear network before training."""

    W0: Float[np.ndarray, "n n"]
    w: Float[np.ndarray, " n"]
    m: Float[np.ndarray, " n"]


class Training(NamedTuple):
    """What one run leaves: ΔW after k epochs is Y[:, :k] X[:, :k]ᵀ where it has factors."""

    losses: Float[np.ndarray, " epochs_and_one"]
    gradients: Float[np.ndarray, " epochs_and_one"]
    """‖dL/dW‖ before each epoch."""
    Y: Float[np.ndarray, "n epochs"]
    X: Float[np.ndarray, "n epochs"]
    diverged: bool


def drawn_network(size: int, g: float, seed: int) -> Network:
    """W₀ with N(0, g²/N) entries and w, m of norm 1; one seed's W₀ differ in the factor g alone."""
    rng = np.random.default_rng([seed, size])
    J = rng.normal(size=(size, size)) / np.sqrt(size)
    w, m = rng.normal(size=(2, size))
    return Network(g * J, w / np.linalg.norm(w), m / np.linalg.norm(m))


def at_fixed_point(network: Network, target: float, rate: float, epochs: int) -> Training:
    """Descend ½(ẑ − z)² for so many epochs."""
    from scipy.linalg.blas import dger

    W0, w, m = network
    size = len(w)
    inverse = np.asfortranarray(np.linalg.inv(np.eye(size) - W0))
    x, y = inverse @ m, inverse.T @ w
    losses, gradients = np.full((2, epochs + 1), np.nan)
    Y, X = np.zeros((2, size, epochs))
    for epoch in range(epochs + 1):
        error = target - w @ x
        if not abs(error) < _LOST:
            return Training(losses, gradients, Y, X, True)
        losses[epoch] = error**2 / 2
        gradients[epoch] = abs(error) * np.linalg.norm(x) * np.linalg.norm(y)
        if epoch == epochs:
            break
        step = rate * error
        Y[:, epoch], X[:, epoch] = step * y, x
        u, v = inverse @ y, inverse.T @ x
        factor = step / (1 - step * (x @ u))
        inverse = dger(factor, u, v, a=inverse, overwrite_a=1)
        x, y = x + factor * (x @ x) * u, y + factor * (y @ y) * v
    return Training(losses, gradients, Y, X, False)


def in_time(
    network: Network,
    target: float,
    rate: float,
    epochs: int,
    *,
    steps: int = STEPS,
    lost: float = _LOST,
    watch: Callable[[np.ndarray], None] | None = None,
) -> Training:
    """The same by simulating the trial in time: one trial, gradients backwards in time.

    It computes in the precision of the network. An output of `lost` or more, or one that is no
    number, has diverged. `watch` sees W before each epoch, and after the last.
    """
    W0, w, m = network
    size, half = len(w), w.dtype.type(DT)
    W = W0.copy()
    losses, gradients = np.full((2, epochs + 1), np.nan)
    # With √N m going in and w/√N coming out, √N cancels.
    drive, rate = half * m, w.dtype.type(rate)
    for epoch in range(epochs + 1):
        if watch is not None:
            watch(W)
        step = half * W + (1 - half) * np.eye(size, dtype=w.dtype)
        # x_0 and those before the onset are zero.
        states = np.concatenate(
            [np.zeros((ONSET + 1, size), w.dtype), _orbit(step, drive, steps - ONSET)]
        )
        errors = states[-READ:] @ w - w.dtype.type(target)
        if not np.abs(errors).max() < lost:
            return Training(losses, gradients, np.zeros((size, 0)), np.zeros((size, 0)), True)
        losses[epoch] = 0.5 * np.mean(errors**2)
        # The readings' errors enter at the last steps; from there on it is powers of stepᵀ.
        end = np.zeros((READ, size), w.dtype)
        end[0] = errors[-1] / READ * w
        for k in range(1, READ):
            end[k] = step.T @ end[k - 1] + errors[-1 - k] / READ * w
        adjoints = np.concatenate([end, _orbit(step.T, None, steps - READ, end[-1])])[::-1]
        gradient = half * adjoints.T @ states[:-1]
        gradients[epoch] = np.linalg.norm(gradient)
        if epoch < epochs:
            W = W - rate * gradient
    U, values, Vt = np.linalg.svd(W - W0)
    return Training(losses, gradients, U * values, Vt.T, False)


def _orbit(
    step: np.ndarray, drive: np.ndarray | None, count: int, start: np.ndarray | None = None
) -> np.ndarray:
    """`count` iterates of x ← step x + drive, (count, N), `_BLOCK` at a time.

    With x_0 the start, x_{k+b} = stepᵇ x_k + (stepᵇ⁻¹ + … + 1) drive: one product of matrices in
    place of b products with vectors.
    """
    size = len(step)
    block = np.zeros((size, _BLOCK), step.dtype)
    x = np.zeros(size, step.dtype) if start is None else start
    pushed = np.zeros(size, step.dtype)
    for k in range(_BLOCK):
        x = step @ x
        if drive is not None:
            pushed = step @ pushed + drive
            x = x + drive
        block[:, k] = x
    power = np.linalg.matrix_power(step, _BLOCK)
    found = [block]
    for _ in range((count - 1) // _BLOCK):
        found.append(power @ found[-1] + pushed[:, None])
    return np.concatenate(found, axis=1)[:, :count].T


def change_singular_values(training: Training, epochs: np.ndarray, count: int) -> np.ndarray:
    """The largest singular values of ΔW after so many epochs of `at_fixed_point`, (epochs, count).

    The factors are made triangular once; each epoch is then a small matrix.
    """
    left, right = np.linalg.qr(training.Y).R, np.linalg.qr(training.X).R
    found = np.zeros((len(epochs), count))
    for row, epoch in enumerate(epochs):
        if epoch and not training.diverged:
            values = np.linalg.svd(left[:, :epoch] @ right[:, :epoch].T, compute_uv=False)
            found[row, : len(values)] = values[:count]
    return found


def crossing_time(losses: np.ndarray, rate: float, fraction: float) -> float:
    """τ = η × epochs when the loss first falls to a fraction, straight in its logarithm between."""
    below = np.flatnonzero(losses <= fraction * losses[0])
    if not below.size:
        return np.inf
    after = int(below[0])
    high, low = np.log(losses[after - 1]), np.log(losses[after])
    return rate * float(after - 1 + (high - np.log(fraction * losses[0])) / (high - low))


def paper_rate(target: float, g: float) -> float:
    """η = η₀(1 − g²)² with η₀ = 0.015, 0.009, 0.003 for ẑ = 0.5, 1, 2.

    Between these straight in logarithms; beyond them as 1/ẑ², about as the largest curvature grows.
    """
    known, rates = np.log([0.5, 1.0, 2.0]), np.log([0.015, 0.009, 0.003])
    place = np.log(abs(target))
    inside = np.clip(place, known[0], known[-1])
    base = np.exp(np.interp(inside, known, rates) - 2 * max(0.0, place - known[-1]))
    return float(base * (1 - g**2) ** 2)
