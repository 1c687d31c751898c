"""From sentences to rows of a table of word vectors."""

from collections.abc import Iterable, Mapping

import numpy as np

_BRACKETS = {"-lrb-": "(", "-rrb-": ")"}


def tokens(sentence: str, known: Mapping[str, int]) -> list[str]:
    """The words of a sentence whose tokens are separated by spaces.

    The treebank's names of brackets become brackets. A word with hyphens that is not `known` is cut
    at them, the hyphens being tokens too, if that gives a known word.
    """
    found: list[str] = []
    for word in sentence.split():
        word = _BRACKETS.get(word, word)
        parts = [part for part in word.replace("-", " - ").split() if part]
        cut = word not in known and any(part in known for part in parts if part != "-")
        found += parts if cut else [word]
    return found


def encoded(sentences: Iterable[str], words: Iterable[str]) -> list[np.ndarray]:
    """Each sentence as numbers: 1 + the place of a word among `words`, 0 for an unknown one."""
    known = {word: place for place, word in enumerate(words, start=1)}
    return [
        np.array([known.get(token, 0) for token in tokens(sentence, known)], np.int32)
        for sentence in sentences
    ]
