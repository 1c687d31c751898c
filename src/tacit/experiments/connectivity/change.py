"""What training changed in a rate network: norms and spectra of ΔW, truncations, a control."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tacit import measures
from tacit.experiments import accelerated
from tacit.experiments.connectivity.threads import for_threads
from tacit.models import RateRNN
from tacit.problems import Trials


def change_measured(
    start: RateRNN, trained: RateRNN, trials: Trials, *, seed: int, ranks: int, fraction: float
) -> dict[str, Any]:
    """Norms, truncations and the control, on one fixed batch of trials."""
    before, after = (np.asarray(model.W, np.float64) for model in (start, trained))
    kept = range(min(ranks, len(before)) + 1)
    initial = float(loss(start, trials))
    if not np.isfinite(after).all():
        numbers = ("looked_loss", "change_norm", "weight_norm", "shuffled_loss")
        return {
            "initial_loss": initial,
            **dict.fromkeys((*numbers, "rank_text", "rank_code"), np.nan),
            "truncated_loss": np.full(len(kept), np.nan),
        }
    change = after - before
    shuffled = np.asarray(measures.shuffled(before, seed=seed)) + change
    tried = [before + part for part in measures.truncations(change, kept)]
    *truncated, looked, again = losses(trained, np.stack([*tried, after, shuffled]), trials)
    text, code = (
        measures.functional_rank(truncated, initial=against, fraction=fraction)
        for against in (initial, None)
    )
    return {
        "initial_loss": initial,
        "looked_loss": looked / initial,
        "change_norm": np.linalg.norm(change),
        "weight_norm": np.linalg.norm(after),
        "truncated_loss": np.array(truncated) / initial,
        "shuffled_loss": again / initial,
        "rank_text": np.inf if text is None else text,
        "rank_code": np.inf if code is None else code,
    }


def spectra(
    start: RateRNN, trained: RateRNN, *, shown: int, eigenvalues: bool
) -> dict[str, np.ndarray]:
    """Of ΔW and of W after training; NaN where it is no number any more.

    At N = 1,024 eigenvalues take as long as training.
    """
    before, after = (np.asarray(model.W, np.float64) for model in (start, trained))
    lost, count = not np.isfinite(after).all(), min(shown, len(after))
    found = {}
    for name, matrix in (("change", after - before), ("final", after)):
        given = for_threads(matrix)
        singular = np.full(count, np.nan) if lost else measures.singular_values(given)[:count]
        found[f"{name}_singular"] = np.asarray(singular)
        if eigenvalues:
            values = np.full(len(after), np.nan + 0j) if lost else measures.eigenvalues(given)
            found[f"{name}_eigenvalues"] = np.asarray(values)
    return found


@eqx.filter_jit
def loss(model: RateRNN, trials: Trials) -> jax.Array:
    """On these trials."""
    return trials.loss(model.run(trials.inputs))


def losses(model: RateRNN, matrices: np.ndarray, trials: Trials) -> np.ndarray:
    """With each of the matrices in the place of W: on an accelerator all at once."""
    together = len(matrices) if accelerated() else 1
    given = jnp.asarray(matrices, jnp.float32)
    return np.asarray(_losses(model, given, trials, together), np.float64)


@eqx.filter_jit
def _losses(model: RateRNN, matrices: jax.Array, trials: Trials, together: int) -> jax.Array:
    def changed(W: jax.Array) -> jax.Array:
        return loss(eqx.tree_at(lambda m: m.W, model, W), trials)

    return jax.lax.map(changed, matrices, batch_size=together if together > 1 else None)
