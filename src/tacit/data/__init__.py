"""Data sets by canonical address and checksum: a local copy (`TACIT_DATA`), or fetched."""

from tacit._signatures import with_readable_signatures
from tacit.data._cifar import (
    CIFAR10,
    CIFAR10_ARCHIVE,
    CIFAR100,
    CIFAR100_ARCHIVE,
    LabelledImages,
    cifar,
    cifar_missing,
    read_cifar,
)
from tacit.data._daisy import DAISY, MeasuredSystem, daisy
from tacit.data._glove import (
    GLOVE,
    GLOVE_SST,
    WordVectors,
    read_glove,
    word_vectors,
    word_vectors_missing,
)
from tacit.data._image_sets import IMAGE_SETS, ImageSet, image_set, image_set_missing
from tacit.data._jester import JESTER, jester
from tacit.data._motor_cortex import M1_FLINT, motor_cortex
from tacit.data._recording import Recording, read_recording
from tacit.data._reviews import Reviews, tokens
from tacit.data._somatosensory_cortex import S1_CHOWDHURY, somatosensory_cortex
from tacit.data._source import DataMissingError, Source
from tacit.data._sst2 import SST2, SST2_CASED, LabelledSentences, read_labelled, sst2
from tacit.data._synthetic_images import synthetic_images
from tacit.data._synthetic_recording import synthetic_recording

SOURCES = {
    source.name: source
    for source in (
        M1_FLINT,
        S1_CHOWDHURY,
        SST2,
        SST2_CASED,
        GLOVE,
        GLOVE_SST,
        CIFAR10_ARCHIVE,
        CIFAR100_ARCHIVE,
        DAISY,
        JESTER,
    )
}
"""Every data set by its name, for `tacit data`."""

__all__ = [
    "CIFAR10",
    "CIFAR10_ARCHIVE",
    "CIFAR100",
    "CIFAR100_ARCHIVE",
    "DAISY",
    "GLOVE",
    "GLOVE_SST",
    "IMAGE_SETS",
    "JESTER",
    "M1_FLINT",
    "S1_CHOWDHURY",
    "SOURCES",
    "SST2",
    "SST2_CASED",
    "DataMissingError",
    "ImageSet",
    "LabelledImages",
    "LabelledSentences",
    "MeasuredSystem",
    "Recording",
    "Reviews",
    "Source",
    "WordVectors",
    "cifar",
    "cifar_missing",
    "daisy",
    "image_set",
    "image_set_missing",
    "jester",
    "motor_cortex",
    "read_cifar",
    "read_glove",
    "read_labelled",
    "read_recording",
    "somatosensory_cortex",
    "sst2",
    "synthetic_images",
    "synthetic_recording",
    "tokens",
    "word_vectors",
    "word_vectors_missing",
]

with_readable_signatures(globals(), __all__)
