"""A recording that nobody made: Poisson neurons tuned to a smooth random velocity."""

import functools

import numpy as np

from tacit._doors import SEEDS, door, number, whole
from tacit.data._recording import Recording

MEAN_RATE, MEDIAN_RATE = 9.3, 6.3  # spikes a second, of the paper `kernel`'s neurons
SMOOTH = 0.3  # seconds: the velocity is white noise under a Gaussian of this standard deviation
DEEPEST, LATEST = 0.37, 0.2


@door(
    seed=whole(0, SEEDS),
    neurons=whole(1, 100_000),
    minutes=number(above=0, high=10_000),
    seconds=number(1e-3, 60),
)
def synthetic_recording(
    seed: int = 0, *, neurons: int = 52, minutes: float = 51.0, seconds: float = 0.05
) -> Recording:
    """Spike counts and velocity with the size of the paper `kernel`'s recording (section 5.2).

    52 neurons over 51 minutes with a mean rate of 9.3 and a median of 6.3 spikes a second are the
    paper's; all else is ours. The velocity (v_x, v_y) is white noise smoothed by a Gaussian of
    0.3 s, with variance one. Neuron i has a rate r_i (a quantile of a log-normal distribution), a
    direction θ_i, a depth m_i (uniform up to 0.37) and a lag l_i (uniform within ± 0.2 s), and its
    counts are Poisson with

        r_i max(0, 1 + m_i (cos θ_i v_x + sin θ_i v_y)(t − l_i)) × seconds.

    The depths are such that least squares on 15 bins explains as much of the velocity as the
    paper's plain convolution does on all its data, R² of about 0.63. The same seed gives the same
    arrays, which cannot be written to.
    """
    if round(60 * minutes / seconds) < 2:
        raise ValueError(f"minutes: received {minutes!r}, it must hold two bins or more")
    return _synthetic_recording(int(seed), int(neurons), float(minutes), float(seconds))


@functools.lru_cache(maxsize=2)
def _synthetic_recording(seed: int, neurons: int, minutes: float, seconds: float) -> Recording:
    from scipy.ndimage import gaussian_filter1d  # not above: slow to import
    from scipy.special import ndtri

    rng, bins = np.random.default_rng([seed, 52]), round(60 * minutes / seconds)
    velocity = gaussian_filter1d(rng.normal(size=(bins, 2)), SMOOTH / seconds, axis=0, mode="wrap")
    velocity = (velocity - velocity.mean(axis=0)) / velocity.std(axis=0)
    spread = np.sqrt(2 * np.log(MEAN_RATE / MEDIAN_RATE))  # so that the mean is that of the paper
    quantiles = ndtri((np.arange(neurons) + 0.5) / neurons)
    rates = rng.permutation(MEDIAN_RATE * np.exp(spread * quantiles))
    angles, depths = rng.uniform(0, 2 * np.pi, neurons), rng.uniform(0, DEEPEST, neurons)
    lags = np.rint(rng.uniform(-LATEST, LATEST, neurons) / seconds).astype(int)
    drive = velocity @ np.stack([np.cos(angles), np.sin(angles)])
    late = np.stack([np.roll(drive[:, i], lag) for i, lag in enumerate(lags)], axis=1)
    expected = rates * np.maximum(0.0, 1 + depths * late) * seconds
    activity = rng.poisson(expected).astype(np.float64)
    for array in (activity, velocity):
        array.setflags(write=False)
    return Recording(activity, velocity, seconds)
