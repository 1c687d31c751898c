"""From a grid to batches of same-shaped cells, through an executor, into a store."""

from tacit.sweep._grid import Batch, Grid
from tacit.sweep._run import Cell, Failure, Progress, SweepEvent, SweepSummary, run_sweep

__all__ = [
    "Batch",
    "Cell",
    "Failure",
    "Grid",
    "Progress",
    "SweepEvent",
    "SweepSummary",
    "run_sweep",
]
