"""A record of one system, cut into windows to train on and longer sequences to test on."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tacit._doors import door, instance, real, whole

_KEPT = 4  # one part in so many is for tests


class CutRecord(NamedTuple):
    """Windows, test sequences and what was trained on, standardised by the latter.

    - `inputs`, `outputs`: (windows, window, inputs) and (windows, window).
    - `test_inputs`, `test_outputs`: (tests, horizon, inputs) and (tests, horizon).
    - `pieces`: the stretches of the record before and after that for tests, inputs and outputs of
      each; one of them may be empty.
    """

    inputs: Float[np.ndarray, "windows window inputs"]
    outputs: Float[np.ndarray, "windows window"]
    test_inputs: Float[np.ndarray, "tests horizon inputs"]
    test_outputs: Float[np.ndarray, "tests horizon"]
    pieces: tuple[tuple[np.ndarray, np.ndarray], ...]


@door(
    inputs=real(2, most=1e100),
    outputs=real(1, most=1e100),
    window=whole(1),
    windows=whole(1, 1_000_000),
    horizon=whole(1),
    tests=whole(1, 1_000_000),
    rng=instance(np.random.Generator),
)
def cut_record(
    inputs: ArrayLike,
    outputs: ArrayLike,
    *,
    window: int,
    windows: int,
    horizon: int,
    tests: int,
    rng: np.random.Generator,
) -> CutRecord:
    """A quarter of the record, at a place drawn by `rng`, for tests; windows from the rest.

    Inputs are (time, inputs), outputs (time,). The quarter is longer if `horizon` is. Test
    sequences begin evenly over it and may overlap; windows begin anywhere outside, at no place
    twice while there are enough. Everything is brought to mean zero and variance one by what is
    left for training.
    """
    u, y = np.asarray(inputs, np.float64), np.asarray(outputs, np.float64)
    time = len(u)
    if len(y) != time:
        raise ValueError(f"outputs: received {len(y)} samples, they must be {time}, as inputs are")
    kept = max(time // _KEPT, horizon)
    if time - kept < 2 * window:
        raise ValueError(
            f"horizon: received {horizon}, which leaves {max(time - kept, 0)} of {time} samples; "
            f"there must be {2 * window} for windows of {window}"
        )
    first = int(rng.integers(0, time - kept + 1))
    parts = [slice(0, first), slice(first + kept, time)]
    u, y = _standard(u, parts, "inputs"), _standard(y, parts, "outputs")
    places = np.concatenate([np.arange(p.start, p.stop - window + 1) for p in parts])
    drawn = rng.choice(places, windows, replace=len(places) < windows)
    begun = first + np.linspace(0, kept - horizon, tests).astype(int)
    return CutRecord(
        _cut(u, drawn, window),
        _cut(y, drawn, window),
        _cut(u, begun, horizon),
        _cut(y, begun, horizon),
        tuple((u[part], y[part]) for part in parts),
    )


def _standard(values: np.ndarray, parts: list[slice], name: str) -> np.ndarray:
    used = np.concatenate([values[part] for part in parts])
    size = used.std(axis=0)
    if not np.all(size > 0):
        raise ValueError(f"{name}: received a constant for training, they must vary")
    return (values - used.mean(axis=0)) / size


def _cut(values: np.ndarray, places: np.ndarray, length: int) -> np.ndarray:
    return values[places[:, None] + np.arange(length)]
