"""From a grid to batches of same-shaped cells, through an executor, into a store."""

from tacit._signatures import with_readable_signatures
from tacit.sweep._dask import DaskWorkers, dask_workers
from tacit.sweep._errors import WorkerDiedError, WorkersError, WorkersLostError
from tacit.sweep._grid import Batch, Grid
from tacit.sweep._processes import ProcessWorkers, core_count
from tacit.sweep._record import Failure, Progress, SweepEvent, SweepSummary
from tacit.sweep._run import run_sweep
from tacit.sweep._task import Cell

__all__ = [
    "Batch",
    "Cell",
    "DaskWorkers",
    "Failure",
    "Grid",
    "ProcessWorkers",
    "Progress",
    "SweepEvent",
    "SweepSummary",
    "WorkerDiedError",
    "WorkersError",
    "WorkersLostError",
    "core_count",
    "dask_workers",
    "run_sweep",
]

with_readable_signatures(globals(), __all__)
