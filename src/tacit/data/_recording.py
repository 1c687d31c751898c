"""A recording of neural activity with the hand's velocity: its form, and how a file holds one."""

import csv
import os
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tacit._doors import door, path
from tacit.data._source import DataMissingError

VELOCITY = ("vx", "vy")


class Recording(NamedTuple):
    """Neural activity (bins, channels) and velocity (bins, 2), in order of time."""

    activity: np.ndarray
    velocity: np.ndarray
    seconds: float  # of a bin


@door(path=path)
def read_recording(path: str | os.PathLike[str]) -> Recording:
    """A recording of one's own, from a file.

    - `.npz` with the arrays `activity` (bins, channels), `velocity` (bins, 2) and `seconds`, the
      length of a bin. Nothing in it may need pickle.
    - `.csv` with a line of names and then a line for each bin: `time` (seconds), `vx`, `vy`, and
      any other name for a channel. Bins must be equally long.

    Anything else is a `DataMissingError` of one sentence.
    """
    file = Path(path)
    readers = {".npz": _from_npz, ".csv": _from_csv}
    if file.suffix not in readers:
        raise DataMissingError(f"{file}: a recording is read from a file .npz or .csv")
    try:
        found = readers[file.suffix](file)
    except OSError as error:
        raise DataMissingError(f"{file} cannot be read: {error.strerror or error}") from error
    except (ValueError, csv.Error, zipfile.BadZipFile) as error:
        raise DataMissingError(f"{file} is not a recording: {error}") from error
    return _checked(file, found)


def _from_npz(file: Path) -> Recording:
    with np.load(file, allow_pickle=False) as stored:
        lacking = [name for name in Recording._fields if name not in stored]
        if lacking:
            raise ValueError(f"it lacks the array {lacking[0]}")
        activity, velocity, seconds = (stored[name] for name in Recording._fields)
    if seconds.size != 1:
        raise ValueError(f"seconds holds {seconds.size} numbers, it must be one")
    return Recording(activity, velocity, float(seconds.reshape(())))


def _from_csv(file: Path) -> Recording:
    with file.open(encoding="utf-8", newline="") as content:
        names = [name.strip() for name in next(csv.reader(content), [])]
        lacking = [name for name in ("time", *VELOCITY) if names.count(name) != 1]
        if lacking:
            raise ValueError(f"its first line must have the name {lacking[0]} once")
        table = np.loadtxt(content, delimiter=",", ndmin=2)
    if table.shape[0] < 2 or table.shape[1] != len(names):
        raise ValueError(
            f"it has {table.shape[0]} lines of {table.shape[1]} numbers below {len(names)} names"
        )
    steps = np.diff(table[:, names.index("time")])
    if not np.allclose(steps, steps[0], rtol=1e-3):
        raise ValueError(f"time goes on by {steps.min():g} to {steps.max():g} s, not equally")
    channels = [place for place, name in enumerate(names) if name not in ("time", *VELOCITY)]
    velocity = table[:, [names.index(name) for name in VELOCITY]]
    return Recording(table[:, channels], velocity, float(steps[0]))


def _checked(file: Path, found: Recording) -> Recording:
    """The recording in float64, or one sentence on what is wrong with it."""
    activity, velocity, seconds = found
    for name, array in (("activity", activity), ("velocity", velocity)):
        if array.dtype.kind not in "fiu" or array.ndim != 2 or 0 in array.shape:
            raise DataMissingError(
                f"{file} is not a recording: {name} has the dtype {array.dtype} and the shape "
                f"{array.shape}, it must hold numbers in bins and columns"
            )
        if not np.isfinite(array).all():
            raise DataMissingError(f"{file} is not a recording: {name} has NaN or infinity in it")
    if velocity.shape != (len(activity), 2):
        raise DataMissingError(
            f"{file} is not a recording: velocity has the shape {velocity.shape}, beside "
            f"{len(activity)} bins of activity it must have {(len(activity), 2)}"
        )
    if not 0 < seconds < np.inf:
        raise DataMissingError(
            f"{file} is not a recording: a bin has {seconds:g} s, it must be longer than 0"
        )
    return Recording(activity.astype(np.float64), velocity.astype(np.float64), seconds)
