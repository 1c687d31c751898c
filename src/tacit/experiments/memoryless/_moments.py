"""The steps of a descent that a figure of its course looks at."""

import numpy as np


def recorded_steps(steps: int, *, count: int = 40) -> np.ndarray:
    """Step 0 and about `count` more up to the last, evenly on a logarithmic axis."""
    return np.unique(np.concatenate([[0], np.geomspace(1, steps, count).round()])).astype(np.int64)
