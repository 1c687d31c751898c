"""Momentum gradient descent on a product of factors, on the observed entries of one matrix.

It is not `tacit.descend`: for one matrix a plain NumPy step was measured faster, and it looks at
the held-out entries as it goes (100 × 100, depth 3, 5,000 steps: 0.9 s of CPU time against 1.5 s,
and 2.5 s with compilation; lanes cost as much as one run after another).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tacit._progress_bar import Bar, silent_bar

Floats = np.ndarray

_GROWTH = 100.0  # a loss that has grown so much since the start is a divergence
_HALVINGS = 8
_AS_WELL = 1.5  # times an error is still as good: one singular value that is not there costs more


@dataclass(frozen=True)
class Settings:
    """Depth, decay and budget of one descent.

    `decay` is λ in ½ Σ_Ω (x − y)² + ½ λ Σ_l ‖W_l‖², in units of the target's largest singular
    value (as far as the observed entries tell it) times the fraction observed.
    """

    depth: int
    decay: float
    steps: int

    @property
    def rate(self) -> float:
        """The step, over the fraction observed: for a target whose largest singular value is 1."""
        return 0.05 if self.depth <= 2 else 0.15 if self.depth == 3 else 0.4 / self.depth

    @property
    def momentum(self) -> float:
        """Little for two factors, which are stopped early; more where the end is approached."""
        return 0.8 if self.depth <= 2 else 0.9

    @property
    def scale(self) -> float:
        """The size of a factor at the start; escape takes about as long at every depth ≥ 3."""
        return 0.01 if self.depth <= 2 else 0.005 ** (1 / (self.depth - 2))

    @property
    def every(self) -> int:
        """Steps between two looks at the held-out entries."""
        return 5 if self.depth <= 2 else 25


@dataclass(frozen=True)
class Descent:
    """Where a descent ended: factors W_1, …, W_L, and the held-out errors on its way."""

    factors: tuple[Floats, ...]
    unit: float  # the product times this is the estimate
    steps: int
    looks: Floats  # the steps at which the held-out entries were looked at
    errors: Floats  # the root mean squared error there, in the target's units
    fits: Floats  # the same of the observed entries
    missed: Floats = field(default_factory=lambda: np.zeros(0))  # at the best look, one by one

    @property
    def product(self) -> Floats:
        """The estimate, (rows, columns)."""
        total = self.factors[0]
        for factor in self.factors[1:]:
            total = factor @ total
        return np.asarray(self.unit * total.astype(np.float64))

    @property
    def best(self) -> tuple[float, int, float]:
        """The least held-out error, its step, and the error of the observed entries there."""
        place = int(np.argmin(self.errors))
        return float(self.errors[place]), int(self.looks[place]), float(self.fits[place])


@dataclass(frozen=True)
class Enough:
    """When a descent on all entries has done as much as the one that was looked at.

    The step alone does not tell: from one start or set of entries to the next, a singular value may
    grow later. It goes on beyond `steps` until the observed entries are met about as well as they
    were there, by `error`.
    """

    steps: int
    error: float

    def is_reached(self, step: int, error: float) -> bool:
        """Whether this step and this error of the observed entries are enough."""
        return step >= self.steps and error <= _AS_WELL * self.error


def pooled(descents: Sequence[Descent]) -> tuple[float, int, float]:
    """`best` of descents that had as many entries held out each, by their mean squares."""
    count = min(len(one.looks) for one in descents)
    squares = np.mean([one.errors[:count] ** 2 for one in descents], axis=0)
    place = int(np.argmin(squares))
    fit = max(one.fits[place] for one in descents)
    return float(np.sqrt(squares[place])), int(descents[0].looks[place]), float(fit)


def descend_masked(
    target: Floats,
    seen: Floats,
    settings: Settings,
    *,
    rng: np.random.Generator,
    held: Floats | None = None,
    weights: Floats | None = None,
    start: Descent | None = None,
    enough: Enough | None = None,
    tell: Bar = silent_bar,
) -> Descent:
    """Descend from a small random start, or from where another descent ended.

    With `held` (a mask) it stops when the error there has not fallen for a while; `weights`, to be
    broadcast with the target, says what an error counts. A descent that diverges is begun again
    with half the rate.
    """
    if start is None:
        unit = largest_singular_value(target, seen)
        factors = _random_factors(target.shape, settings, rng)
    else:
        unit, factors = start.unit, start.factors
    if unit == 0:  # nothing but zeros: so is the answer
        zeros = tuple(np.zeros_like(factor) for factor in factors)
        missed = counted = np.zeros(0)
        if held is not None:
            missed = -np.asarray(target[held], np.float64)
            counted = missed if weights is None else missed * _at(weights, held)
        looks, errors, fits = np.array([[0], [_rms(counted)], [0.0]])
        return Descent(zeros, 1.0, 0, looks, errors, fits, missed)
    scaled = np.where(seen if held is None else seen | held, target / unit, 0).astype(np.float32)
    for halving in range(_HALVINGS):
        with np.errstate(over="ignore", invalid="ignore"):  # of one that diverges
            found = _descend(
                scaled, seen, settings, factors, held, weights, 0.5**halving, enough, unit, tell
            )
        if found is not None:
            factors, steps, looks, errors, fits, missed = found
            return Descent(factors, unit, steps, looks, unit * errors, unit * fits, unit * missed)
    raise FloatingPointError("descent diverged at every rate; this is a fault of ours")


def largest_singular_value(target: Floats, seen: Floats) -> float:
    """That of the matrix with zeros where nothing is seen, over the fraction seen."""
    filled = np.where(seen, target, 0)
    small = filled if filled.shape[0] <= filled.shape[1] else filled.T
    gram = small @ small.T
    return float(np.sqrt(max(np.linalg.eigvalsh(gram)[-1], 0))) / float(seen.mean())


def _random_factors(
    shape: tuple[int, ...], settings: Settings, rng: np.random.Generator
) -> tuple[Floats, ...]:
    rows, columns = shape
    sizes = [columns, *[min(rows, columns)] * (settings.depth - 1), rows]
    return tuple(
        (settings.scale / np.sqrt(max(out, into)) * rng.normal(size=(out, into))).astype(np.float32)
        for into, out in itertools.pairwise(sizes)
    )


def _descend(
    target: Floats,
    seen: Floats,
    settings: Settings,
    start: tuple[Floats, ...],
    held: Floats | None,
    weights: Floats | None,
    share: float,
    enough: Enough | None,
    unit: float,
    tell: Bar,
) -> tuple[tuple[Floats, ...], int, Floats, Floats, Floats, Floats] | None:
    """Factors, steps taken and held-out errors, also one by one; None if it diverged."""
    density = float(seen.mean())
    rate = np.float32(share * settings.rate / density)
    decay, momentum = np.float32(settings.decay * density), np.float32(settings.momentum)
    weight = seen.astype(np.float32)
    decays = _decays(seen, settings)
    factors = [factor.copy() for factor in start]
    speeds = [np.zeros_like(factor) for factor in factors]
    places = None if held is None else np.nonzero(held)
    counts = None if held is None or weights is None else _at(weights, held)
    missed = np.zeros(0)
    looks: list[int] = []
    errors: list[float] = []
    fits: list[float] = []
    first = None
    count = max(float(weight.sum()), 1.0)
    step = 0
    for step in range(settings.steps + 1):
        below = [factors[0]]
        for factor in factors[1:]:
            below.append(factor @ below[-1])
        error = below.pop() - target
        if step % settings.every == 0 or step == settings.steps:
            tell(step / max(settings.steps, 1))
            loss = float(np.vdot(error * weight, error))
            first = loss if first is None else first
            if not loss <= _GROWTH * first + 1e-12:
                return None
            fit = float(np.sqrt(loss / count))
            if places is not None:
                looks.append(step)
                now = error[places].astype(np.float64)
                errors.append(_rms(now if counts is None else counts * now))
                if errors[-1] <= min(errors):
                    missed = now
                fits.append(fit)
                if _is_past_its_best(errors, looks, settings):
                    break
            if enough is not None and enough.is_reached(step, unit * fit):
                break
        if step == settings.steps:
            break
        above = error * weight
        for layer in range(len(factors) - 1, -1, -1):
            gradient = above @ below[layer - 1].T if layer else above
            above = factors[layer].T @ above if layer else above
            if decay:
                gradient = gradient + decay * decays[layer] * factors[layer]
            speeds[layer] *= momentum
            speeds[layer] -= rate * gradient
            factors[layer] += speeds[layer]
    return tuple(factors), step, np.array(looks), np.array(errors), np.array(fits), missed


def _decays(seen: Floats, settings: Settings) -> list[Floats]:
    """The decay of each factor's entries over the mean one, to be broadcast.

    With two factors, a row or column that is seen more often decays more in proportion, so that
    the prior does not weigh less against its larger sum of squares (Zhou et al., 2008;
    Salakhutdinov and Srebro, 2010). Deeper products, with little decay, have the same everywhere.
    """
    if settings.depth != 2:
        return [np.ones((1, 1), np.float32)] * settings.depth
    rows, columns = seen.mean(axis=1), seen.mean(axis=0)
    return [
        (columns / columns.mean()).astype(np.float32)[None, :],
        (rows / rows.mean()).astype(np.float32)[:, None],
    ]


def _is_past_its_best(errors: list[float], looks: list[int], settings: Settings) -> bool:
    """No better for half as many steps as it took, and for longer than an escape takes."""
    place = int(np.argmin(errors))
    patience = 60 if settings.depth <= 2 else 1000
    return looks[-1] - looks[place] > patience + looks[place] / 2


def _at(weights: Floats, held: Floats) -> Floats:
    return np.asarray(np.broadcast_to(weights, held.shape)[held])


def _rms(errors: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(errors, dtype=np.float64)))) if errors.size else 0.0
