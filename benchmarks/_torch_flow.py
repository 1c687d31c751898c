"""Gradient flow of many completions in PyTorch: Tsitouras' method with a step size for each lane.

The same algorithm as `GradientFlow`'s, step for step: tableau, error norm, controller and first
step are Diffrax's. Products of 2 × 2 matrices are sums of scaled rows, which is faster here than
`torch.bmm`; with `torch.compile` they become one kernel.
"""

import functools
from typing import NamedTuple

import torch
from torch import Tensor

from benchmarks._completions import ATOL, RTOL, Completions

SAFETY, SHRINK, GROW, P, I = 0.9, 0.2, 10.0, 0.3, 0.4  # noqa: E741
ORDER = 5
LOOK = 64  # attempts between two looks at which lanes have ended


def _tableau() -> tuple[list[list[float]], list[float]]:
    import diffrax

    tableau = diffrax.Tsit5.tableau
    return [row.tolist() for row in tableau.a_lower], tableau.b_error.tolist()


A, B_ERROR = _tableau()


class Lanes(NamedTuple):
    """What is known of every lane; the last axis but two, or the only one, counts lanes."""

    y: Tensor  # factors (depth, lane, 2, 2)
    f: Tensor  # their velocity
    dt: Tensor
    before: Tensor  # the inverse of the last scaled error
    target: Tensor
    mask: Tensor

    def take(self, rows: Tensor) -> "Lanes":
        """Some of the lanes."""
        return Lanes(self.y[:, rows], self.f[:, rows], *(leaf[rows] for leaf in self[2:]))


def multiply(left: Tensor, right: Tensor) -> Tensor:
    """Products of 2 × 2 matrices along leading axes."""
    return left[..., :, :1] * right[..., :1, :] + left[..., :, 1:] * right[..., 1:, :]


def _error(y: Tensor, target: Tensor, mask: Tensor) -> tuple[Tensor, list[Tensor]]:
    products = [y[0]]
    for factor in y[1:]:
        products.append(multiply(factor, products[-1]))
    return torch.where(mask, products[-1] - target, 0.0), products


def loss(y: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    """½ Σ_Ω (x − w)² of every lane."""
    return 0.5 * (_error(y, target, mask)[0] ** 2).sum((-2, -1))


def velocity(y: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    """−∇L in all factors, by hand: one pass up and one down, as in ours."""
    cotangent, products = _error(y, target, mask)
    gradients = []
    for layer in range(len(y) - 1, 0, -1):
        gradients.append(multiply(cotangent, products[layer - 1].mT))
        cotangent = multiply(y[layer].mT, cotangent)
    return -torch.stack([cotangent, *gradients[::-1]])


def _norm(y: Tensor) -> Tensor:
    return (y**2).mean((0, 2, 3)).sqrt()


def started(data: Completions) -> Lanes:
    """The lanes before their first step, whose size Hairer's rule guesses."""
    y, target, mask = (torch.tensor(x) for x in (data.factors, data.target, data.mask))
    f = velocity(y, target, mask)
    scale = ATOL + y.abs() * RTOL
    d0, d1 = _norm(y / scale), _norm(f / scale)
    h0 = 0.01 * d0 / d1
    moved = velocity(y + h0[:, None, None] * f, target, mask)
    d2 = _norm((moved - f) / scale) / h0
    dt = torch.minimum(100 * h0, (0.01 / torch.maximum(d1, d2)) ** (1 / ORDER))
    return Lanes(y, f, dt, torch.ones_like(dt), target, mask)


def attempt(
    y: Tensor, f: Tensor, dt: Tensor, before: Tensor, target: Tensor, mask: Tensor, goal: float
) -> tuple[Tensor, ...]:
    """One attempt of every lane that is not at the goal: which those are, and the state after."""
    h = dt[:, None, None]
    stages = [f]
    for row in A:
        point = y + h * sum(a * k for a, k in zip(row, stages, strict=True))
        stages.append(velocity(point, target, mask))
    error = h * sum(b * k for b, k in zip(B_ERROR, stages, strict=True))
    scaled = _norm(error / (ATOL + RTOL * torch.maximum(y.abs(), point.abs())))
    accurate = scaled < 1
    inverse = 1 / scaled
    factor = SAFETY * inverse ** ((P + I) / ORDER) * before ** (-P / ORDER)
    factor = torch.where(accurate, factor.clamp(1.0, GROW), factor.clamp(SHRINK, SAFETY))
    moves = loss(y, target, mask) > goal
    keep = moves & accurate
    wide = keep[:, None, None]
    return (
        moves,
        torch.where(wide, point, y),
        torch.where(wide, stages[-1], f),
        torch.where(moves, dt * factor, dt),
        torch.where(keep, inverse, before),
    )


@functools.cache
def compiled_attempt():
    """`attempt` compiled for any number of lanes."""
    return torch.compile(attempt, dynamic=True)


def run(lanes: Lanes, steps: int, goal: float, *, compiled: bool) -> tuple[Lanes, Tensor]:
    """So many attempts; lanes at the goal stand still. Returns the attempts that each took too."""
    step = compiled_attempt() if compiled else attempt
    taken = torch.zeros(lanes.dt.shape, dtype=torch.int64)
    for _ in range(steps):
        moves, *state = step(*lanes, goal)
        taken += moves
        lanes = Lanes(*state, lanes.target, lanes.mask)
    return lanes, taken


def run_to_the_end(lanes: Lanes, steps: int, goal: float, *, compiled: bool) -> int:
    """Until every lane is at the goal or out of steps; those that are, are taken out.

    Returns the attempts of all lanes together.
    """
    attempts = 0
    for done in range(0, steps, LOOK):
        lanes, taken = run(lanes, min(LOOK, steps - done), goal, compiled=compiled)
        attempts += int(taken.sum())
        running = torch.nonzero(loss(lanes.y, lanes.target, lanes.mask) > goal)[:, 0]
        if len(running) == 0:
            break
        lanes = lanes.take(running)
    return attempts
