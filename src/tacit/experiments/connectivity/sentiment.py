"""What the figures on film reviews share: two-layer LSTMs learn SST-2 and are truncated.

Section S6 and the public code (frschu/neurips_2020_interplay_randomness_structure) have the rate
0.01/N. The published network starts to learn about ten times later than these do at that rate, in
all that was tried (docs/connectivity.md). At a tenth of the rate they follow its curves: both are
trained.
"""

import functools
from collections.abc import Callable, Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import optax
import xarray
from numpy.typing import ArrayLike

from tacit.data import SST2, SST2_CASED, Reviews, word_vectors_missing
from tacit.descent import Lanes, Record, Stop, descend
from tacit.draw import Axis, Mark, Panel, range_lines
from tacit.experiments import Batch, Experiment, Variable, fixed, stacked, swept
from tacit.experiments.connectivity.lstm_truncation import (
    INPUTS,
    MATRICES,
    TRUNCATIONS,
    spectra_and_truncations,
)
from tacit.models import StackedLSTM
from tacit.problems import Seeded, SentenceBatches, Sentences

SPLITS = {"train": "training", "dev": "validation"}
_RANKS = (*range(11), 12, 14, 16, 20, 24, 28, *range(32, 65, 8), *range(80, 4097, 16))
LEARNED = 0.75  # of the initial loss: what the training loss must have fallen to
_BATCHES, _STARTS, _WATCHED = 7, 8, 9  # what the keys are for; a seed gives other numbers for each


class SentimentExperiment(Experiment):
    """Two-layer LSTMs that learn to tell liked films from disliked ones.

    The defaults are those of section S6 and of the public code, with a tenth of the rate beside it.
    """

    version = 2

    rate: tuple[float, ...] = swept(
        (0.01, 0.001), "Adam's learning rate, times N", low=1e-6, high=100.0
    )
    seed: tuple[int, ...] = swept(
        range(10), "seed of the network, of its batches and dropout", low=0
    )
    width: int = fixed(256, "number N of units in each of the two layers", low=2, high=2048)
    epochs: float = fixed(
        500.0, "passes through as many sentences as there are", low=0.01, high=1e5
    )
    batch: int = fixed(64, "sentences a step", low=1, high=4096)
    dropout: float = fixed(0.5, "probability that a state is dropped", low=0.0, high=0.95)
    words: str = fixed(
        "cased", "GloVe knows no word with capitals: kept, or lower", choices=("cased", "lower")
    )
    unknown: float = fixed(
        1.0, "standard deviation of the vectors of words that GloVe lacks", low=0.0, high=100.0
    )
    longest: int = fixed(100, "longer sentences are left out", low=1, high=1000, units="words")
    groups: int = fixed(4, "groups of similar length; each is compiled", low=1, high=16)
    watched: int = fixed(
        872, "sentences of each split that curves are measured on", low=1, high=10_000
    )
    points: int = fixed(100, "points of the curves after the start", low=1, high=1000)
    margin: float = fixed(
        0.01, "of accuracy: what may be lacking at a rank that is enough", low=0.0, analysis=True
    )

    presets = {
        "smoke": dict(rate=0.1, seed=range(2), width=8, epochs=3.0, words="lower", longest=8,
                      groups=1, watched=50, points=3),
        "quick": dict(rate=0.01, width=32, epochs=12.0, words="lower", longest=16, groups=1,
                      watched=100, points=10, seed=range(8)),
        "paper": {},
    }  # fmt: skip

    def missing(self) -> str | None:
        source = SST2_CASED if self.words == "cased" else SST2
        return source.missing() or word_vectors_missing()

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

    def variables(self) -> dict[str, Variable]:
        cross_entropy = "cross-entropy of the watched sentences, those of training with dropout"
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
        cells = tuple((cell["rate"], cell["seed"]) for cell in batch.cells)
        return _trained(SentimentExperiment(**vars(self)), cells)

    def networks(
        self, reviews: Reviews, cells: Sequence[tuple[float, int]]
    ) -> dict[str, np.ndarray]:
        """All pairs of rate and seed as lanes of one program, then each network by itself."""

        def sentences(split: str, most: int | None, groups: int, least: int = 1) -> Sentences:
            rows, labels = reviews.chosen(split, longest=self.longest, most=most)
            least = min(least, len(rows))
            return Sentences.of(rows, labels, reviews.vectors, groups=groups, least=least)

        train = sentences("train", None, self.groups, least=self.batch)
        # Training accuracy is judged on as many sentences as there are in dev, always the same.
        dev = len(reviews.labels["dev"])
        judged = {split: sentences(split, dev, self.groups) for split in SPLITS}
        watched = {split: sentences(split, self.watched, min(2, self.groups)) for split in SPLITS}
        inputs, key = reviews.vectors.shape[1], jax.random.key(_STARTS)
        starts = [
            StackedLSTM.random(self.width, inputs=inputs, key=jax.random.fold_in(key, seed))
            for _, seed in cells
        ]
        seeds = [jnp.int32(seed) for _, seed in cells]
        steps = max(1, round(self.epochs * sum(train.counts) / self.batch))
        points = np.unique(np.linspace(0, steps, self.points + 1).round().astype(int))
        # As in the public code: the training curves are with dropout, the validation curves not.
        watch = {"train": _watch(watched["train"], self.dropout), "dev": _watch(watched["dev"])}
        result = descend(
            Lanes.stack([Seeded(*each) for each in zip(starts, seeds, strict=True)]),
            SentenceBatches(train, self.batch, self.dropout),
            optax.adam(1.0),
            stop=Stop(steps),
            record=Record(points.tolist(), watch),
            key=Lanes(jnp.stack([jax.random.key(_BATCHES)] * len(cells))),
            rate=[rate / self.width for rate, _ in cells],
            title=f"{len(cells)} LSTMs",
        )
        # Fewer steps than points: the curve stands still at its end.
        places = np.minimum(np.arange(self.points + 1), len(points) - 1)
        rows: list[dict[str, ArrayLike]] = []
        for lane, (start, (_, seed)) in enumerate(zip(starts, cells, strict=True)):
            curves = np.stack([result.records[split][lane][places] for split in SPLITS])
            final = result.model[lane].model
            found = spectra_and_truncations(start, final, judged, self.ranks, seed)
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
        case = "with their capitals" if self.words == "cased" else "in lower case"
        return (
            f"N = {self.width}, {self.epochs:g} epochs of Adam, batches of {self.batch}, dropout "
            f"{self.dropout:g}; {self.counts(runs).sum().item()} of {self.counts(runs).size} "
            "networks learned: lines are medians, bands ranges. SST-2 in the treebank's own tokens "
            f"(the paper: spaCy's), {case}; GloVe's 100 numbers a word kept fixed, words that it "
            f"lacks N(0, {self.unknown:g}²); batches drawn from sentences of similar length."
            f"{shorter}"
        )


@functools.lru_cache(maxsize=4)
def _trained(
    setting: SentimentExperiment, cells: tuple[tuple[float, int], ...]
) -> Mapping[str, np.ndarray]:
    """The networks on SST-2; two figures in one process train them once."""
    reviews = Reviews.read(cased=setting.words == "cased", spread=setting.unknown)
    return setting.networks(reviews, cells)


def _watch(sentences: Sentences, dropout: float = 0.0) -> Callable[[Seeded], jax.Array]:
    def watch(seeded: Seeded) -> jax.Array:
        key = jax.random.fold_in(jax.random.key(_WATCHED), seeded.seed)
        return jnp.stack(sentences.loss_and_accuracy(seeded.model, dropout=dropout, key=key))

    return watch
