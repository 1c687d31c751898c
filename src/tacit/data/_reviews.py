"""From sentences to rows of a table of word vectors."""

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tacit._doors import door, instance, number, text
from tacit.data._glove import WordVectors, word_vectors
from tacit.data._sst2 import LabelledSentences, sst2

_BRACKETS = {"-lrb-": "(", "-rrb-": ")"}


class Reviews(NamedTuple):
    """Labelled sentences by split, as rows of a table of vectors."""

    words: Mapping[str, Sequence[np.ndarray]]
    labels: Mapping[str, np.ndarray]
    vectors: np.ndarray  # the first row, zero, is for words that are not in the training sentences

    @classmethod
    def read(cls, *, cased: bool, spread: float) -> "Reviews":
        """SST-2 with GloVe's vectors; those of words that GloVe lacks are N(0, `spread`²)."""
        return cls.of(sst2(cased=cased), word_vectors(), spread=spread)

    @classmethod
    @door(texts=instance(Mapping), table=instance(WordVectors), spread=number(0))
    def of(
        cls, texts: Mapping[str, LabelledSentences], table: WordVectors, *, spread: float
    ) -> "Reviews":
        """The vocabulary is that of the split `train`, as torchtext makes it.

        A training word that is not in the table has a vector of its own, the same in every call.
        """
        known = {word: place for place, word in enumerate(table.words)}
        cut = {
            split: [tokens(sentence, known) for sentence in text.sentences]
            for split, text in texts.items()
        }
        words = dict.fromkeys(word for sentence in cut["train"] for word in sentence)
        rows = {word: row for row, word in enumerate(words, start=1)}
        vectors = np.random.default_rng(0).normal(
            0.0, spread, (len(rows) + 1, table.vectors.shape[1])
        )
        vectors[0] = 0.0
        for word, row in rows.items():
            if word in known:
                vectors[row] = table.vectors[known[word]]
        return cls(
            {
                split: [np.array([rows.get(word, 0) for word in each], np.int32) for each in part]
                for split, part in cut.items()
            },
            {split: text.labels for split, text in texts.items()},
            vectors.astype(np.float32),
        )

    def chosen(
        self, split: str, *, longest: int, most: int | None = None
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """Sentences of `longest` words at most, with labels; of more than `most` a fixed draw."""
        rows = np.array([n for n, row in enumerate(self.words[split]) if len(row) <= longest], int)
        if most is not None and most < rows.size:
            rows = np.random.default_rng(0).permutation(rows)[:most]
        return [self.words[split][row] for row in rows.tolist()], self.labels[split][rows]


@door(sentence=text, known=instance(Container))
def tokens(sentence: str, known: Container[str]) -> list[str]:
    """The words of a sentence whose tokens are separated by spaces.

    The treebank's names of brackets become brackets. A word with hyphens that is not `known` is cut
    at them, the hyphens being tokens too, if that gives a known word.
    """
    found: list[str] = []
    for word in sentence.split():
        word = _BRACKETS.get(word.lower(), word)
        parts = [part for part in word.replace("-", " - ").split() if part]
        cut = word not in known and any(part in known for part in parts if part != "-")
        found += parts if cut else [word]
    return found
