"""What the cells on SST-2 do: train LSTMs, decompose their weights, truncate them."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from tacit import measures
from tacit.data import encoded, sst2, word_vectors
from tacit.descent import Lanes, Record, Stop, descend
from tacit.experiments.connectivity._sentiment import (
    INPUTS,
    LEARNED,
    MATRICES,
    SPLITS,
    TRUNCATED,
    TRUNCATIONS,
    SentimentConfig,
)
from tacit.models import StackedLSTM
from tacit.problems import Seeded, SentenceBatches, Sentences

_BATCHES, _STARTS = 7, 8  # what the keys are for; the same seed gives other numbers for each


class Corpus(NamedTuple):
    """Sentences as rows of a table of vectors, and their labels, by split."""

    words: Mapping[str, Sequence[np.ndarray]]
    labels: Mapping[str, np.ndarray]
    vectors: np.ndarray  # the first row, zero, is for unknown words


@functools.cache
def corpus() -> Corpus:
    """SST-2 in GloVe's words."""
    texts, table = sst2(), word_vectors()
    return Corpus(
        {split: encoded(texts[split].sentences, table.words) for split in SPLITS},
        {split: texts[split].labels for split in SPLITS},
        np.concatenate([np.zeros_like(table.vectors[:1]), table.vectors]),
    )


@functools.lru_cache(maxsize=4)
def stored_runs(seeds: tuple[int, ...], config: SentimentConfig) -> Mapping[str, Any]:
    """`sentiment_runs` on SST-2; fig5 and figs6 in one process train their networks once."""
    return sentiment_runs(seeds, config, corpus())


def sentiment_runs(
    seeds: Sequence[int], config: SentimentConfig, corpus: Corpus
) -> Mapping[str, Any]:
    """All seeds as lanes of one program, then each network by itself."""
    train = _made(corpus, "train", config, least=config.batch)
    # Training accuracy is judged on as many sentences as there are in dev, the same ones always.
    judged = {
        "train": _made(corpus, "train", config, most=len(corpus.labels["dev"])),
        "dev": _made(corpus, "dev", config),
    }
    watched = {
        split: _made(corpus, split, config, most=config.watched, groups=min(2, config.groups))
        for split in SPLITS
    }
    starts = [
        StackedLSTM.random(
            config.width,
            inputs=corpus.vectors.shape[1],
            key=jax.random.fold_in(jax.random.key(_STARTS), seed),
        )
        for seed in seeds
    ]
    steps = max(1, round(config.epochs * sum(train.counts) / config.batch))
    points = np.unique(np.linspace(0, steps, config.points + 1).round().astype(int))
    result = descend(
        Lanes.stack(
            [Seeded(start, jnp.int32(seed)) for start, seed in zip(starts, seeds, strict=True)]
        ),
        SentenceBatches(train, config.batch, config.dropout),
        _adam(),
        stop=Stop(steps),
        record=Record(points.tolist(), {split: _watch(watched[split]) for split in SPLITS}),
        key=Lanes(jnp.stack([jax.random.key(_BATCHES)] * len(seeds))),
        rate=config.rate / config.width,
        title=f"{len(seeds)} LSTMs",
    )
    # Fewer steps than points: the curve stands still at its end.
    places = np.minimum(np.arange(config.points + 1), len(points) - 1)
    epochs = points[places] * config.batch / sum(train.counts)
    rows = []
    for lane, (start, seed) in enumerate(zip(starts, seeds, strict=True)):
        final = jax.tree.map(lambda leaf, lane=lane: leaf[lane], result.model.tree).model
        curves = np.stack([result.records[split][lane][places] for split in SPLITS])
        row = _looked_at(start, final, judged, seed, config)
        fell = row["final_loss"][0] <= LEARNED * curves[0, 0, 0]
        diverged = result.outcome[lane] == "diverged"
        rows.append(
            {
                **row,
                "outcome": "diverged" if diverged else "converged" if fell else "stopped",
                "epoch": epochs,
                "loss": curves[:, :, 0],
                "accuracy": curves[:, :, 1],
            }
        )
    return {name: np.stack([np.asarray(row[name]) for row in rows]) for name in rows[0]}


def _made(
    corpus: Corpus,
    split: str,
    config: SentimentConfig,
    *,
    least: int = 1,
    most: int | None = None,
    groups: int | None = None,
) -> Sentences:
    """The sentences of a split that are not too long; of more than `most` a fixed draw."""
    rows = np.array([n for n, row in enumerate(corpus.words[split]) if len(row) <= config.longest])
    if most is not None and most < rows.size:
        rows = np.random.default_rng(0).permutation(rows)[:most]
    return Sentences.of(
        [corpus.words[split][row] for row in rows],
        corpus.labels[split][rows],
        corpus.vectors,
        groups=config.groups if groups is None else groups,
        least=min(least, rows.size),
    )


@functools.cache
def _adam() -> optax.GradientTransformation:
    return optax.adam(1.0)


def _watch(sentences: Sentences) -> Callable[[Seeded], jax.Array]:
    return lambda seeded: jnp.stack(sentences.loss_and_accuracy(seeded.model))


@eqx.filter_jit
def _told(model: StackedLSTM, sentences: Sentences) -> jax.Array:
    return jnp.stack(sentences.loss_and_accuracy(model))


def _matrices(model: StackedLSTM) -> dict[str, np.ndarray]:
    found = (
        model.input_weights[0],
        model.recurrent_weights[0],
        model.input_weights[1],
        model.recurrent_weights[1],
    )
    return {name: np.asarray(W, np.float64) for name, W in zip(MATRICES, found, strict=True)}


def _replaced(model: StackedLSTM, matrices: Mapping[str, np.ndarray]) -> StackedLSTM:
    """The model with the truncated matrices in the places of its own."""
    chosen = [jnp.asarray(matrices[name], model.readout.dtype) for name in TRUNCATED]
    return eqx.tree_at(
        lambda m: [m.recurrent_weights[0], m.input_weights[1], m.recurrent_weights[1]],
        model,
        chosen,
    )


def _looked_at(
    start: StackedLSTM,
    final: StackedLSTM,
    judged: Mapping[str, Sentences],
    seed: int,
    config: SentimentConfig,
) -> dict[str, np.ndarray]:
    """Spectra of the four matrices, and the accuracy with three of them truncated together."""
    before, after = _matrices(start), _matrices(final)

    def told(model: StackedLSTM) -> np.ndarray:
        """Loss and accuracy of each split: (split, 2)."""
        return np.stack([np.asarray(_told(model, judged[split]), float) for split in SPLITS])

    ranks, splits = len(config.ranks), len(SPLITS)
    spectra = {
        name: np.full((len(MATRICES), max(config.width, INPUTS)), np.nan)
        for name in ("initial_singular", "final_singular", "change_singular")
    }
    if not all(np.isfinite(W).all() for W in after.values()):
        return {
            "final_loss": np.full(splits, np.nan),
            "final_accuracy": np.full(splits, np.nan),
            "truncated_accuracy": np.full((splits, len(TRUNCATIONS), ranks), np.nan),
            "shuffled_accuracy": np.full(splits, np.nan),
            **spectra,
        }
    for place, name in enumerate(MATRICES):
        for kind, matrix in (
            ("initial_singular", before[name]),
            ("final_singular", after[name]),
            ("change_singular", after[name] - before[name]),
        ):
            values = np.asarray(measures.singular_values(matrix))
            spectra[kind][place, : values.size] = values
    accuracies = np.empty((splits, len(TRUNCATIONS), ranks))
    for place, kept in enumerate(TRUNCATIONS):
        base = {name: before[name] if kept == "change" else 0.0 for name in TRUNCATED}
        parts = zip(
            *(measures.truncations(after[name] - base[name], config.ranks) for name in TRUNCATED),
            strict=True,
        )
        for number, found in enumerate(parts):
            summed = {name: base[name] + part for name, part in zip(TRUNCATED, found, strict=True)}
            accuracies[:, place, number] = told(_replaced(final, summed))[:, 1]
    shuffled = {
        name: np.asarray(measures.shuffled(before[name], seed=seed)) + after[name] - before[name]
        for name in TRUNCATED
    }
    whole = told(final)
    return {
        "final_loss": whole[:, 0],
        "final_accuracy": whole[:, 1],
        "truncated_accuracy": accuracies,
        "shuffled_accuracy": told(_replaced(final, shuffled))[:, 1],
        **spectra,
    }
