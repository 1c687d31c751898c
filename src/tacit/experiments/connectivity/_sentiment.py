"""What connectivity/fig5 and connectivity/figs6 share: parameters, stored quantities, the cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._parameter import parameter
from tacit.store import KEPT, MATRIX, RANK, SEED, SINGULAR_VALUE, SPLIT, STEP, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

MATRICES = {
    "input 1": "input weights, layer 1",
    "recurrent 1": "recurrent weights, layer 1",
    "input 2": "input weights, layer 2",
    "recurrent 2": "recurrent weights, layer 2",
}
TRUNCATED = ("recurrent 1", "input 2", "recurrent 2")
"""The matrices that are truncated together: all of shape 4N × N."""
SPLITS = ("train", "dev")
TRUNCATIONS = {"change": "W₀ kept, ΔW truncated", "whole": "W truncated"}
_RANKS = (*range(11), 12, 14, 16, 20, 24, 28, *range(32, 65, 8), *range(80, 4097, 16))
INPUTS = 100
"""Numbers in GloVe's vector of a word."""
LEARNED = 0.75
"""Of the initial loss: what the training loss must have fallen to."""
NOTE = (
    "SST-2 in the treebank's own tokens (the paper: spaCy's), GloVe's 100 numbers a word kept "
    "fixed, unknown words zero; batches drawn at random from sentences of similar length."
)


LONG = 100.0  # epochs; from there on the networks know the training sentences by heart

MEMORISED = (
    "the networks memorise: by epoch 500 training accuracy is 1.000, while validation loss was "
    "least before epoch 60 and has grown threefold since. What is learned by heart takes many "
    "directions: at rank 10 training accuracy is 0.77 and validation accuracy 0.68 of 0.79, and "
    "the largest ten singular values of the first layer's input change carry 0.48. Stopped early, "
    "the same networks need less: a median rank of 3 [2, 4] after 10 epochs (accuracy 0.768), of "
    "10.5 [7, 24] after 40 (0.800, as good as it gets), against 56 [32, 80] after 500 (0.795)"
)


def surprise(config: "SentimentConfig") -> dict[str, Any]:
    """What is expected of a claim that long training overturns."""
    return {"expected": "fails", "because": MEMORISED} if config.epochs >= LONG else {}


@dataclass(frozen=True, kw_only=True)
class SentimentConfig(Config):
    """Parameters of connectivity/fig5 and figs6; the defaults are the paper's."""

    seed: tuple[int, ...] = parameter(
        tuple(range(10)), "seed of the network, of its batches and dropout", low=0, swept=True
    )
    width: int = parameter(256, "number N of units in each of the two layers", low=2, high=2048)
    epochs: float = parameter(
        500.0, "passes through as many sentences as there are", low=0.01, high=1e5
    )
    rate: float = parameter(0.01, "Adam's learning rate, times N", low=1e-6, high=100.0)
    batch: int = parameter(64, "sentences a step", low=1, high=4096)
    dropout: float = parameter(0.5, "probability that a state is dropped", low=0.0, high=0.95)
    longest: int = parameter(100, "longer sentences are left out", low=1, high=1000, units="words")
    groups: int = parameter(4, "groups of similar length; each is compiled", low=1, high=16)
    watched: int = parameter(
        872, "sentences of each split that curves are measured on", low=1, high=10_000
    )
    points: int = parameter(50, "points of the curves after the start", low=1, high=1000)
    margin: float = parameter(
        0.01, "of accuracy: what may be lacking at a rank that is enough", low=0.0, analysis=True
    )

    @property
    def ranks(self) -> tuple[int, ...]:
        """Ranks that matrices are truncated at: all up to 10, then fewer, up to N."""
        return (*(rank for rank in _RANKS if rank < self.width), self.width)


class SentimentExperiment(Experiment):
    """Two-layer LSTMs that learn to tell liked films from disliked ones."""

    paper = "connectivity"
    version = 1
    Config = SentimentConfig

    def missing(self) -> str | None:
        """The sentences or the word vectors, where they are not at hand."""
        from tacit.data import SST2, word_vectors_missing

        return SST2.missing() or word_vectors_missing()

    def variables(self, config: SentimentConfig) -> dict[str, Variable]:
        """Curves, spectra of all matrices, and accuracies after truncation."""
        curve, spectrum = (SPLIT, STEP), (MATRIX, SINGULAR_VALUE)
        return {
            "outcome": OUTCOME,
            "epoch": Variable((STEP,), "1", "epochs"),
            "loss": Variable(curve, "1", "cross-entropy of the watched sentences, no dropout"),
            "accuracy": Variable(curve, "1", "share of the watched sentences told right"),
            "final_loss": Variable((SPLIT,), "1", "cross-entropy at the end, no dropout"),
            "final_accuracy": Variable((SPLIT,), "1", "share told right at the end"),
            "initial_singular": Variable(spectrum, "1", "singular values of W₀"),
            "final_singular": Variable(spectrum, "1", "singular values of W"),
            "change_singular": Variable(spectrum, "1", "singular values of ΔW"),
            "truncated_accuracy": Variable(
                (SPLIT, KEPT, RANK), "1", "share told right after truncation"
            ),
            "shuffled_accuracy": Variable((SPLIT,), "1", "share told right with W₀ shuffled"),
        }

    def coordinates(self, config: SentimentConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """Places along curves and spectra, names of splits and matrices."""
        return {
            STEP: np.arange(config.points + 1),
            SPLIT: SPLITS,
            MATRIX: tuple(MATRICES),
            SINGULAR_VALUE: np.arange(1, max(config.width, INPUTS) + 1),
            KEPT: tuple(TRUNCATIONS),
            RANK: config.ranks,
        }

    def cell(self, batch: Batch, config: SentimentConfig) -> Mapping[str, Any]:
        """Train all seeds together; look at their weights and truncate them."""
        from tacit.experiments.connectivity._sentiment_runs import stored_runs

        return stored_runs(tuple(int(seed) for seed in batch.column("seed")), config)


def learned(dataset: "xarray.Dataset") -> "xarray.Dataset":
    """The networks whose training loss fell far enough."""
    return dataset.isel({SEED: np.flatnonzero(dataset["outcome"].values == "converged")})


def sufficient_ranks(
    runs: "xarray.Dataset", kept: str, margin: float, *, split: str = "dev"
) -> np.ndarray:
    """For each network the rank from which on truncation costs `margin` of accuracy at most.

    At that rank and at all higher ones that were looked at: accuracy need not rise with the rank,
    and a lucky rank is not enough.
    """
    after = runs["truncated_accuracy"].sel({SPLIT: split, KEPT: kept}).transpose(SEED, RANK).values
    whole = runs["final_accuracy"].sel({SPLIT: split}).values
    enough = after >= whole[:, None] - margin - 1e-9
    from_here_on = np.flip(np.logical_and.accumulate(np.flip(enough, axis=1), axis=1), axis=1)
    ranks = runs[RANK].values.astype(float)
    return np.array([ranks[row].min() if row.any() else np.inf for row in from_here_on])


def leading(config: SentimentConfig) -> int:
    """How many singular values are few: ten, but no more than an eighth of all."""
    return max(1, min(10, config.width // 8))


def leading_share(runs: "xarray.Dataset", matrix: str, count: int) -> np.ndarray:
    """The share of ‖ΔW‖² that its `count` largest singular values carry, network by network."""
    values = runs["change_singular"].sel({MATRIX: matrix}).transpose(SEED, SINGULAR_VALUE).values
    squares = np.nan_to_num(values) ** 2
    return squares[:, :count].sum(axis=1) / squares.sum(axis=1)


def relative_change(runs: "xarray.Dataset", matrix: str) -> np.ndarray:
    """‖ΔW‖ / ‖W₀‖ in Frobenius' norm, network by network."""
    norms = [
        np.sqrt((runs[name].sel({MATRIX: matrix}).fillna(0) ** 2).sum(SINGULAR_VALUE))
        for name in ("change_singular", "initial_singular")
    ]
    return np.asarray(norms[0] / norms[1])
