"""PyTorch's files, read by PyTorch with `weights_only`: no code in them is run."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tacit._tensors import NAMES
from tacit.checkpoints._files import CheckpointError

_OLDEST = (2, 6)  # before it, a file could run code in spite of weights_only
_INNER = ("state_dict", "model_state_dict", "model")  # where training scripts put the weights


def torch_tensors(path: Path) -> dict[str, np.ndarray]:
    """The tensors of a state dict, mapped from the file where that can be."""
    try:
        import torch
    except ImportError:
        raise CheckpointError(
            f"{path} is a file of PyTorch's, which is not installed: pip install torch, "
            "or save the weights as safetensors"
        ) from None
    version = tuple(int(number) for number in re.findall(r"\d+", torch.__version__)[:2])
    if version < _OLDEST:
        raise CheckpointError(
            f"{path} is not read by PyTorch {torch.__version__}, whose weights_only cannot be "
            "relied on: install 2.6 or newer, or save the weights as safetensors"
        )
    if not path.is_file():
        raise CheckpointError(f"{path} is not there")
    try:
        try:
            found = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        except RuntimeError:  # the older form of the file cannot be mapped
            found = torch.load(path, map_location="cpu", weights_only=True)
    except MemoryError:
        raise
    except Exception as error:  # whatever PyTorch says of a damaged or hostile file
        words = str(error).strip().partition("\n")[0].partition(". ")[0][:120]
        words = words or type(error).__name__
        raise CheckpointError(
            f"{path} cannot be read with weights_only: {words}; nothing in it was run: save the "
            "weights as safetensors"
        ) from None
    return _arrays(_state(found, path), path, torch)


def _state(found: Any, path: Path) -> Mapping[str, Any]:
    for name in _INNER:
        if isinstance(found, Mapping) and isinstance(found.get(name), Mapping):
            found = found[name]
    if not isinstance(found, Mapping):
        raise CheckpointError(f"{path} holds a {type(found).__name__}, not tensors by name")
    return found


def _arrays(state: Mapping[str, Any], path: Path, torch: Any) -> dict[str, np.ndarray]:
    arrays = {}
    for name, value in state.items():
        if not isinstance(name, str) or not isinstance(value, torch.Tensor):
            continue  # steps, rates and the like
        tensor = value.detach()
        if tensor.is_sparse or tensor.is_quantized or tensor.is_complex():
            raise CheckpointError(f"{path}: tensor {name!r} is not a plain one of real numbers")
        tensor = tensor.contiguous()
        if tensor.dtype == torch.bfloat16:
            arrays[name] = tensor.view(torch.int16).numpy().view(NAMES["BF16"])
        else:
            try:
                arrays[name] = tensor.numpy()
            except TypeError as error:
                raise CheckpointError(f"{path}: tensor {name!r}: {error}") from None
    if not arrays:
        raise CheckpointError(f"{path} holds no tensors by name")
    return arrays
