"""A learning curve: the path of W walked in the learning time τ, for any target.

With e = ẑ − z and dz/ds = (|x||y|)², the time in which the error shrinks by e^{−ℓ} is

    τ(ℓ) = ∫₀^ℓ dℓ' / (|x||y|)²    at z = ẑ − (ẑ − z₀) e^{−ℓ'}:

an integral of a smooth function, with no pole where learning ends. The loss is L₀ e^{−2ℓ}.
"""

from functools import cached_property
from typing import NamedTuple, SupportsFloat, final

import numpy as np
from jaxtyping import Float

from tacit._doors import door, number, numbers, whole
from tacit.theory.connectivity._checks import Times, checked_fraction, checked_number, checked_times
from tacit.theory.connectivity._path import Path

_NODES = 20  # Gauss nodes a panel
_PANELS = 16  # even in σ, until the error has fallen by 1/e
_LAST = 38.0  # e^{−38} is below the rounding of z


class Clock(NamedTuple):
    """τ(ℓ) for one target, as polynomials on panels; beyond the last one τ grows linearly."""

    edges: Float[np.ndarray, " edges"]
    times: Float[np.ndarray, " edges"]
    integrals: Float[np.ndarray, "panels coefficients"]
    last: float
    """dτ/dℓ at the target."""

    def time(self, fall: np.ndarray) -> np.ndarray:
        """τ at some ℓ ≥ 0."""
        panel = np.clip(np.searchsorted(self.edges, fall, side="right") - 1, 0, len(self.edges) - 2)
        inside = np.minimum(fall, self.edges[-1])
        found = self.times[panel] + self._partial(panel, inside)
        return found + np.maximum(fall - self.edges[-1], 0) * self.last

    def fall(self, times: np.ndarray) -> np.ndarray:
        """ℓ at some τ ≥ 0, by Newton's method inside the panel."""
        panel = np.clip(
            np.searchsorted(self.times, times, side="right") - 1, 0, len(self.edges) - 2
        )
        low, high = self.edges[panel], self.edges[panel + 1]
        span = self.times[panel + 1] - self.times[panel]
        found = low + (high - low) * np.clip((times - self.times[panel]) / span, 0, 1)
        for _ in range(8):
            error = (
                self.times[panel] + self._partial(panel, found) - np.minimum(times, self.times[-1])
            )
            slope = self._slope(panel, found)
            found = np.clip(found - error / slope, low, high)
        return found + np.maximum(times - self.times[-1], 0) / self.last

    def _place(self, panel: np.ndarray, fall: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        half = (self.edges[panel + 1] - self.edges[panel]) / 2
        return (fall - self.edges[panel]) / half - 1, half

    def _partial(self, panel: np.ndarray, fall: np.ndarray) -> np.ndarray:
        place, half = self._place(panel, fall)
        basis = np.polynomial.legendre.legvander(place, _NODES)
        return half * np.sum(basis * self.integrals[panel], axis=-1)

    def _slope(self, panel: np.ndarray, fall: np.ndarray) -> np.ndarray:
        place, _ = self._place(panel, fall)
        basis = np.polynomial.legendre.legvander(place, _NODES - 1)
        derivatives = np.polynomial.legendre.legder(self.integrals[panel], axis=-1)
        return np.sum(basis * derivatives, axis=-1)


@final
class LearningCurve:
    """How a linear network learns, exactly: what `exact_g0`, `learning_curve`, `large_n` return.

    Every method takes the target ẑ; by default, it is the one that the curve was made with.
    """

    def __init__(self, path: Path, targets: tuple[float, ...]) -> None:
        self._path = path
        self._targets = targets
        self._clocks: dict[float, Clock] = {}

    @door(times=numbers(infinite=True), target=number())
    def output(
        self, times: Times, *, target: SupportsFloat | None = None
    ) -> Float[np.ndarray, "*times"]:
        """z(τ)."""
        tau, goal = checked_times(times), self._target(target)
        fall = self._clock(goal).fall(tau.ravel())
        return self._output(goal, fall).reshape(tau.shape)

    @door(times=numbers(infinite=True), target=number())
    def loss(
        self, times: Times, *, target: SupportsFloat | None = None
    ) -> Float[np.ndarray, "*times"]:
        """½(ẑ − z(τ))², accurate also where it is tiny."""
        tau, goal = checked_times(times), self._target(target)
        fall = self._clock(goal).fall(tau.ravel())
        return (0.5 * (goal - self._path.start) ** 2 * np.exp(-2 * fall)).reshape(tau.shape)

    @door(times=numbers(infinite=True), target=number())
    def arc_length(
        self, times: Times, *, target: SupportsFloat | None = None
    ) -> Float[np.ndarray, "*times"]:
        """σ(τ), the length of the path that W has taken, negative where z falls."""
        tau, goal = checked_times(times), self._target(target)
        return self._arcs(tau, goal).reshape(tau.shape)

    @door(times=numbers(infinite=True), target=number())
    def gradient_norm(
        self, times: Times, *, target: SupportsFloat | None = None
    ) -> Float[np.ndarray, "*times"]:
        """‖dW/dτ‖ = |ẑ − z||x||y|."""
        tau, goal = checked_times(times), self._target(target)
        fall = self._clock(goal).fall(tau.ravel())
        speed = self._path.speed(self._path.arc(self._output(goal, fall)))
        return (abs(goal - self._path.start) * np.exp(-fall) * speed).reshape(tau.shape)

    @door(times=numbers(infinite=True), target=number(), count=whole(1, 10_000))
    def singular_values(
        self, times: Times, *, target: SupportsFloat | None = None, count: int = 2
    ) -> Float[np.ndarray, "*times count"]:
        """The `count` largest singular values of ΔW(τ)."""
        if not isinstance(count, int | np.integer) or count < 1:
            raise ValueError(f"count: received {count!r}, it must be an integer, at least 1")
        tau, goal = checked_times(times), self._target(target)
        found = self._path.singular_values(self._arcs(tau, goal), int(count))
        return found.reshape(*tau.shape, count)

    @door(times=numbers(infinite=True), target=number())
    def change(
        self, times: Times, *, target: SupportsFloat | None = None
    ) -> Float[np.ndarray, "*times rows columns"]:
        """ΔW(τ): of `learning_curve` the N × N matrix, of `exact_g0` A in ΔW = [w m] A [w m]ᵀ.

        `large_n` has none and says so.
        """
        tau, goal = checked_times(times), self._target(target)
        found = self._path.change(self._arcs(tau, goal))
        return found.reshape(*tau.shape, *found.shape[1:])

    @door(target=number(), fraction=number(above=0, below=1))
    def learning_time(
        self, target: SupportsFloat | None = None, fraction: SupportsFloat = 0.05
    ) -> float:
        """The τ at which the loss has fallen to `fraction` of its start."""
        part = checked_fraction("fraction", fraction)
        fall = np.array([-0.5 * np.log(part)])
        return float(self._clock(self._target(target)).time(fall)[0])

    @property
    def divergence(self) -> float:
        """The arc length σ of ΔW at which z diverges: no target is further away than that."""
        return self._path.ends[1]

    @cached_property
    def initial_output(self) -> float:
        """z before learning; zero in the limit of large N."""
        return float(self._path.start)

    @door(target=number())
    def radius_of_convergence(self, target: SupportsFloat | None = None) -> float:
        """The |τ| up to which the power series of the learning curve in τ can converge.

        τ is an integral of (|x||y|)⁻² dz/(ẑ − z), and its inverse has a branch point where z
        diverges. One such point lies behind the start, at z = −∞ and a negative τ; the other at
        z = +∞, beyond the target, whose pole puts ±iπ times its residue into τ. The nearer of the
        two bounds the radius. At g = 0 it is the radius: there are no nearer ones.
        """
        goal = self._target(target)
        before, after = self._branch_points(goal)
        return float(min(abs(before), abs(after)))

    def _branch_points(self, goal: float) -> tuple[float, complex]:
        """τ at z = −∞ and at z = +∞, for a target above the start (below it: exchanged)."""
        path = self._path
        middle = float(path.arc(np.array([goal]))[0])
        residue = self._slowness(goal)
        places, weights = np.polynomial.legendre.leggauss(400)

        def integral(low: float, high: float) -> float:
            """∫ (K(z) − residue-term) dσ over [low, high] of dτ/dσ = 1 / (speed (ẑ − z))."""
            arcs = low + (high - low) * (1 + places) / 2
            values = 1 / (path.speed(arcs) * (goal - path.output(arcs)))
            # Near the target dτ/dσ = −residue / (σ − σ_target) + …: taken off here and put back
            # as a logarithm, which is what the principal value leaves of it.
            return float((values + residue / (arcs - middle)) @ weights * (high - low) / 2)

        ends = np.array(path.ends)
        logs = -residue * np.log(np.abs((ends - middle) / middle))
        totals = [integral(0.0, end) + log for end, log in zip(ends, logs, strict=True)]
        behind, beyond = (0, 1) if goal > path.start else (1, 0)
        return totals[behind], complex(totals[beyond], np.pi * residue)

    def _target(self, target: SupportsFloat | None) -> float:
        if target is None:
            if len(self._targets) != 1:
                raise ValueError(
                    f"target: the curve was made for {list(self._targets)}; say which one"
                )
            target = self._targets[0]
        goal = checked_number("target", target)
        low, high = self._path.known
        if not low <= goal <= high:
            raise ValueError(
                f"target: received {target!r}, it must lie in [{low:.6g}, {high:.6g}], as far as "
                "the path was walked; name it among the targets"
            )
        if goal == self._path.start:
            raise ValueError(f"target: {target!r} is the initial output: there is nothing to learn")
        return goal

    def _output(self, goal: float, fall: np.ndarray) -> np.ndarray:
        return goal - (goal - self._path.start) * np.exp(-fall)

    def _arcs(self, tau: np.ndarray, goal: float) -> np.ndarray:
        return self._path.arc(self._output(goal, self._clock(goal).fall(tau.ravel())))

    def _clock(self, goal: float) -> Clock:
        if goal not in self._clocks:
            self._clocks[goal] = self._made(goal)
        return self._clocks[goal]

    def _made(self, goal: float) -> Clock:
        """Panels even in σ while the error is large, where z may run far, then even in ℓ."""
        far = self._path.arc(self._output(goal, np.ones(1)))[0]
        arcs = np.linspace(0, far, _PANELS + 1)
        gone = (self._path.output(arcs) - self._path.start) / (goal - self._path.start)
        edges = np.concatenate([[0.0], -np.log1p(-gone[1:-1]), np.arange(1.0, _LAST + 1.0)])
        places, weights = np.polynomial.legendre.leggauss(_NODES)
        low, high = edges[:-1, None], edges[1:, None]
        falls = low + (high - low) * (1 + places) / 2
        rates = self._path.speed(self._path.arc(self._output(goal, falls.ravel()))) ** -2.0
        # Legendre coefficients by the discrete orthogonality at the nodes, then integrated.
        basis = np.polynomial.legendre.legvander(places, _NODES - 1)
        norms = 2 / (2 * np.arange(_NODES) + 1)
        coefficients = rates.reshape(falls.shape) @ (weights[:, None] * basis / norms)
        integrals = np.polynomial.legendre.legint(coefficients, lbnd=-1, axis=1)
        spent = integrals.sum(axis=1) * (high - low)[:, 0] / 2
        times = np.concatenate([[0.0], np.cumsum(spent)])
        return Clock(edges, times, integrals, self._slowness(goal))

    def _slowness(self, goal: float) -> float:
        """dτ/dℓ = (|x||y|)⁻² at z = ẑ, also the residue of dτ/dz there."""
        return float(self._path.speed(self._path.arc(np.array([goal])))[0] ** -2.0)
