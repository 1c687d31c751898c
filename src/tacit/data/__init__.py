"""Data sets by canonical address and checksum, or from a local copy (`TACIT_DATA`)."""

from tacit.data._glove import (
    GLOVE,
    GLOVE_SST,
    WordVectors,
    read_glove,
    word_vectors,
    word_vectors_missing,
)
from tacit.data._motor_cortex import M1_FLINT, Recording, motor_cortex
from tacit.data._source import DataMissingError, Source
from tacit.data._sst2 import SST2, LabelledSentences, read_labelled, sst2
from tacit.data._tokens import encoded, tokens

__all__ = [
    "GLOVE",
    "GLOVE_SST",
    "M1_FLINT",
    "SST2",
    "DataMissingError",
    "LabelledSentences",
    "Recording",
    "Source",
    "WordVectors",
    "encoded",
    "motor_cortex",
    "read_glove",
    "read_labelled",
    "sst2",
    "tokens",
    "word_vectors",
    "word_vectors_missing",
]
