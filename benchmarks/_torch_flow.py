"""Gradient flow of many completions in PyTorch: Tsitouras' method with a step size for each lane.

The same algorithm as `GradientFlow`'s, step for step: tableau, error norm, controller and first
step are Diffrax's. Products of 2 × 2 matrices are sums of scaled rows, which is faster here than
`torch.bmm`; with `torch.compile` they become one kernel.
"""

from typing import Any

import numpy as np
import torch

from benchmarks._completions import ATOL, RTOL, Completions

SAFETY, SHRINK, GROW, P, I = 0.9, 0.2, 10.0, 0.3, 0.4  # noqa: E741
ORDER = 5


def _tableau() -> tuple[list[list[float]], list[float]]:
    import diffrax

    tableau = diffrax.Tsit5.tableau
    return [row.tolist() for row in tableau.a_lower], tableau.b_error.tolist()


A, B_ERROR = _tableau()


def by_rows(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Products of 2 × 2 matrices along leading axes."""
    return left[..., :, :1] * right[..., :1, :] + left[..., :, 1:] * right[..., 1:, :]


class TorchFlow:
    """The lanes' state: factors (depth, lane, 2, 2), steps sizes, and what the controller keeps."""

    def __init__(self, data: Completions, *, multiply: Any = by_rows, compiled: bool) -> None:
        self.target, self.mask = torch.tensor(data.target), torch.tensor(data.mask)
        self.multiply = multiply
        self.y = torch.tensor(data.factors)
        self.f = self.velocity(self.y)
        self.dt = self._first_steps()
        self.before = torch.ones_like(self.dt)  # the inverse of the last scaled error
        self._attempt = torch.compile(self.attempt) if compiled else self.attempt

    def loss(self, y: torch.Tensor) -> torch.Tensor:
        """½ Σ_Ω (x − w)² of every lane."""
        return 0.5 * (self._error(y)[0] ** 2).sum((-2, -1))

    def _error(self, y: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
        products = [y[0]]
        for factor in y[1:]:
            products.append(self.multiply(factor, products[-1]))
        return torch.where(self.mask, products[-1] - self.target, 0.0), products

    def velocity(self, y: torch.Tensor) -> torch.Tensor:
        """−∇L in all factors, by hand: one pass up and one down, as in ours."""
        cotangent, products = self._error(y)
        gradients = []
        for layer in range(len(y) - 1, 0, -1):
            gradients.append(self.multiply(cotangent, products[layer - 1].mT))
            cotangent = self.multiply(y[layer].mT, cotangent)
        return -torch.stack([cotangent, *gradients[::-1]])

    def _norm(self, y: torch.Tensor) -> torch.Tensor:
        return (y**2).mean((0, 2, 3)).sqrt()

    def _first_steps(self) -> torch.Tensor:
        scale = ATOL + self.y.abs() * RTOL
        d0, d1 = self._norm(self.y / scale), self._norm(self.f / scale)
        h0 = 0.01 * d0 / d1
        moved = self.velocity(self.y + h0[:, None, None] * self.f)
        d2 = self._norm((moved - self.f) / scale) / h0
        return torch.minimum(100 * h0, (0.01 / torch.maximum(d1, d2)) ** (1 / ORDER))

    def attempt(
        self, y: torch.Tensor, f: torch.Tensor, dt: torch.Tensor, before: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """One attempt of every lane: the loss it starts from, and the state after it."""
        h = dt[:, None, None]
        stages = [f]
        for row in A:
            point = y + h * sum(a * k for a, k in zip(row, stages, strict=True))
            stages.append(self.velocity(point))
        error = h * sum(b * k for b, k in zip(B_ERROR, stages, strict=True))
        scaled = self._norm(error / (ATOL + RTOL * torch.maximum(y.abs(), point.abs())))
        keep = scaled < 1
        inverse = 1 / scaled
        factor = SAFETY * inverse ** ((P + I) / ORDER) * before ** (-P / ORDER)
        factor = torch.where(keep, factor.clamp(1.0, GROW), factor.clamp(SHRINK, SAFETY))
        wide = keep[:, None, None]
        return (
            self.loss(y),
            torch.where(wide, point, y),
            torch.where(wide, stages[-1], f),
            dt * factor,
            torch.where(keep, inverse, before),
        )

    def run(self, steps: int, goal: float = -1.0) -> np.ndarray:
        """So many attempts; lanes at the goal stand still. Returns the steps that each took."""
        taken = torch.zeros(self.dt.shape, dtype=torch.int64)
        for _ in range(steps):
            loss, *state = self._attempt(self.y, self.f, self.dt, self.before)
            moves = loss > goal
            taken += moves
            wide = moves[:, None, None]
            self.y = torch.where(wide, state[0], self.y)
            self.f = torch.where(wide, state[1], self.f)
            self.dt = torch.where(moves, state[2], self.dt)
            self.before = torch.where(moves, state[3], self.before)
        return taken.numpy()
