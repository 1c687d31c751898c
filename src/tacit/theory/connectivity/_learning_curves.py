"""Three ways to an exact learning curve: no initial connectivity, a given one, a large random one.

In all of them the target may have either sign, and the curve is that of gradient flow: plain
gradient descent with learning rate η follows it to O(η), at τ = η × epochs.
"""

from collections.abc import Iterable
from typing import SupportsFloat

import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import door, instance, number, numbers, real, whole
from tacit.theory.connectivity._checks import (
    checked_number,
    checked_square,
    checked_strength,
    checked_vector,
)
from tacit.theory.connectivity._closed_form import ClosedForm
from tacit.theory.connectivity._descent import DecomposedNetwork, LinearNetwork
from tacit.theory.connectivity._solution import LearningCurve
from tacit.theory.connectivity._spectrum import limit_spectrum
from tacit.theory.connectivity._walked_path import Basis, WalkedPath

_FAR = 1000.0  # paths are walked to this |z| at least, from where the divergence is in sight


@door(target=number())
def exact_g0(target: SupportsFloat) -> LearningCurve:
    """The learning curve at g = 0 and N → ∞, in closed form up to one integral.

    The paper had not found one (below its (70)). The curve can be asked about other targets too.
    """
    return LearningCurve(ClosedForm(), (checked_number("target", target),))


@door(
    W0=real(2, most=1e12),
    w=real(1, most=1e12),
    m=real(1, most=1e12),
    targets=numbers(-1e12, 1e12, empty=True),
)
def learning_curve(
    W0: ArrayLike, w: ArrayLike, m: ArrayLike, *, targets: SupportsFloat | Iterable[SupportsFloat]
) -> LearningCurve:
    """The learning curve of one network of any size.

    One singular value decomposition of I − W₀, then O(N) per step; one walk serves all targets.

    **Arguments:**

    - `W0`: the initial connectivity, (N, N); I − W₀ must be invertible.
    - `w`, `m`: output and input vectors, (N,), of norm about 1: z = wᵀ(I − W)⁻¹m.
    - `targets`: the ẑ that the curve will be asked about, at least.
    """
    connectivity = checked_square("W0", W0)
    size = len(connectivity)
    out, into = checked_vector("w", w, size), checked_vector("m", m, size)
    for name, vector in (("w", out), ("m", into)):
        if not vector.any():
            raise ValueError(f"{name}: received zero: the output would not depend on W")
    network = LinearNetwork(connectivity, out, into)
    return decomposed_curve(DecomposedNetwork.of(network), targets=targets)


@door(network=instance(DecomposedNetwork), targets=numbers(empty=True))
def decomposed_curve(
    network: DecomposedNetwork, *, targets: SupportsFloat | Iterable[SupportsFloat]
) -> LearningCurve:
    """The same of a network whose decomposition is at hand."""
    goals, values, size = _checked_targets(targets), network.values, len(network.values)
    if values[-1] <= size * np.finfo(float).eps * values[0]:
        raise ValueError(
            f"W0 has an eigenvalue of one (I − W0 has a singular value of {values[-1]:.3g}): the "
            "network has no fixed point"
        )
    basis = Basis(network.U, network.Vt)
    path = WalkedPath(values, network.w, network.m, furthest=_furthest(goals), basis=basis)
    return LearningCurve(path, goals)


@door(g=number(0, below=1), targets=numbers(empty=True), nodes=whole(1, 10_000))
def large_n(
    g: SupportsFloat, *, targets: SupportsFloat | Iterable[SupportsFloat], nodes: int = 200
) -> LearningCurve:
    """The learning curve for W₀ with independent N(0, g²/N) entries, N → ∞.

    Averages over the spectrum of I − W₀ are a quadrature with `nodes` nodes. Each stands twice, w
    on one copy and m on the other: they are independent and have no overlap in the limit.
    """
    spectrum = limit_spectrum(checked_strength(g), nodes=nodes)
    goals = _checked_targets(targets)
    values, none = np.sqrt(spectrum.nodes), np.zeros(len(spectrum.nodes))
    amplitudes = np.sqrt(spectrum.weights)
    path = WalkedPath(
        np.concatenate([values, values]),
        np.concatenate([amplitudes, none]),
        np.concatenate([none, amplitudes]),
        furthest=_furthest(goals),
        basis=None,
    )
    return LearningCurve(path, goals)


def _furthest(goals: tuple[float, ...]) -> float:
    return max(_FAR, 2 * max(abs(goal) for goal in goals))


def _checked_targets(targets: SupportsFloat | Iterable[SupportsFloat]) -> tuple[float, ...]:
    several = isinstance(targets, Iterable) and np.ndim(targets) > 0  # type: ignore[arg-type]
    values = tuple(targets) if several else (targets,)  # type: ignore[arg-type]
    if not values:
        raise ValueError("targets: received none, they must hold one target or more")
    return tuple(checked_number("targets", value) for value in values)
