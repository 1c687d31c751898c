"""State-space students: what the experiments of regimes on them make, train and measure."""

from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray
from scipy.stats import spearmanr

from tacit.descent import Lanes
from tacit.draw import Points
from tacit.experiments import Experiment
from tacit.measures import hankel, numerical_rank
from tacit.models import DiagonalSSM, LRURing, S4DInv, S4DLin
from tacit.problems import RatedResponse
from tacit.theory.regimes import kernel_norm, wide_error

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

    def setting_points(self, runs: xarray.Dataset, x: str, y: str, *, filled: str) -> list[Points]:
        """The medians of every setting, by start; filled at one value of `output`, else hollow."""

        def centre(values: xarray.DataArray, start: str, output: str) -> np.ndarray:
            found: np.ndarray = values.sel(start=start, output=output).median("seed").values
            return found.ravel().clip(1e-4)

        outputs, counted = runs["output"].values, self.counted(runs, y)
        return [
            Points(
                centre(runs[x], start, output),
                centre(counted, start, output),
                label=NAMES[start] if output == outputs[0] else None,
                colour=colour,
                filled=output == filled,
                size=4.5,
            )
            for colour, start in enumerate(runs["start"].values)
            for output in outputs
        ]

    @staticmethod
    def moved(problems: RatedResponse, moves: Lanes[Any]) -> Any:
        """The models at the end, stacked."""
        with jax.enable_x64(True):
            return eqx.filter_vmap(lambda problem, move: problem.model(move))(problems, moves.tree)


@eqx.filter_jit
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


@eqx.filter_jit
def _responses(models: Any, lags: int) -> Any:
    return eqx.filter_vmap(lambda model: model.impulse_response(lags))(models)


@lru_cache(maxsize=64)
def linear_errors(kappas: tuple[float, ...], length: int, tail: int) -> tuple[float, ...]:
    """Errors beyond k of infinitely wide linear RNNs (ν_W = ½) on the same teacher at each κ."""
    target = teacher_response(length + tail)
    norm = kernel_norm(target, length=length, nu_w=0.5)
    return tuple(wide_error(target, kappa / norm, length=length, nu_w=0.5) for kappa in kappas)


def hankel_rank(response: np.ndarray) -> int:
    """Hankel singular values above 1% of the largest, counted; −1 if it overflowed."""
    if not np.isfinite(response).all():
        return -1
    return int(numerical_rank(hankel(response), tolerance=0.01))


def rank_correlation(one: xarray.DataArray, other: xarray.DataArray) -> xarray.DataArray:
    """Spearman's rank correlation over all cells of a seed, by seed."""
    cells = [dim for dim in one.dims if dim != "seed"]
    values = [a.stack(cell=cells).transpose("seed", "cell").values for a in (one, other)]
    found = []
    for x, y in zip(*values, strict=True):
        known = np.isfinite(x) & np.isfinite(y)
        found.append(spearmanr(x[known], y[known]).statistic if known.sum() > 5 else np.nan)
    return xarray.DataArray(found, {"seed": one["seed"].values}, ("seed",))
