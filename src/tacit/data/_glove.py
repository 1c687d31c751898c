"""Word vectors that were learned from six billion words: GloVe."""

import io
import os
import zipfile
from collections.abc import Container, Iterable
from typing import NamedTuple

import numpy as np

from tacit._doors import door, each, instance, path, text
from tacit.data._source import DataMissingError, Source

_CREDIT = "Pennington, Socher and Manning, EMNLP 2014 (https://nlp.stanford.edu/projects/glove)"

GLOVE = Source(
    name="glove6B",
    files={"glove.6B.zip": "617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb"},
    address="https://nlp.stanford.edu/data",
    credit=_CREDIT,
)
"""The whole archive, 822 MB."""

GLOVE_SST = Source(
    name="glove6B_100d_sst",
    files={"vectors.npz": "9c7e5f16fb785ecdc570dd7f907081fecb99a67a3e26512b8cdb17c23a5cbffe"},
    address=f"{GLOVE.address}/glove.6B.zip",
    credit=_CREDIT,
)
"""Its 100 numbers a word for the words of SST-2, 6 MB: 98.4% of the tokens are covered."""


class WordVectors(NamedTuple):
    """A vector for each word, (words, dimensions), float32."""

    words: tuple[str, ...]
    vectors: np.ndarray


@door(path=path, words=each(text, least=0))
def word_vectors(
    path: str | os.PathLike[str] | None = None, *, words: Iterable[str] | None = None
) -> WordVectors:
    """GloVe's vectors of 100 numbers, for the `words` that it knows, or for all words.

    From `path` (a folder with `vectors.npz` or with `glove.6B.zip`), or from `TACIT_DATA`: its
    folder `glove6B_100d_sst`, else `glove6B`.
    """
    wanted = None if words is None else set(words)
    if GLOVE_SST.missing(path) is None:
        with np.load(GLOVE_SST.folder(path) / "vectors.npz", allow_pickle=False) as stored:
            names, vectors = stored["words"].tolist(), stored["vectors"]
        rows = [row for row, name in enumerate(names) if wanted is None or name in wanted]
        return WordVectors(tuple(names[row] for row in rows), vectors[rows])
    sentence = word_vectors_missing(path)
    if sentence is not None:
        raise DataMissingError(sentence)
    with (
        zipfile.ZipFile(GLOVE.folder(path) / "glove.6B.zip") as archive,
        archive.open("glove.6B.100d.txt") as content,
    ):
        return read_glove(io.TextIOWrapper(content, encoding="utf-8", newline="\n"), wanted)


@door(path=path)
def word_vectors_missing(path: str | os.PathLike[str] | None = None) -> str | None:
    """Why `word_vectors` has nothing to read, in a sentence; None if it has."""
    sentence = GLOVE_SST.missing(path)
    return sentence if sentence is None or GLOVE.missing(path) is not None else None


@door(lines=each(text), wanted=instance(Container))
def read_glove(lines: Iterable[str], wanted: set[str] | None = None) -> WordVectors:
    """Vectors in GloVe's own form: a word and its numbers in each line, separated by spaces."""
    names: list[str] = []
    rows: list[np.ndarray] = []
    for number, line in enumerate(lines, start=1):
        name, *numbers = line.rstrip("\n").split(" ")
        if wanted is not None and name not in wanted:
            continue
        try:
            row = np.array(numbers, np.float32)
        except ValueError as error:
            raise DataMissingError(f"line {number} of the word vectors: {error}") from error
        if not row.size or (rows and row.size != rows[0].size):
            size = rows[0].size if rows else "some"
            raise DataMissingError(
                f"line {number} of the word vectors has {row.size} numbers, expected are {size}"
            )
        names.append(name)
        rows.append(row)
    if not rows:
        raise DataMissingError("the word vectors hold none of the words that were asked for")
    return WordVectors(tuple(names), np.stack(rows))
