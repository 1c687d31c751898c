"""The paper `kernel`'s own recording: somatosensory cortex (S1) with the hand's velocity."""

import os

import numpy as np

from tacit._doors import door, path
from tacit.data._recording import Recording
from tacit.data._source import DataMissingError, Source

S1_CHOWDHURY = Source(
    name="s1_chowdhury",
    files={"s1_data_raw.mat": None},
    address="https://www.dropbox.com/sh/n4924ipcfjqc0t6/AACPWjxDKPEzQiXKUUFriFkJa",
    credit=(
        "recorded by Chowdhury in Miller's laboratory; Benjamin and others, Front. Comput. "
        "Neurosci. 2018; shared with Glaser and others, eNeuro 2020 (KordingLab/Neural_Decoding)"
    ),
)
"""Spike times of 52 neurons over 51 minutes. We never had it: no checksum is known."""

BIN = 0.05  # seconds, as in the notebooks shared with the data; the paper `kernel` does not say


@door(path=path)
def somatosensory_cortex(path: str | os.PathLike[str] | None = None) -> Recording:
    """Spike counts of S1 in bins of 50 ms and the mean velocity of the hand in each.

    From `path` or from `TACIT_DATA`: the file `s1_data_raw.mat` with the Matlab variables
    `spike_times` (a cell for each neuron), `vels` (times, 2) and `vel_times`, in seconds. Bins
    begin at the first time of a velocity; the last one that is not full is left out.
    """
    from scipy.io import loadmat  # not above: slow to import
    from scipy.io.matlab import MatReadError

    file = S1_CHOWDHURY.folder(path) / "s1_data_raw.mat"
    try:
        stored = loadmat(file)
        spikes = [np.ravel(one).astype(np.float64) for one in np.ravel(stored["spike_times"])]
        times = np.ravel(stored["vel_times"]).astype(np.float64)
        velocity = np.asarray(stored["vels"], np.float64)
    except (OSError, LookupError, ValueError, TypeError, RuntimeError, MatReadError) as error:
        raise DataMissingError(f"{file} is not the recording that is meant: {error}") from error
    edges = times[0] + BIN * np.arange(int((times[-1] - times[0]) / BIN * (1 + 1e-12)) + 1)
    if velocity.shape != (times.size, 2) or not spikes or edges.size < 2:
        raise DataMissingError(
            f"{file} is not the recording that is meant: {len(spikes)} neurons, {times.size} "
            f"times and velocities of the shape {velocity.shape}"
        )
    counts = np.stack([np.histogram(one, edges)[0] for one in spikes], axis=1)
    place = np.searchsorted(edges, times, side="right") - 1
    kept = place < edges.size - 1
    sums = np.zeros((edges.size - 1, 2))
    np.add.at(sums, place[kept], velocity[kept])
    held = np.bincount(place[kept], minlength=edges.size - 1)
    if not held.all():
        raise DataMissingError(f"{file}: bin {int(np.argmin(held))} holds no velocity")
    return Recording(counts.astype(np.float64), sums / held[:, None], BIN)
