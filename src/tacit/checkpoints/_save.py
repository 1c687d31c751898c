"""Arrays by name as a safetensors file, and back."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit._doors import door, flag, instance, path
from tacit._tensors import write_tensors
from tacit.checkpoints._checkpoint import ArrayCheckpoint, Checkpoint, opened
from tacit.checkpoints._files import check_output


@door(answer="any", file=path, arrays=instance(Mapping), force=flag)
def save_checkpoint(
    file: str | os.PathLike[str], arrays: Mapping[str, Any], *, force: bool = False
) -> int:
    """Write arrays by name (NumPy's or JAX's) as a safetensors file; how many bytes it has.

    The file is there whole, or not at all. One that is there already is kept, unless `force`.
    """
    place = Path(file)
    source = ArrayCheckpoint(arrays, "arrays")
    check_output(place, inputs=(), force=force, name="file")
    return write_tensors(place, source.specs, lambda name: [source.tensor(name)])


@door(answer="any")
def open_checkpoint(source: Any) -> Checkpoint:
    """A checkpoint for reading, as `inspect` takes them: a context that closes its files.

    `.specs` has dtype and shape of each tensor, `.tensor(name)` is one tensor.
    """
    return opened(source, "source")
