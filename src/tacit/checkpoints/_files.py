"""Files of weights: how they are opened, and what is not written over."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from tacit._errors import UsageError
from tacit._files import FileKindError, refuse_link
from tacit._tensors import TensorFile


class CheckpointError(UsageError):
    """A file of weights that cannot be taken as it is: the message says which and why."""


def tensor_file(path: Path) -> TensorFile:
    """A file of weights, open for reading; links that a user has put there are followed."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except FileNotFoundError:
        raise CheckpointError(f"{path} is not there") from None
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise CheckpointError(f"{path} cannot be read: it is not a regular file")
    file = os.fdopen(handle, "rb", buffering=0)
    return TensorFile(file, lambda reason: CheckpointError(f"{path} cannot be read: {reason}"))


def check_output(path: Path, *, inputs: Iterable[Path], force: bool, name: str = "output") -> None:
    """Refuse an output that is a folder, a link, one of the inputs, or there already."""
    try:
        refuse_link(path)
    except FileKindError as error:
        raise UsageError(f"{name}: {error}") from None
    if path.is_dir():
        raise UsageError(f"{name}: {path} is a folder, give a file")
    if not path.exists():
        if path.parent.exists() and not path.parent.is_dir():
            raise UsageError(f"{name}: {path.parent} is a file, give a file in a folder")
        return
    for other in inputs:
        if other.exists() and path.samefile(other):
            raise UsageError(f"{name}: {path} is one of the inputs, give another file")
    if not force:
        raise UsageError(f"{name}: {path} is there already; give another name, or --force")
