"""What the tests of checkpoints share: a pair of small checkpoints, and files made by hand."""

import json
import struct

import numpy as np
import pytest

from tacit.checkpoints import save_checkpoint


def low_rank(rng, rows, columns, rank, noise=0.01):
    """A change of a rank with a little noise, in float32."""
    change = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns))
    return (change + noise * rng.normal(size=(rows, columns))).astype(np.float32)


@pytest.fixture
def tensors():
    """Weights before and after: two matrices, a kernel, a vector, whole numbers."""
    rng = np.random.default_rng(0)
    before = {
        "up.weight": rng.normal(size=(60, 40)).astype(np.float32),
        "rnn.weight_hh_l0": rng.normal(size=(64, 16)).astype(np.float32),
        "conv.weight": rng.normal(size=(12, 8, 3, 3)).astype(np.float32),
        "up.bias": np.zeros(60, np.float32),
        "steps": np.arange(3),
    }
    after = {
        "up.weight": before["up.weight"] + low_rank(rng, 60, 40, 3),
        "rnn.weight_hh_l0": before["rnn.weight_hh_l0"] + low_rank(rng, 64, 16, 2),
        "conv.weight": before["conv.weight"] + low_rank(rng, 12, 72, 1).reshape(12, 8, 3, 3),
        "up.bias": rng.normal(size=60).astype(np.float32),
        "steps": np.arange(3),
    }
    return before, after


@pytest.fixture
def pair(tensors, tmp_path):
    """The same as two files."""
    paths = tmp_path / "before.safetensors", tmp_path / "after.safetensors"
    for path, arrays in zip(paths, tensors, strict=True):
        save_checkpoint(path, arrays)
    return paths


@pytest.fixture(scope="session")
def raw_file():
    """A file of bytes as a header that may lie: its text or object, and what follows."""

    def made(path, header, data=b"", length=None):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        size = len(text) if length is None else length
        path.write_bytes(struct.pack("<Q", size) + text + data)
        return path

    return made
