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
INPUTS = 100  # numbers in GloVe's vector of a word
TRUNCATIONS = {"change": "W₀ kept, ΔW truncated", "whole": "W truncated"}


def spectra_and_truncations(
    start: StackedLSTM,
    final: StackedLSTM,
    judged: Mapping[str, Sentences],
    ranks: Sequence[int],
    seed: int,
) -> dict[str, np.ndarray]:
    """Spectra of the four matrices, and the accuracy with three of them truncated together.

    Of each matrix N singular values or `INPUTS`, NaN where it has fewer. `judged`: the sentences of
    each split. `seed`: of the shuffled W₀. All is NaN for a model that is not finite.
    """
    before, after = (
        dict(zip(MATRICES, [np.asarray(W, np.float64) for W in model.matrices()], strict=True))
        for model in (start, final)
    )
    if not all(np.isfinite(W).all() for W in after.values()):
        shapes = spectra_and_truncations(start, start, judged, ranks, seed)
        return {name: np.full_like(found, np.nan) for name, found in shapes.items()}

    def score(matrices: Mapping[str, np.ndarray]) -> np.ndarray:
        """Loss and accuracy of each split with other matrices: (2, split)."""
        model = final.with_matrices([*{**after, **matrices}.values()])
        return np.array([np.asarray(_judge(model, each), float) for each in judged.values()]).T

    values = max(final.width, INPUTS)
    change = {name: after[name] - before[name] for name in MATRICES}
    found = dict(zip(("final_loss", "final_accuracy"), score({}), strict=True))
    for kind, W in (("initial", before), ("final", after), ("change", change)):
        spectra = [np.asarray(measures.singular_values(W[name])) for name in MATRICES]
        found[f"{kind}_singular"] = np.stack(
            [np.pad(each, (0, values - each.size), constant_values=np.nan) for each in spectra]
        )
    rows = []
    for kept in TRUNCATIONS:
        base = {name: before[name] if kept == "change" else 0.0 for name in TRUNCATED}
        parts = [measures.truncations(after[name] - base[name], ranks) for name in TRUNCATED]
        for low in zip(*parts, strict=True):
            summed = {name: base[name] + part for name, part in zip(TRUNCATED, low, strict=True)}
            rows.append(score(summed)[1])
    shape = (len(TRUNCATIONS), len(ranks), len(judged))
    found["truncated_accuracy"] = np.moveaxis(np.reshape(rows, shape), -1, 0)
    mixed = {name: np.asarray(measures.shuffled(before[name], seed=seed)) for name in TRUNCATED}
    found["shuffled_accuracy"] = score({name: mixed[name] + change[name] for name in TRUNCATED})[1]
    return found


@eqx.filter_jit
def _judge(model: StackedLSTM, sentences: Sentences) -> jax.Array:
    return jnp.stack(sentences.loss_and_accuracy(model))
