"""Plain gradient descent on W, epoch by epoch: what the exact flow is the limit of.

    W ← W − η dL/dW,    L = ½(ẑ − z)²,    z = wᵀ(I − W)⁻¹m.

This is the discrete recursion of the reduced system, for one network and in NumPy; models and
losses of any kind are trained by `tacit.descent`. The loop is written once. It moves a state:

- `FixedPoint`: the output is taken where the trial ends. The gradient y xᵀ has rank one, so that
  (I − W)⁻¹ gains a product of two vectors per epoch (Sherman and Morrison). Of a `LinearNetwork`
  an epoch takes O(N²) operations, of a `DecomposedNetwork` O(N × epochs).
- `SimulatedTrial`: the trial is simulated in Euler steps and differentiated backwards, as the paper
  did. That takes about 2 × 202 matrix–vector products per epoch.

The two agree to rounding while the network is stable.
"""

import abc
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, final

import numpy as np
from jaxtyping import Float

from tacit._doors import SEEDS, door, function, instance, number, whole

DT, STEPS, ONSET, READ = 0.5, 202, 2, 2  # the Simple task: T = 101, loss on the last two steps
_BLOCK = 8  # steps of a trial that are taken together


class LinearNetwork(NamedTuple):
    """A linear network before training: z = wᵀ(I − W₀)⁻¹m."""

    W0: Float[np.ndarray, "n n"]
    w: Float[np.ndarray, " n"]
    m: Float[np.ndarray, " n"]

    @classmethod
    @door(size=whole(1, 100_000), g=number(0), seed=whole(0, SEEDS))
    def random(cls, size: int, g: float, *, seed: int) -> "LinearNetwork":
        """W₀ with N(0, g²/N) entries, w and m of norm 1; one seed's W₀ differ in g alone."""
        rng = np.random.default_rng([seed, size])
        J = rng.normal(size=(size, size)) / np.sqrt(size)
        w, m = rng.normal(size=(2, size))
        return cls(g * J, w / np.linalg.norm(w), m / np.linalg.norm(m))

    def astype(self, dtype: Any) -> "LinearNetwork":
        """The same network in another precision."""
        return LinearNetwork(*(part.astype(dtype) for part in self))


class DecomposedNetwork(NamedTuple):
    """A network in the singular bases of I − W₀ = U S Vᵀ, where W₀ costs nothing.

    z = wᵀ(I − W)⁻¹m with S for I − W₀, Vᵀw for w, Uᵀm for m and UᵀΔWV for ΔW. One decomposition
    serves every target, the descent and the exact flow.
    """

    values: Float[np.ndarray, " n"]
    w: Float[np.ndarray, " n"]
    m: Float[np.ndarray, " n"]
    U: Float[np.ndarray, "n n"]
    Vt: Float[np.ndarray, "n n"]

    @classmethod
    @door(network=instance(LinearNetwork))
    def of(cls, network: LinearNetwork) -> "DecomposedNetwork":
        """By one singular value decomposition."""
        U, values, Vt = np.linalg.svd(np.eye(len(network.w)) - network.W0)
        return cls(values, Vt @ network.w, U.T @ network.m, U, Vt)


class TrainedState(abc.ABC):
    """What `gradient_descent` moves."""

    @abc.abstractmethod
    def error(self) -> float:
        """The largest |error| of an output, in a trial with the present W."""

    @abc.abstractmethod
    def loss_and_gradient(self) -> tuple[float, float]:
        """The loss of that trial, and the norm of dL/dW."""

    @abc.abstractmethod
    def step(self, rate: float) -> None:
        """W ← W − rate dL/dW."""


State = TypeVar("State", bound=TrainedState)


class DescentCurve(NamedTuple):
    """What gradient descent leaves; NaN after an epoch at which the output diverged."""

    losses: Float[np.ndarray, " epochs_and_one"]
    gradients: Float[np.ndarray, " epochs_and_one"]
    """‖dL/dW‖ before each epoch."""
    watched: list[Any]
    diverged: bool


@door(
    answer="any",
    state=instance(TrainedState),
    rate=number(),
    epochs=whole(0),
    lost=number(above=0, infinite=True),
    watch=function,
)
def gradient_descent(
    state: State,
    rate: float,
    epochs: int,
    *,
    lost: float = 1e6,
    watch: Callable[[State], Any] | None = None,
) -> DescentCurve:
    """Move a state for so many epochs.

    **Arguments:**

    - `state`: a `FixedPoint` or a `SimulatedTrial`; it is changed in place.
    - `rate`: the learning rate η.
    - `lost`: an error of this size or more, or one that is no number, has diverged.
    - `watch`: sees the state before each epoch and after the last; what it returns is kept.
    """
    losses, gradients = np.full((2, epochs + 1), np.nan)
    watched = []
    for epoch in range(epochs + 1):
        if watch is not None:
            watched.append(watch(state))
        if not state.error() < lost:
            return DescentCurve(losses, gradients, watched, True)
        losses[epoch], gradients[epoch] = state.loss_and_gradient()
        if epoch < epochs:
            state.step(rate)
    return DescentCurve(losses, gradients, watched, False)


@final
class FixedPoint(TrainedState):
    """A network whose output is read at the trial's fixed point.

    It keeps x = (I − W)⁻¹m, y = (I − W)⁻ᵀw and the pairs of vectors by which the inverse has grown.
    ΔW after k epochs is the product of the first k columns that the steps added.
    """

    @door(network=instance(LinearNetwork, DecomposedNetwork), target=number())
    def __init__(self, network: LinearNetwork | DecomposedNetwork, target: float) -> None:
        self._network, self.w, self.target = network, network.w, target
        if isinstance(network, DecomposedNetwork):
            self._inverse = 1 / network.values
        else:
            self._inverse = np.linalg.inv(np.eye(len(self.w)) - network.W0)
        self._grown = np.empty((2, 64, len(self.w)))
        self._left: list[np.ndarray] = []
        self._right: list[np.ndarray] = []
        self.x, self.y = self._solved(network.m), self._solved(network.w, transposed=True)

    def error(self) -> float:
        """|ẑ − z|."""
        self._error = self.target - self.w @ self.x
        return abs(self._error)

    def loss_and_gradient(self) -> tuple[float, float]:
        """½(ẑ − z)² and |ẑ − z| ‖x‖ ‖y‖."""
        norm = abs(self._error) * np.linalg.norm(self.x) * np.linalg.norm(self.y)
        return self._error**2 / 2, norm

    def step(self, rate: float) -> None:
        """Add η(ẑ − z) y xᵀ to W."""
        x, y, step = self.x, self.y, rate * self._error
        u, v = self._solved(y), self._solved(x, transposed=True)
        factor = step / (1 - step * (x @ u))
        epoch = len(self._left)
        if epoch == self._grown.shape[1]:
            self._grown = np.concatenate([self._grown, np.empty_like(self._grown)], axis=1)
        self._grown[:, epoch] = factor * u, v
        self._left.append(step * y)
        self._right.append(x)
        self.x, self.y = x + factor * (x @ x) * u, y + factor * (y @ y) * v

    def _solved(self, vector: np.ndarray, *, transposed: bool = False) -> np.ndarray:
        """(I − W)⁻¹ times a vector, or its transpose's."""
        first, second = self._grown[:, : len(self._left)]
        if transposed:
            first, second = second, first
        if self._inverse.ndim == 1:
            start = self._inverse * vector
        else:
            start = (self._inverse.T if transposed else self._inverse) @ vector
        return np.asarray(start + (second @ vector) @ first)

    def change(self, rank: int | None = None) -> Float[np.ndarray, "n n"]:
        """ΔW, or its best approximation of a rank."""
        if not self._left:
            return np.zeros((len(self.w), len(self.w)))
        left, right = (np.stack(part, axis=1) for part in (self._left, self._right))
        if isinstance(self._network, DecomposedNetwork):
            left, right = self._network.U @ left, self._network.Vt.T @ right
        if rank is not None:
            (left, first), (right, second) = np.linalg.qr(left), np.linalg.qr(right)
            U, values, Vt = np.linalg.svd(first @ second.T)
            left, right = left @ (U[:, :rank] * values[:rank]), right @ Vt[:rank].T
        return np.asarray(left @ right.T)

    def singular_values(self, epochs: np.ndarray, count: int) -> Float[np.ndarray, "epochs count"]:
        """The largest singular values of ΔW after so many epochs, (epochs, count).

        The factors are made triangular once; each epoch is then a small matrix.
        """
        found = np.zeros((len(epochs), count))
        if not self._left:
            return found
        left, right = (np.linalg.qr(np.stack(part, axis=1)).R for part in (self._left, self._right))
        for row, epoch in enumerate(epochs):
            if epoch:
                values = np.linalg.svd(left[:, :epoch] @ right[:, :epoch].T, compute_uv=False)
                found[row, : len(values)] = values[:count]
        return found


@final
class SimulatedTrial(TrainedState):
    """A network whose trial is simulated in time, in the network's own precision."""

    @door(network=instance(LinearNetwork), target=number(), steps=whole(ONSET + READ))
    def __init__(self, network: LinearNetwork, target: float, *, steps: int = STEPS) -> None:
        self.W, self.w = network.W0.copy(), network.w
        self.target, self.steps = self.w.dtype.type(target), steps
        self._half = self.w.dtype.type(DT)
        # With √N m going in and w/√N coming out, √N cancels.
        self._drive = self._half * network.m

    def error(self) -> float:
        """The larger error of the last two steps."""
        w, half, size = self.w, self._half, len(self.w)
        self._step = half * self.W + (1 - half) * np.eye(size, dtype=w.dtype)
        # x_0 and those before the onset are zero.
        silence = np.zeros((ONSET + 1, size), w.dtype)
        driven = _orbit(self._step, self._drive, self.steps - ONSET)
        self._states = np.concatenate([silence, driven])
        self._errors = self._states[-READ:] @ w - self.target
        return float(np.abs(self._errors).max())

    def outputs(self) -> Float[np.ndarray, " steps_and_one"]:
        """z at every step of the trial that `error` has simulated, from the first on."""
        return self._states @ self.w

    def loss_and_gradient(self) -> tuple[float, float]:
        """Half the mean squared error, and the gradient backwards in time."""
        w, step, errors = self.w, self._step, self._errors
        # The readings' errors enter at the last steps; from there on it is powers of stepᵀ.
        end = np.zeros((READ, len(w)), w.dtype)
        end[0] = errors[-1] / READ * w
        for k in range(1, READ):
            end[k] = step.T @ end[k - 1] + errors[-1 - k] / READ * w
        adjoints = np.concatenate([end, _orbit(step.T, None, self.steps - READ, end[-1])])[::-1]
        self._gradient = self._half * adjoints.T @ self._states[:-1]
        return float(0.5 * np.mean(errors**2)), float(np.linalg.norm(self._gradient))

    def step(self, rate: float) -> None:
        """W ← W − rate dL/dW."""
        self.W = self.W - self.w.dtype.type(rate) * self._gradient


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
    # What has faded goes to zero: below their normal range numbers take a hundred times as long.
    faded = np.finfo(step.dtype).tiny / np.finfo(step.dtype).eps
    for _ in range((count - 1) // _BLOCK):
        block = power @ found[-1] + pushed[:, None]
        block[np.abs(block) < faded] = 0
        found.append(block)
    return np.concatenate(found, axis=1)[:, :count].T
