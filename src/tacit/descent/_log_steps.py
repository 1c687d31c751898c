"""Steps to record at when a figure shows them on a logarithmic axis."""

import numpy as np

from tacit._doors import door, whole


@door(last=whole(1), count=whole(2))
def log_spaced_steps(last: int, *, count: int = 40) -> np.ndarray:
    """Step 0, then about `count` steps from 1 to `last`, evenly on a logarithmic axis."""
    if last < 1:
        raise ValueError(f"last: received {last!r}, it must be at least 1")
    if count < 2:
        raise ValueError(f"count: received {count!r}, it must be at least 2")
    steps = np.geomspace(1, last, count).round()
    return np.unique(np.concatenate([[0], steps])).astype(np.int64)
