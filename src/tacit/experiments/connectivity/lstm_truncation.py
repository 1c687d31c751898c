"""What Figures 5 and S6 measure in an LSTM: spectra of its matrices, accuracy after truncation."""

from collections.abc import Mapping, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tacit import measures
from tacit.models import StackedLSTM
from tacit.problems import Sentences

MATRICES = {
    "input 1": "input weights, layer 1",
    "recurrent 1": "recurrent weights, layer 1",
    "input 2": "input weights, layer 2",
    "recurrent 2": "recurrent weights, layer 2",
}
TRUNCATED = ("recurrent 1", "input 2", "recurrent 2")
"""The matrices that are truncated together: all of shape 4N × N."""
TRUNCATIONS = {"change": "W₀ kept, ΔW truncated", "whole": "W truncated"}


def spectra_and_truncations(
    start: StackedLSTM,
    final: StackedLSTM,
    judged: Mapping[str, Sentences],
    ranks: Sequence[int],
    *,
    values: int,
    seed: int,
) -> dict[str, np.ndarray]:
    """Spectra of the four matrices, and the accuracy with three of them truncated together.

    Of each matrix `values` singular values, NaN where it has fewer; all NaN for a model that is not
    finite. `judged`: the sentences of each split. `seed`: of the shuffled W₀.
    """
    before, after = _matrices(start), _matrices(final)
    found: dict[str, np.ndarray] = {
        name: np.full((len(MATRICES), values), np.nan)
        for name in ("initial_singular", "final_singular", "change_singular")
    }
    found |= {
        name: np.full(len(judged), np.nan)
        for name in ("final_loss", "final_accuracy", "shuffled_accuracy")
    }
    found["truncated_accuracy"] = np.full((len(judged), len(TRUNCATIONS), len(ranks)), np.nan)
    if not all(np.isfinite(W).all() for W in after.values()):
        return found

    def score(matrices: Mapping[str, np.ndarray]) -> np.ndarray:
        """Loss and accuracy of each split with other matrices: (2, split)."""
        model = _replaced(final, matrices) if matrices else final
        return np.array([np.asarray(_judge(model, each), float) for each in judged.values()]).T

    found["final_loss"], found["final_accuracy"] = score({})
    change = {name: after[name] - before[name] for name in MATRICES}
    for place, name in enumerate(MATRICES):
        for kind, W in (("initial", before), ("final", after), ("change", change)):
            spectrum = np.asarray(measures.singular_values(W[name]))
            found[f"{kind}_singular"][place, : spectrum.size] = spectrum
    for place, kept in enumerate(TRUNCATIONS):
        base = {name: before[name] if kept == "change" else 0.0 for name in TRUNCATED}
        parts = (measures.truncations(after[name] - base[name], ranks) for name in TRUNCATED)
        for number, low in enumerate(zip(*parts, strict=True)):
            summed = {name: base[name] + part for name, part in zip(TRUNCATED, low, strict=True)}
            found["truncated_accuracy"][:, place, number] = score(summed)[1]
    mixed = {name: np.asarray(measures.shuffled(before[name], seed=seed)) for name in TRUNCATED}
    found["shuffled_accuracy"] = score({name: mixed[name] + change[name] for name in TRUNCATED})[1]
    return found


@eqx.filter_jit
def _judge(model: StackedLSTM, sentences: Sentences) -> jax.Array:
    return jnp.stack(sentences.loss_and_accuracy(model))


def _matrices(model: StackedLSTM) -> dict[str, np.ndarray]:
    found = [
        W for pair in zip(model.input_weights, model.recurrent_weights, strict=True) for W in pair
    ]
    return {name: np.asarray(W, np.float64) for name, W in zip(MATRICES, found, strict=True)}


def _replaced(model: StackedLSTM, matrices: Mapping[str, np.ndarray]) -> StackedLSTM:
    """The model with the truncated matrices in the places of its own."""
    chosen = [jnp.asarray(matrices[name], model.readout.dtype) for name in TRUNCATED]
    return eqx.tree_at(
        lambda m: [m.recurrent_weights[0], m.input_weights[1], m.recurrent_weights[1]],
        model,
        chosen,
    )
