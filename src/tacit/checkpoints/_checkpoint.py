"""A checkpoint: named tensors that are read by slices, wherever they come from."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, final

import numpy as np

from tacit._errors import UsageError, shown
from tacit._files import FileKindError, parsed_json, read_regular
from tacit._tensors import Spec, TensorFile, name_of
from tacit.checkpoints._files import CheckpointError, tensor_file
from tacit.checkpoints._torch_file import torch_tensors

_MOST_INDEX = 16 << 20  # bytes of a *.safetensors.index.json
_MOST_SHARDS = 10_000
INDEX = ".safetensors.index.json"
_TORCH = (".pt", ".pth", ".bin")


class Checkpoint(ABC):
    """Named tensors, each read by slices. A context that closes its files at the end.

    `specs` has dtype and shape of each tensor; `paths` the files behind it.
    """

    specs: Mapping[str, Spec]
    paths: tuple[Path, ...] = ()
    name: str = "these arrays"

    @abstractmethod
    def numbers(self, name: str, start: int, stop: int) -> np.ndarray:
        """The numbers `start` … `stop` of a tensor in C order, in its own dtype."""

    def close(self) -> None:  # noqa: B027  # arrays have nothing to close
        """Close the files."""

    def tensor(self, name: str) -> np.ndarray:
        """A whole tensor, in its own dtype."""
        spec = self.specs[name]
        return self.numbers(name, 0, spec.size).reshape(spec.shape)

    def __enter__(self) -> "Checkpoint":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@final
class FileCheckpoint(Checkpoint):
    """One or several safetensors files; no name may be in two of them."""

    def __init__(self, files: Mapping[str, TensorFile], paths: Iterable[Path], name: str) -> None:
        self.name, self.paths = name, tuple(paths)
        self._of = dict(files)
        self.specs = {key: file.specs[key] for key, file in files.items()}

    def numbers(self, name: str, start: int, stop: int) -> np.ndarray:
        """As every checkpoint has them."""
        return self._of[name].numbers(name, start, stop)

    def close(self) -> None:
        """Close the files."""
        for file in set(self._of.values()):
            file.close()


@final
class ArrayCheckpoint(Checkpoint):
    """Arrays by name, in memory."""

    def __init__(self, arrays: Mapping[str, Any], name: str = "these arrays") -> None:
        self.name = name
        self._arrays = {}
        for key, value in arrays.items():
            array = np.asarray(value)
            if not isinstance(key, str) or not key:
                raise UsageError(f"{name}: received the name {shown(key)}, it must be a text")
            if name_of(array.dtype) is None:
                raise UsageError(
                    f"{name}[{key!r}]: received the dtype {array.dtype}, it must be one that "
                    "safetensors files have, such as float32"
                )
            self._arrays[key] = array.astype(array.dtype.newbyteorder("="), copy=False)
        self.specs = {key: Spec(a.dtype, a.shape) for key, a in self._arrays.items()}

    def numbers(self, name: str, start: int, stop: int) -> np.ndarray:
        """As every checkpoint has them."""
        return self._arrays[name].reshape(-1)[start:stop]


def opened(source: Any, name: str = "checkpoint") -> Checkpoint:
    """A checkpoint from a path or from arrays by name.

    A path is a `.safetensors` file, the index of a sharded one (`*.safetensors.index.json`), a
    folder that has one of either, or a PyTorch file (`.pt`, `.pth`, `.bin`; it needs the extra
    `torch`, and is read with `weights_only`).
    """
    if isinstance(source, Checkpoint):
        return source
    if isinstance(source, Mapping):
        return ArrayCheckpoint(source, name)
    if not isinstance(source, str | os.PathLike) or not str(source) or "\0" in str(source):
        raise UsageError(f"{name}: received {shown(source)}, it must be a path or arrays by name")
    path = Path(source)
    if path.is_dir():
        path = _within(path)
    if path.name.endswith(INDEX):
        return _sharded(path)
    if path.suffix in _TORCH:
        return ArrayCheckpoint(torch_tensors(path), str(path))
    file = tensor_file(path)
    return FileCheckpoint(dict.fromkeys(file.specs, file), [path], str(path))


def checkpoint_in(folder: Path) -> Path | None:
    """The index or the one safetensors file of a folder; None if there is not exactly one."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except OSError as error:
        raise CheckpointError(f"{folder} cannot be read: {error.strerror}") from None
    indices = [name for name in names if name.endswith(INDEX)]
    files = [name for name in names if name.endswith(".safetensors")]
    found = indices or files
    return folder / found[0] if len(found) == 1 else None


def _within(folder: Path) -> Path:
    found = checkpoint_in(folder)
    if found is None:
        raise CheckpointError(
            f"{folder} is a folder without exactly one index or safetensors file: name the file"
        )
    return found


def _sharded(path: Path) -> Checkpoint:
    """The files that an index names, which lie beside it."""
    try:
        # A link is followed for its text alone, as the cache of huggingface_hub has them: the
        # files lie beside the link.
        said = parsed_json(read_regular(Path(os.path.realpath(path)), most=_MOST_INDEX))
        shards = said["weight_map"]
        if not isinstance(shards, dict) or not shards:
            raise ValueError("weight_map is empty")
        for shard in shards.values():
            plain = isinstance(shard, str) and Path(shard).name == shard and shard.isprintable()
            if not plain or len(shard) > 255:
                raise ValueError(f"it names the file {shown(shard)}, which is not beside it")
    except FileNotFoundError:
        raise CheckpointError(f"{path} is not there") from None
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from None
    except (KeyError, TypeError):
        raise CheckpointError(f"{path} cannot be read: it has no weight_map") from None
    except (ValueError, FileKindError) as error:
        raise CheckpointError(f"{path} cannot be read: {str(error)[:200]}") from None
    names = sorted(set(shards.values()))
    if len(names) > _MOST_SHARDS:
        raise CheckpointError(f"{path} cannot be read: it names {len(names):,} files")
    files: dict[str, TensorFile] = {}
    try:
        for shard in names:
            files[shard] = tensor_file(path.parent / shard)
        for key, shard in shards.items():
            if key not in files[shard].specs:
                raise CheckpointError(f"{path}: {shard} has no tensor {shown(key)}")
        extra = [key for name in names for key in files[name].specs if shards.get(key) != name]
        if extra:
            raise CheckpointError(f"{path}: tensor {shown(extra[0])} is not in the index")
    except BaseException:
        for file in files.values():
            file.close()
        raise
    parts = [path.parent / shard for shard in names]
    return FileCheckpoint({key: files[shard] for key, shard in shards.items()}, parts, str(path))
