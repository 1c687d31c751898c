"""What the figures on film reviews share: two-layer LSTMs learn SST-2 and are truncated."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import xarray
from numpy.typing import ArrayLike

from tacit import measures
from tacit.data import SST2, encoded, sst2, word_vectors, word_vectors_missing
from tacit.descent import Lanes, Record, Stop, descend
from tacit.draw import Axis, Mark, Panel, range_lines
from tacit.experiments import Batch, Experiment, Variable, fixed, stacked, swept
from tacit.models import StackedLSTM
from tacit.problems import Seeded, SentenceBatches, Sentences

MATRICES = {
    "input 1": "input weights, layer 1",
    "recurrent 1": "recurrent weights, layer 1",
    "input 2": "input weights, layer 2",
    "recurrent 2": "recurrent weights, layer 2",
}
TRUNCATED = ("recurrent 1", "input 2", "recurrent 2")
"""The matrices that are truncated together: all of shape 4N × N."""
SPLITS = {"train": "training", "dev": "validation"}
TRUNCATIONS = {"change": "W₀ kept, ΔW truncated", "whole": "W truncated"}
_RANKS = (*range(11), 12, 14, 16, 20, 24, 28, *range(32, 65, 8), *range(80, 4097, 16))
INPUTS = 100  # numbers in GloVe's vector of a word
LEARNED = 0.75  # of the initial loss: what the training loss must have fallen to
LONG = 100.0  # epochs; from there on the networks know the training sentences by heart
MEMORISED = (
    "the networks memorise: by epoch 500 training accuracy is 1.000, while validation loss was "
    "least before epoch 60 and has grown threefold since. What is learned by heart takes many "
    "directions: at rank 10 training accuracy is 0.77 and validation accuracy 0.68 of 0.79, and "
    "the largest ten singular values of the first layer's input change carry 0.48. Stopped early, "
    "the same networks need less: a median rank of 3 [2, 4] after 10 epochs (accuracy 0.768), of "
    "10.5 [7, 24] after 40 (0.800, as good as it gets), against 56 [32, 80] after 500 (0.795)"
)
SMALL = 32  # units; from there on down truncating W costs little
COARSE = (
    "With 32 units, two singular values of W carry nearly all that was learned: truncating it "
    "costs a point or two of accuracy, no more than the margin and what a few sentences make, and "
    "networks fall on either side. It takes tens of seeds to tell."
)
_BATCHES, _STARTS = 7, 8  # what the keys are for; the same seed gives other numbers for each


class Corpus(NamedTuple):
    """Sentences as rows of a table of vectors, and their labels, by split."""

    words: Mapping[str, Sequence[np.ndarray]]
    labels: Mapping[str, np.ndarray]
    vectors: np.ndarray  # the first row, zero, is for unknown words

    @classmethod
    def of_sst2(cls) -> "Corpus":
        """SST-2 in GloVe's words."""
        texts, table = sst2(), word_vectors()
        return cls(
            {split: encoded(texts[split].sentences, table.words) for split in SPLITS},
            {split: texts[split].labels for split in SPLITS},
            np.concatenate([np.zeros_like(table.vectors[:1]), table.vectors]),
        )


class SentimentExperiment(Experiment):
    """Two-layer LSTMs that learn to tell liked films from disliked ones."""

    seed: tuple[int, ...] = swept(
        range(10), "seed of the network, of its batches and dropout", low=0
    )
    width: int = fixed(256, "number N of units in each of the two layers", low=2, high=2048)
    epochs: float = fixed(
        500.0, "passes through as many sentences as there are", low=0.01, high=1e5
    )
    rate: float = fixed(0.01, "Adam's learning rate, times N", low=1e-6, high=100.0)
    batch: int = fixed(64, "sentences a step", low=1, high=4096)
    dropout: float = fixed(0.5, "probability that a state is dropped", low=0.0, high=0.95)
    longest: int = fixed(100, "longer sentences are left out", low=1, high=1000, units="words")
    groups: int = fixed(4, "groups of similar length; each is compiled", low=1, high=16)
    watched: int = fixed(
        872, "sentences of each split that curves are measured on", low=1, high=10_000
    )
    points: int = fixed(50, "points of the curves after the start", low=1, high=1000)
    margin: float = fixed(
        0.01, "of accuracy: what may be lacking at a rank that is enough", low=0.0, analysis=True
    )

    presets = {
        "smoke": dict(seed=range(2), width=8, epochs=3.0, rate=0.1, longest=8, groups=1, watched=50,
                      points=3),
        "quick": dict(width=32, epochs=12.0, longest=16, groups=1, watched=100, points=10),
        "paper": {},
    }  # fmt: skip

    def missing(self) -> str | None:
        return SST2.missing() or word_vectors_missing()

    def counts(self, runs: xarray.Dataset) -> xarray.DataArray:
        """The networks whose training loss fell far enough."""
        return runs["outcome"] == "converged"

    @property
    def ranks(self) -> tuple[int, ...]:
        """Ranks that matrices are truncated at: all up to 10, then fewer, up to N."""
        return (*(rank for rank in _RANKS if rank < self.width), self.width)

    @property
    def few(self) -> int:
        """How many singular values are few: ten, but no more than an eighth of all."""
        return max(1, min(10, self.width // 8))

    @property
    def memorised(self) -> str:
        """Why long training overturns a claim; empty for short training."""
        return MEMORISED if self.epochs >= LONG else ""

    @property
    def coarse(self) -> str:
        """Why small networks do not tell which rank of W is enough; empty for large ones."""
        return COARSE if self.width <= SMALL else ""

    def variables(self) -> dict[str, Variable]:
        cross_entropy = "cross-entropy of the watched sentences, no dropout"
        return {
            "epoch": Variable("epochs", "step"),
            "loss": Variable(cross_entropy, "split", "step"),
            "accuracy": Variable("share of the watched sentences told right", "split", "step"),
            "final_loss": Variable("cross-entropy at the end, no dropout", "split"),
            "final_accuracy": Variable("share told right at the end", "split"),
            "initial_singular": Variable("singular values of W₀", "matrix", "singular_value"),
            "final_singular": Variable("singular values of W", "matrix", "singular_value"),
            "change_singular": Variable("singular values of ΔW", "matrix", "singular_value"),
            "truncated_accuracy": Variable(
                "share told right after truncation", "split", "kept", "rank"
            ),
            "shuffled_accuracy": Variable("share told right with W₀ shuffled", "split"),
        }

    def coordinates(self) -> dict[str, Sequence[str] | Sequence[int] | np.ndarray]:
        return {
            "step": np.arange(self.points + 1),
            "split": tuple(SPLITS),
            "matrix": tuple(MATRICES),
            "singular_value": np.arange(1, max(self.width, INPUTS) + 1),
            "kept": tuple(TRUNCATIONS),
            "rank": self.ranks,
        }

    def cell(self, batch: Batch) -> Mapping[str, np.ndarray]:
        shared = {**vars(self), "seed": batch.values("seed")}
        return _on_sst2(SentimentExperiment(**shared))

    def networks(self, corpus: Corpus) -> dict[str, np.ndarray]:
        """All seeds as lanes of one program, then each network by itself."""
        train = self._sentences(corpus, "train", least=self.batch)
        # Training accuracy is judged on as many sentences as there are in dev, always the same.
        judged = {
            "train": self._sentences(corpus, "train", most=len(corpus.labels["dev"])),
            "dev": self._sentences(corpus, "dev"),
        }
        watched = {
            split: self._sentences(corpus, split, most=self.watched, groups=min(2, self.groups))
            for split in SPLITS
        }
        inputs, key = corpus.vectors.shape[1], jax.random.key(_STARTS)
        starts = [
            StackedLSTM.random(self.width, inputs=inputs, key=jax.random.fold_in(key, seed))
            for seed in self.seed
        ]
        steps = max(1, round(self.epochs * sum(train.counts) / self.batch))
        points = np.unique(np.linspace(0, steps, self.points + 1).round().astype(int))
        result = descend(
            Lanes.stack(
                [Seeded(*each) for each in zip(starts, map(jnp.int32, self.seed), strict=True)]
            ),
            SentenceBatches(train, self.batch, self.dropout),
            optax.adam(1.0),
            stop=Stop(steps),
            record=Record(points.tolist(), {split: _watch(watched[split]) for split in SPLITS}),
            key=Lanes(jnp.stack([jax.random.key(_BATCHES)] * len(self.seed))),
            rate=self.rate / self.width,
            title=f"{len(self.seed)} LSTMs",
        )
        # Fewer steps than points: the curve stands still at its end.
        places = np.minimum(np.arange(self.points + 1), len(points) - 1)
        rows: list[dict[str, ArrayLike]] = []
        for lane, (start, seed) in enumerate(zip(starts, self.seed, strict=True)):
            curves = np.stack([result.records[split][lane][places] for split in SPLITS])
            found = self._truncated(start, result.model[lane].model, judged, seed)
            fell = found["final_loss"][0] <= LEARNED * curves[0, 0, 0]
            diverged = result.outcome[lane] == "diverged"
            rows.append(
                {
                    **found,
                    "outcome": "diverged" if diverged else "converged" if fell else "stopped",
                    "epoch": points[places] * self.batch / sum(train.counts),
                    "loss": curves[:, :, 0],
                    "accuracy": curves[:, :, 1],
                }
            )
        return stacked(rows)

    def _sentences(
        self,
        corpus: Corpus,
        split: str,
        *,
        least: int = 1,
        most: int | None = None,
        groups: int | None = None,
    ) -> Sentences:
        """The sentences of a split that are not too long; of more than `most` a fixed draw."""
        rows = np.array(
            [n for n, row in enumerate(corpus.words[split]) if len(row) <= self.longest]
        )
        if most is not None and most < rows.size:
            rows = np.random.default_rng(0).permutation(rows)[:most]
        return Sentences.of(
            [corpus.words[split][row] for row in rows],
            corpus.labels[split][rows],
            corpus.vectors,
            groups=self.groups if groups is None else groups,
            least=min(least, rows.size),
        )

    def _truncated(
        self, start: StackedLSTM, final: StackedLSTM, judged: Mapping[str, Sentences], seed: int
    ) -> dict[str, np.ndarray]:
        """Spectra of the four matrices, and the accuracy with three of them truncated together."""
        before, after = _matrices(start), _matrices(final)
        found: dict[str, np.ndarray] = {
            name: np.full((len(MATRICES), max(self.width, INPUTS)), np.nan)
            for name in ("initial_singular", "final_singular", "change_singular")
        }
        found |= {
            name: np.full(len(SPLITS), np.nan)
            for name in ("final_loss", "final_accuracy", "shuffled_accuracy")
        }
        shape = (len(SPLITS), len(TRUNCATIONS), len(self.ranks))
        found["truncated_accuracy"] = np.full(shape, np.nan)
        if not all(np.isfinite(W).all() for W in after.values()):
            return found

        def score(matrices: Mapping[str, np.ndarray]) -> np.ndarray:
            """Loss and accuracy of each split with other matrices: (2, split)."""
            model = _replaced(final, matrices) if matrices else final
            return np.array(
                [np.asarray(_loss_and_accuracy(model, judged[split]), float) for split in SPLITS]
            ).T

        found["final_loss"], found["final_accuracy"] = score({})
        change = {name: after[name] - before[name] for name in MATRICES}
        for place, name in enumerate(MATRICES):
            for kind, W in (("initial", before), ("final", after), ("change", change)):
                values = np.asarray(measures.singular_values(W[name]))
                found[f"{kind}_singular"][place, : values.size] = values
        for place, kept in enumerate(TRUNCATIONS):
            base = {name: before[name] if kept == "change" else 0.0 for name in TRUNCATED}
            parts = (
                measures.truncations(after[name] - base[name], self.ranks) for name in TRUNCATED
            )
            for number, low in enumerate(zip(*parts, strict=True)):
                summed = {
                    name: base[name] + part for name, part in zip(TRUNCATED, low, strict=True)
                }
                found["truncated_accuracy"][:, place, number] = score(summed)[1]
        mixed = {name: np.asarray(measures.shuffled(before[name], seed=seed)) for name in TRUNCATED}
        shuffled = {name: mixed[name] + after[name] - before[name] for name in TRUNCATED}
        found["shuffled_accuracy"] = score(shuffled)[1]
        return found

    def leading_share(self, runs: xarray.Dataset, matrix: str) -> xarray.DataArray:
        """The share of ‖ΔW‖² that few singular values carry, network by network."""
        squares = self.counted(runs, "change_singular").sel(matrix=matrix) ** 2
        few = squares.isel(singular_value=slice(self.few))
        return few.sum("singular_value") / squares.sum("singular_value")

    def relative_change(self, runs: xarray.Dataset, matrix: str) -> ArrayLike:
        """‖ΔW‖ / ‖W₀‖ in Frobenius' norm, network by network."""
        change, initial = (
            np.sqrt((self.counted(runs, name).sel(matrix=matrix) ** 2).sum("singular_value"))
            for name in ("change_singular", "initial_singular")
        )
        return change / initial

    def singular_panel(self, runs: xarray.Dataset, matrix: str) -> Panel:
        """All singular values of one matrix, before and after, and of its change."""
        marks: list[Mark] = []
        for name, words, colour, style in (
            ("initial_singular", "W₀", "muted", "dashed"),
            ("final_singular", "W", 0, "solid"),
            ("change_singular", "ΔW", 1, "solid"),
        ):
            values = self.counted(runs, name).sel(matrix=matrix)
            marks += range_lines(values, "singular_value", label=words, colour=colour, style=style)
        y = Axis("singular value", limits=(0, None))
        return Panel(MATRICES[matrix], Axis("number"), y, marks)

    def caption(self, runs: xarray.Dataset) -> str:
        """How the networks were trained, and how many learned."""
        shorter = f" Sentences of at most {self.longest} tokens." if self.longest < 60 else ""
        return (
            f"N = {self.width}, {self.epochs:g} epochs of Adam with rate {self.rate:g}/N, batches "
            f"of {self.batch}, dropout {self.dropout:g}; {self.counts(runs).sum().item()} of "
            f"{runs.sizes['seed']} networks learned: lines are medians, bands ranges. SST-2 in the "
            "treebank's own tokens (the paper: spaCy's), GloVe's 100 numbers a word kept fixed, "
            "unknown words zero; batches drawn at random from sentences of similar length."
            f"{shorter}"
        )


@functools.lru_cache(maxsize=4)
def _on_sst2(experiment: SentimentExperiment) -> Mapping[str, np.ndarray]:
    """The networks on SST-2; two figures in one process train them once."""
    return experiment.networks(_corpus())


_corpus = functools.cache(Corpus.of_sst2)


def _watch(sentences: Sentences) -> Callable[[Seeded], jax.Array]:
    return lambda seeded: jnp.stack(sentences.loss_and_accuracy(seeded.model))


@eqx.filter_jit
def _loss_and_accuracy(model: StackedLSTM, sentences: Sentences) -> jax.Array:
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
