"""Learning an impulse response from its first lags: what the cells of the linear figures share."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from tacit._types import PRNGKeyArray
from tacit.descent import DescentResult, GaussNewton, GradientFlow, Lanes, Stop, descend
from tacit.experiments.lowdim._students import responses
from tacit.experiments.lowdim._tails import tail_errors
from tacit.models import LinearRNN
from tacit.problems import (
    LinearDataLoss,
    LinearSampledLoss,
    PopulationLoss,
    second_moment_root,
)

PADDING = 20  # lags are padded to a multiple of it, so that all usual lengths share a program

FLOW_STEPS = 100_000  # attempts of the solver; a lane that needs more is reported as stopped early

MILESTONES = (5_000, 10_000, 15_000, 30_000)  # of fig4's learning rate (appendix B.1)


@dataclasses.dataclass(frozen=True)
class Lesson:
    """Many lanes' targets, of which each sees the first `lengths` lags."""

    target: np.ndarray  # (lane, lag, output, input)
    lengths: np.ndarray
    padding: int = PADDING

    @property
    def longest(self) -> int:
        """Lags in the program: those beyond a lane's own length are masked."""
        return self.padding * -(-int(self.lengths.max()) // self.padding)

    @property
    def mask(self) -> np.ndarray:
        """1 where a lane sees a lag, else 0."""
        return (np.arange(self.longest) < self.lengths[:, None]).astype(float)

    def problems(self) -> Lanes[PopulationLoss]:
        """The population loss of every lane."""
        with jax.enable_x64(True):
            target = jnp.asarray(self.target[:, : self.longest])
            return Lanes(eqx.filter_vmap(PopulationLoss)(target, jnp.asarray(self.mask)))

    def sampled(self, sequences: int) -> Lanes[LinearSampledLoss]:
        """The empirical loss of every lane, on so many fresh sequences at each step."""
        with jax.enable_x64(True):
            target = jnp.asarray(self.target[:, : self.longest])
            make = functools.partial(LinearSampledLoss, sequences=sequences)
            return Lanes(eqx.filter_vmap(make)(target, jnp.asarray(self.mask)))

    def given(self, sequences: int, seeds: np.ndarray) -> Lanes[LinearDataLoss]:
        """The empirical loss of every lane, on so many fixed sequences of its own."""
        roots = []
        for length, seed in zip(self.lengths, seeds, strict=True):
            drawn = np.random.default_rng([int(seed), int(length)]).standard_normal(
                (sequences, int(length), self.target.shape[-1])
            )
            roots.append(second_moment_root(drawn, longest=self.longest))
        with jax.enable_x64(True):
            target = jnp.asarray(self.target[:, : self.longest])
            return Lanes(eqx.filter_vmap(LinearDataLoss)(target, jnp.asarray(np.stack(roots))))

    def zero_loss(self) -> np.ndarray:
        """The population loss of the zero response."""
        seen = self.mask[..., None, None] * self.target[:, : self.longest]
        return np.sum(seen**2, axis=(1, 2, 3))

    def population_losses(self, iterates: Sequence[Lanes[LinearRNN]]) -> np.ndarray:
        """The population loss (lane, iterate) of students that may have descended another."""
        mask = self.mask[..., None, None]
        target = self.target[:, : self.longest]
        errors = [mask * (responses(lanes.tree, self.longest) - target) for lanes in iterates]
        return np.stack([np.sum(error**2, axis=(1, 2, 3)) for error in errors], axis=1)

    def measured(
        self, iterates: Sequence[Lanes[LinearRNN]], horizons: Sequence[int]
    ) -> dict[str, Any]:
        """Responses of the iterates beside the target, and their errors on the tail."""
        lags = self.target.shape[1]
        response = np.stack([responses(lanes.tree, lags) for lanes in iterates], axis=1)
        error, relative = tail_errors(response, self.target, self.lengths, horizons)
        return {
            "target": _without_channels(self.target),
            "response": _without_channels(response),
            "zero_loss": self.zero_loss(),
            "error": error,
            "relative_error": relative,
        }


def _without_channels(response: np.ndarray) -> np.ndarray:
    return response[..., 0, 0] if response.shape[-2:] == (1, 1) else response


@functools.cache
def optimiser(name: str) -> optax.GradientTransformation:
    """One object a method, so that all batches share its compiled program; the rate comes apart."""
    if name == "decayed adam":
        return optax.adam(optax.piecewise_constant_schedule(1.0, dict.fromkeys(MILESTONES, 0.1)))
    return {"adam": optax.adam, "gd": optax.sgd}[name](1.0)


def data_keys(seeds: np.ndarray, lengths: np.ndarray) -> Lanes[PRNGKeyArray]:
    """A key for each lane's data: it depends on the lane alone, not on those beside it."""
    with jax.enable_x64(True):
        lanes = jnp.asarray(seeds), jnp.asarray(lengths)
        return Lanes(jax.vmap(_data_key)(*lanes))


def _data_key(seed: jax.Array, length: jax.Array) -> PRNGKeyArray:
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(2), seed), length)


def flow(
    students: Lanes[LinearRNN],
    problems: Lanes[Any],
    *,
    tolerance: float,
    until: float,
    goal: float,
    title: str,
) -> DescentResult:
    """Gradient flow to a time, by linearly implicit steps."""
    method = GradientFlow(GaussNewton(), rtol=tolerance, atol=1e-3 * tolerance, until=until)
    stop = Stop(FLOW_STEPS, loss=goal)
    return descend(students, problems, method, stop=stop, title=title)
