"""Checkpoints of one's own: how low-rank a change was, and how small it can be stored.

```python
tacit.checkpoints.inspect("before.safetensors", "after.safetensors")
tacit.checkpoints.compress(before, after, "small.safetensors", NormTolerance(0.1))
tacit.checkpoints.restore("small.safetensors", "restored.safetensors", before)
```
"""

from tacit._signatures import with_readable_signatures
from tacit.checkpoints._budget import (
    AbstractBudget,
    Choice,
    MeasuredLoss,
    NormTolerance,
    UniformRank,
)
from tacit.checkpoints._checkpoint import Checkpoint
from tacit.checkpoints._compression import Compressed, compress
from tacit.checkpoints._delta import Delta, delta
from tacit.checkpoints._files import CheckpointError
from tacit.checkpoints._functional_rank import FunctionalRank
from tacit.checkpoints._inspection import Inspection, TensorChange, inspect
from tacit.checkpoints._manifest import Stored
from tacit.checkpoints._noise_edge import Edge
from tacit.checkpoints._restoration import Restored, restore
from tacit.checkpoints._save import open_checkpoint, save_checkpoint
from tacit.checkpoints._spectrum import Spectrum, spectrum
from tacit.checkpoints._starts import (
    AbstractStart,
    ModelStart,
    NormalStart,
    OrthogonalStart,
    UniformStart,
)
from tacit.checkpoints._training_run import TrainingRun, inspect_run

__all__ = [
    "AbstractBudget",
    "AbstractStart",
    "Checkpoint",
    "CheckpointError",
    "Choice",
    "Compressed",
    "Delta",
    "Edge",
    "FunctionalRank",
    "Inspection",
    "MeasuredLoss",
    "ModelStart",
    "NormTolerance",
    "NormalStart",
    "OrthogonalStart",
    "Restored",
    "Spectrum",
    "Stored",
    "TensorChange",
    "TrainingRun",
    "UniformRank",
    "UniformStart",
    "compress",
    "delta",
    "inspect",
    "inspect_run",
    "open_checkpoint",
    "restore",
    "save_checkpoint",
    "spectrum",
]

with_readable_signatures(globals(), __all__)
