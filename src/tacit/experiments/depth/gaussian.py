"""What figures 1, 4, 10 and any-pattern share: many Gaussian starts, by flow to a small loss."""

import dataclasses

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from tacit._light_programs import lightly
from tacit.descent import (
    DescentResult,
    GaussNewton,
    GradientFlow,
    Lanes,
    Stop,
    Unrolled,
    descend,
)
from tacit.experiments import Variable, fixed
from tacit.experiments.depth.completion import CompletionExperiment
from tacit.measures import effective_ranks, singular_values_or_nan
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion, low_rank_matrix
from tacit.theory.depth import early_flow


class GaussianExperiment(CompletionExperiment):
    """Many small completions from Gaussian starts; a run counts up to the loss `gate`."""

    goal: float = fixed(
        1e-14,
        "loss of a converged run, times the smallest observed |w*|² where that is below one",
        low=0.0,
        high=1.0,
    )
    gate: float = fixed(
        1e-10, "runs with a larger loss do not count", low=0.0, high=1.0, analysis=True
    )
    tolerance: float = fixed(1e-8, "relative tolerance of the flow", low=1e-12, high=1e-2)
    tail_tolerance: float = fixed(
        1e-5, "relative tolerance of the implicit solver", low=1e-12, high=1e-2
    )
    attempts: int = fixed(
        600, "steps of the explicit solver at most; what takes longer is stiff", low=1
    )
    tail_attempts: int = fixed(10_000, "steps of the implicit solver at most", low=1)
    size: int = fixed(2, "rows and columns of the matrix", low=2, high=20)

    def counts(self, runs: xarray.Dataset) -> xarray.DataArray:
        return runs["loss"] <= self.gate

    def variables(self) -> dict[str, Variable]:
        """Loss and norm stand beside the rank: a rank means little where either is off."""
        return {
            "effective_rank": Variable("effective rank of the product"),
            "loss": Variable("loss at the end"),
            "norm": Variable("Frobenius norm of the product"),
            "steps_taken": Variable("steps of the method", dtype="int64"),
        }

    def draw_trials(
        self,
        depth: int,
        seeds: ArrayLike,
        scales: ArrayLike,
        identity: Bool[np.ndarray, " lanes"] | None = None,
    ) -> tuple[Float[np.ndarray, "lanes size size"], Float[np.ndarray, "lanes layers size size"]]:
        """Targets u vᵀ and the factors of starts of scale αᴸ: trials of one seed share both.

        Lanes of `identity` start at α I, with the target |u| |v|ᵀ: a multiple of the identity
        cannot reach a negative diagonal entry, it runs into the saddle at zero.
        """
        with jax.enable_x64(True):
            products, starts = _draw(depth, self.size, jnp.asarray(seeds), jnp.asarray(scales))
        targets = np.asarray(products)
        factors = np.stack([np.asarray(factor) for factor in starts.factors], axis=1)
        if identity is not None:
            alpha = np.asarray(scales) ** (1 / depth)
            multiple = alpha[:, None, None, None] * np.eye(self.size)
            targets = np.where(identity[:, None, None], np.abs(targets), targets)
            factors = np.where(identity[:, None, None, None], multiple, factors)
        return targets, factors

    def skip_linear_phase(
        self,
        factors: Float[np.ndarray, "lanes layers size size"],
        targets: Float[np.ndarray, "lanes size size"],
        masks: Bool[np.ndarray, "lanes size size"],
    ) -> Float[np.ndarray, "lanes layers size size"]:
        """Two factors at the end of their linear phase, in closed form; others as they are.

        In that phase the largest part grows by orders of magnitude while an absolute tolerance,
        which has to suit its end, hides the rest.
        """
        if factors.shape[1] != 2:
            return factors
        lanes = zip(factors, masks, targets, strict=True)
        ends = [early_flow(second, first, *problem) for (first, second), *problem in lanes]
        return np.stack([np.stack([pair.B, pair.A]) for pair in ends])

    def goals(self, problems: Lanes[MatrixCompletion]) -> np.ndarray:
        """The loss at which each lane has converged: errors small against every observed |w*|."""
        mask, target = np.asarray(problems.tree.mask), np.asarray(problems.tree.target)
        smallest = np.where(mask, np.abs(target), np.inf).min(axis=(1, 2))
        return self.goal * np.minimum(1.0, smallest) ** 2

    def run_flow(
        self,
        factors: Float[np.ndarray, "lanes layers size size"],
        targets: Float[np.ndarray, "lanes size size"],
        masks: Bool[np.ndarray, "..."],
        label: str,
    ) -> DescentResult:
        """Flow with an explicit solver, and with an implicit one for the lanes that are stiff.

        An entry w of the target that is small beside the others makes the tail stiff: it settles
        at the rate |w| while an explicit method steps at the rate of the largest entry, and its
        noise, of the size of the tolerance, hides what is left. The tail moves little, so order
        two is enough there.
        """
        starts = self.factorisations(tuple(np.moveaxis(factors, 1, 0)))
        problems = self.completions(targets, masks)
        goal = self.goals(problems)
        explicit = GradientFlow(
            Unrolled(diffrax.Tsit5()), rtol=self.tolerance, atol=1e-4 * self.tolerance
        )
        whole = descend(
            starts, problems, explicit, stop=Stop(self.attempts, loss=goal), title=label
        )
        late = np.flatnonzero(whole.outcome != "converged")
        if late.size == 0:
            return whole
        # A multiple of 64, so that all batches share a program; rows that fill it up are not read.
        rows = np.resize(late, 64 * -(-late.size // 64))
        implicit = GradientFlow(
            GaussNewton(),
            rtol=self.tail_tolerance,
            atol=1e-4 * self.tail_tolerance,
            first=1.0,  # a step that is too long is rejected: cheaper than to compile a guess
        )
        tail = descend(
            whole.model.take(rows),
            problems.take(rows),
            implicit,
            stop=Stop(self.tail_attempts, loss=goal[rows]),
            title=f"{label}, tail",
        )

        def merge(values: np.ndarray, ends: np.ndarray) -> np.ndarray:
            values = values.copy()
            values[late] = ends[: late.size]
            return values

        ends = Lanes(tail.model.tree).take(np.arange(late.size))
        return dataclasses.replace(
            whole,
            model=whole.model.replaced(late, ends),
            loss=merge(whole.loss, tail.loss),
            steps=merge(whole.steps, whole.steps[late] + tail.steps[: late.size]),
            outcome=merge(whole.outcome, tail.outcome),
        )

    def measure(self, result: DescentResult) -> dict[str, np.ndarray]:
        """What `variables` declares, of every lane."""
        products = self.products(result.model)
        return {
            "outcome": result.outcome,
            "effective_rank": effective_ranks(singular_values_or_nan(products)),
            "loss": result.loss,
            "norm": np.linalg.norm(products, axis=(1, 2)),
            "steps_taken": result.steps,
        }


@lightly
def _draw(
    depth: int, size: int, seeds: jax.Array, scales: jax.Array
) -> tuple[jax.Array, DeepFactorisation]:
    def draw(seed: jax.Array, scale: jax.Array) -> tuple[jax.Array, DeepFactorisation]:
        target_key, start_key = jax.random.split(jax.random.fold_in(jax.random.key(0), seed))
        target = low_rank_matrix(size, size, key=target_key)
        start = DeepFactorisation.random([size] * (depth + 1), scale=1.0, key=start_key)
        alpha = scale ** (1 / depth)
        return target, jax.tree.map(lambda factor: alpha * factor, start)

    return eqx.filter_vmap(draw)(seeds, scales)
