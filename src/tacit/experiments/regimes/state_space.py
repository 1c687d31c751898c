"""State-space students: what the experiments of regimes on them make, train and measure."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray

from tacit._light_programs import lightly
from tacit.descent import Lanes
from tacit.experiments import Experiment
from tacit.measures import hankel, numerical_rank
from tacit.models import DiagonalSSM, LRURing, S4DInv, S4DLin
from tacit.problems import RatedResponse

PLACE = "regimes (ours)"
MODES = (0.9, 0.5, -0.6)  # eigenvalues of the teacher, each of weight one
ORDER = len(MODES)  # d̂
LONGEST = 12  # lags that all runs compute, whatever they train on
STARTS = {
    "ring": LRURing(0.4, 0.999),
    "lin": S4DLin(step_min=0.1, step_max=1.0),
    "inv": S4DInv(step_min=0.1, step_max=1.0),
}
NAMES = {"ring": "LRU ring", "lin": "S4D-Lin", "inv": "S4D-Inv"}


def teacher_response(lags: int) -> np.ndarray:
    """0.9^j + 0.5^j + (−0.6)^j."""
    return np.sum(np.power.outer(MODES, np.arange(lags)), axis=0)


class StateSpaceExperiment(Experiment):
    """Diagonal state-space students of one teacher, by start, scale of C, rate of A and length."""

    def students(
        self,
        start: str,
        modes: int,
        *,
        seed: np.ndarray,
        scale: np.ndarray,
        rate: np.ndarray,
        length: np.ndarray,
        centred: np.ndarray | float = 0.0,
        adaptive: bool = False,
    ) -> RatedResponse:
        """A problem for each cell, stacked, with its student at the start.

        Students of one seed begin at the same numbers, C times its scale. `rate` is that of A
        relative to B and C; an adaptive method takes it as it is, flow its root. Where `centred`
        is 1, the response at the start is added to the target.
        """
        target = teacher_response(LONGEST)[:, None, None]
        speeds = rate if adaptive else np.sqrt(rate)
        masks = np.arange(LONGEST) < length[:, None]
        with jax.enable_x64(True):
            offsets = np.broadcast_to(np.asarray(centred, float), scale.shape)
            scales, slow, kept, added = (
                jnp.asarray(a, float) for a in (scale, speeds, masks, offsets)
            )
            seeds, wanted = jnp.asarray(seed), jnp.asarray(target)
            return _students(start, modes, seeds, scales, slow, kept, added, wanted)

    def responses(self, models: Any, lags: int) -> np.ndarray:
        """Impulse responses of stacked models, (cell, lag)."""
        with jax.enable_x64(True):
            return np.asarray(_responses(models, lags))[:, :, 0, 0]

    @staticmethod
    def tail_error(learned: np.ndarray, length: np.ndarray, tail: int) -> np.ndarray:
        """‖h − h*‖/‖h*‖ over the lags after k; 1 is that of predicting zero."""
        target = teacher_response(learned.shape[1])
        lags = np.arange(learned.shape[1])
        after = (lags >= length[:, None]) & (lags < length[:, None] + tail)
        with np.errstate(over="ignore", invalid="ignore"):
            gap = np.sqrt(np.sum(np.where(after, learned - target, 0.0) ** 2, axis=1))
        size = np.sqrt(np.sum(np.where(after, target, 0.0) ** 2, axis=1))
        return np.where(np.isnan(gap), np.inf, gap) / size

    def counts(self, runs: xarray.Dataset) -> xarray.DataArray:
        """Those that reached the loss asked for."""
        return runs["outcome"] == "converged"

    def unconverged(self, runs: xarray.Dataset) -> str:
        """How many runs ended otherwise, in words after a caption; empty if none."""
        lost, total = int((~self.counts(runs)).sum()), runs["outcome"].size
        return f" {lost} of {total} runs did not converge and are left out." if lost else ""

    @staticmethod
    def moved(problems: RatedResponse, moves: Lanes[Any]) -> Any:
        """The models at the end, stacked."""
        with jax.enable_x64(True):
            return eqx.filter_vmap(lambda problem, move: problem.model(move))(problems, moves.tree)


@lightly
def _students(
    start: str,
    modes: int,
    seeds: Any,
    scales: Any,
    speeds: Any,
    masks: Any,
    centred: Any,
    target: Any,
) -> RatedResponse:
    def one(seed: Any, scale: Any, speed: Any, mask: Any, offset: Any) -> RatedResponse:
        key = jax.random.fold_in(jax.random.key(2026), seed)
        model = DiagonalSSM.random(STARTS[start], modes, scale=scale, key=key)
        same = jax.tree.map(jnp.ones_like, model)
        slow = jax.tree.map(lambda leaf: speed * leaf, same.spectrum)
        scales = eqx.tree_at(lambda m: m.spectrum, same, slow)
        wanted = target + offset * model.impulse_response(len(target))
        return RatedResponse(model, scales, wanted, mask)

    return eqx.filter_vmap(one)(seeds, scales, speeds, masks, centred)


@lightly
def _responses(models: Any, lags: int) -> Any:
    return eqx.filter_vmap(lambda model: model.impulse_response(lags))(models)


def hankel_rank(response: np.ndarray) -> int:
    """Hankel singular values above 1% of the largest, counted; −1 if it overflowed."""
    if not np.isfinite(response).all():
        return -1
    return int(numerical_rank(hankel(response), tolerance=0.01))
