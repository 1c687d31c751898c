"""Recorded calls of what reads, inspects and compresses checkpoints."""

import tempfile
from pathlib import Path

import numpy as np
from recorded import Fresh, call

from tacit.checkpoints import NormTolerance, UniformRank, compress, save_checkpoint

_BEFORE = {"w": np.eye(6, 5, dtype=np.float32), "b": np.zeros(3, np.float32)}
_AFTER = {"w": np.eye(6, 5, dtype=np.float32) + 1, "b": np.ones(3, np.float32)}
_PATHS = {"before": "as:x", "after": "as:x"}  # a path is named as it is: "x is not there"
_CHANGE = np.outer(np.arange(1.0, 7.0), np.ones(5)) + np.eye(6, 5)


def _output() -> Path:
    return Path(tempfile.mkdtemp()) / "out.safetensors"


def _compressed() -> Path:
    path = _output()
    compress(_BEFORE, _AFTER, path, UniformRank(1))
    return path


def _run() -> Path:
    folder = Path(tempfile.mkdtemp())
    for step, arrays in enumerate((_BEFORE, _AFTER)):
        save_checkpoint(folder / f"step-{step}.safetensors", arrays)
    return folder


def _loss(path: Path) -> float:
    return 1.0


CALLS = {
    "checkpoints.delta": call("", _PATHS, "", before=_BEFORE, after=_AFTER),
    "checkpoints.inspect": call(
        "", _PATHS, "", before=_BEFORE, after=_AFTER, gates=1, leading=8, max_drop=0.1
    ),
    "checkpoints.inspect_run": call(folder=Fresh(_run), gates=1, leading=8),
    "checkpoints.compress": call(
        "",
        _PATHS,
        "",
        before=_BEFORE,
        after=_AFTER,
        output=Fresh(_output),
        budget=NormTolerance(0.5),
        max_drop=0.1,
        force=True,
    ),
    "checkpoints.restore": call(
        "",
        {"before": "as:x"},
        "",
        compressed=Fresh(_compressed),
        output=Fresh(_output),
        before=_BEFORE,
        force=True,
    ),
    "checkpoints.open_checkpoint": call("", {"source": "as:x"}, "", source=_BEFORE),
    "checkpoints.save_checkpoint": call(file=Fresh(_output), arrays=_BEFORE, force=True),
    "checkpoints.spectrum": call(change=_CHANGE, count=4),
    "checkpoints.UniformRank": call(rank=2),
    "checkpoints.NormTolerance": call(tolerance=0.1),
    "checkpoints.MeasuredLoss": call(
        "",
        {"evaluate": "text returns-text returns-nan"},
        "",
        evaluate=_loss,
        max_drop=0.1,
        most_evaluations=9,
    ),
    "checkpoints.NormalStart": call(seed=1, scale=0.5),
    "checkpoints.UniformStart": call(seed=1, scale=0.5),
    "checkpoints.OrthogonalStart": call(seed=1, scale=0.5),
    "checkpoints.ModelStart": call(model="LSTM", seed=1, fold=(2,), arguments={"width": 3}),
}
RECORDS = {
    "checkpoints.AbstractBudget": "abstract",
    "checkpoints.AbstractStart": "abstract",
    "checkpoints.Checkpoint": "abstract; open_checkpoint makes them",
    "checkpoints.Choice": "what a budget chose",
    "checkpoints.Compressed": "what compress returns",
    "checkpoints.Delta": "what delta returns",
    "checkpoints.Edge": "what Spectrum.edge returns",
    "checkpoints.FunctionalRank": "what inspect returns a part of",
    "checkpoints.Inspection": "what inspect returns",
    "checkpoints.Restored": "what restore returns",
    "checkpoints.Spectrum": "what spectrum returns",
    "checkpoints.Stored": "what a compressed file says of a tensor",
    "checkpoints.TensorChange": "what inspect says of a tensor",
    "checkpoints.TrainingRun": "what inspect_run returns",
}
