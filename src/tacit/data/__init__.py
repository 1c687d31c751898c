"""Data sets by canonical address and checksum: a local copy (`TACIT_DATA`), or fetched."""

from tacit._signatures import with_readable_signatures
from tacit.data._glove import (
    GLOVE,
    GLOVE_SST,
    WordVectors,
    read_glove,
    word_vectors,
    word_vectors_missing,
)
from tacit.data._motor_cortex import M1_FLINT, motor_cortex
from tacit.data._recording import Recording, read_recording
from tacit.data._reviews import Reviews, tokens
from tacit.data._somatosensory_cortex import S1_CHOWDHURY, somatosensory_cortex
from tacit.data._source import DataMissingError, Source
from tacit.data._sst2 import SST2, SST2_CASED, LabelledSentences, read_labelled, sst2
from tacit.data._synthetic_recording import synthetic_recording

SOURCES = {
    source.name: source for source in (M1_FLINT, S1_CHOWDHURY, SST2, SST2_CASED, GLOVE, GLOVE_SST)
}
"""Every data set by its name, for `tacit data`."""

__all__ = [
    "GLOVE",
    "GLOVE_SST",
    "M1_FLINT",
    "S1_CHOWDHURY",
    "SOURCES",
    "SST2",
    "SST2_CASED",
    "DataMissingError",
    "LabelledSentences",
    "Recording",
    "Reviews",
    "Source",
    "WordVectors",
    "motor_cortex",
    "read_glove",
    "read_labelled",
    "read_recording",
    "somatosensory_cortex",
    "sst2",
    "synthetic_recording",
    "tokens",
    "word_vectors",
    "word_vectors_missing",
]

with_readable_signatures(globals(), __all__)
