"""Recordings: the synthetic one, files of one's own, and the paper's in its own form."""

import numpy as np
import pytest
from scipy.io import savemat

from tacit.data import (
    S1_CHOWDHURY,
    DataMissingError,
    read_recording,
    somatosensory_cortex,
    synthetic_recording,
)

ACTIVITY, VELOCITY = np.arange(12.0).reshape(4, 3), np.arange(8.0).reshape(4, 2) / 7


def test_the_synthetic_recording_has_the_papers_size_and_rates():
    found = synthetic_recording()
    assert found.activity.shape == (61_200, 52)
    assert found.velocity.shape == (61_200, 2)
    assert len(found.activity) * found.seconds == pytest.approx(51 * 60)
    rates = found.activity.mean(axis=0) / found.seconds
    assert np.median(rates) == pytest.approx(6.3, rel=0.05)
    assert np.mean(rates) == pytest.approx(9.3, rel=0.05)
    np.testing.assert_allclose(found.velocity.std(axis=0), 1)
    # Smooth: half a second apart the velocity is exp(−(0.5/0.3)²/4) alike.
    alike = np.mean(found.velocity[:-10] * found.velocity[10:])
    assert alike == pytest.approx(np.exp(-((0.5 / 0.3) ** 2) / 4), abs=0.05)


def test_a_seed_is_a_recording_and_neurons_are_tuned():
    one, same, other = (synthetic_recording(seed, minutes=4.0) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.activity, same.activity)
    assert (one.activity != other.activity).any()
    with pytest.raises(ValueError, match="read-only"):
        one.activity[0] = 0
    # A straight line of the counts around each time explains a good part of the velocity.
    x = np.concatenate([np.roll(one.activity, lag, axis=0) for lag in range(-4, 5)], axis=1)
    x = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    half = len(x) // 2
    fit = np.linalg.lstsq(x[:half], one.velocity[:half], rcond=None)[0]
    missed = np.mean((x[half:] @ fit - one.velocity[half:]) ** 2, axis=0)
    assert (missed < 0.7).all()


def test_half_of_the_neurons_follow_the_velocity_and_half_lead_it():
    # As said, neuron i fires at t for what the velocity was at t − lᵢ, l within ± 0.2 s.
    found = synthetic_recording(3, neurons=20, minutes=120.0)
    rng = np.random.default_rng([3, 52])
    rng.normal(size=(2 * len(found.velocity))), rng.permutation(20)
    angles, _ = rng.uniform(0, 2 * np.pi, 20), rng.uniform(0, 0.37, 20)
    lags = np.rint(rng.uniform(-0.2, 0.2, 20) / found.seconds).astype(int)
    drive = found.velocity @ np.stack([np.cos(angles), np.sin(angles)])
    best = []
    for counts, driven in zip(found.activity.T, drive.T, strict=True):
        alike = [np.roll(driven, lag) @ counts for lag in range(-8, 9)]
        best.append(int(np.argmax(alike)) - 8)
    assert np.corrcoef(best, lags)[0, 1] > 0.8
    assert min(lags) < 0 < max(lags)


def test_an_archive_of_ones_own(tmp_path):
    np.savez(tmp_path / "own.npz", activity=ACTIVITY, velocity=VELOCITY, seconds=0.1)
    found = read_recording(tmp_path / "own.npz")
    np.testing.assert_array_equal(found.activity, ACTIVITY)
    np.testing.assert_array_equal(found.velocity, VELOCITY)
    assert found.seconds == 0.1


def test_a_table_of_ones_own(tmp_path):
    lines = ["vy,time,unit 1,vx,unit 2,unit 3"]
    for bin_, (units, (x, y)) in enumerate(zip(ACTIVITY, VELOCITY, strict=True)):
        lines.append(f"{y},{0.1 * bin_},{units[0]},{x},{units[1]},{units[2]}")
    (tmp_path / "own.csv").write_text("\n".join(lines))
    found = read_recording(tmp_path / "own.csv")
    np.testing.assert_array_equal(found.activity, ACTIVITY)
    np.testing.assert_allclose(found.velocity, VELOCITY)
    assert found.seconds == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"activity": None}, "lacks the array activity"),
        ({"velocity": VELOCITY[:3]}, r"velocity has the shape \(3, 2\), beside 4 bins"),
        ({"activity": ACTIVITY[0]}, r"activity has the dtype float64 and the shape \(3,\)"),
        ({"velocity": np.full((4, 2), np.nan)}, "velocity has NaN or infinity"),
        ({"activity": np.full((4, 3), np.inf)}, "activity has NaN or infinity"),
        ({"seconds": 0.0}, "a bin has 0 s, it must be longer"),
        ({"seconds": np.ones(2)}, "seconds holds 2 numbers"),
        ({"activity": np.array([[object()]] * 4)}, "allow_pickle=False"),
    ],
)
def test_a_wrong_archive_is_one_sentence(tmp_path, changed, words):
    arrays = {"activity": ACTIVITY, "velocity": VELOCITY, "seconds": 0.1} | changed
    np.savez(tmp_path / "own.npz", **{k: v for k, v in arrays.items() if v is not None})
    with pytest.raises(DataMissingError, match=words) as caught:
        read_recording(tmp_path / "own.npz")
    assert "own.npz" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time,vx\n0,1\n1,2\n", "must have the name vy once"),
        ("time,vx,vy,a\n0,1,2,3\n", "1 lines of 4 numbers below 4 names"),
        ("time,vx,vy,a\n0,1,2,3\n1,1,2,3\n3,1,2,3\n", "time goes on by 1 to 2 s"),
        ("time,vx,vy,a\n0,1,2,b\n1,1,2,3\n", "could not convert string 'b'"),
        ("time,vx,vy\n0,1,2\n1,1,2\n", r"activity has the dtype float64 and the shape \(2, 0\)"),
        ("", "must have the name time once"),
    ],
)
def test_a_wrong_table_is_one_sentence(tmp_path, text, words):
    (tmp_path / "own.csv").write_text(text)
    with pytest.raises(DataMissingError, match=words):
        read_recording(tmp_path / "own.csv")


def test_what_is_no_file_of_these_is_one_sentence(tmp_path):
    with pytest.raises(DataMissingError, match="cannot be read: No such file"):
        read_recording(tmp_path / "none.npz")
    with pytest.raises(DataMissingError, match=r"from a file \.npz or \.csv"):
        read_recording(tmp_path / "own.pickle")
    (tmp_path / "own.npz").write_bytes(b"PK broken")
    with pytest.raises(DataMissingError, match="is not a recording"):
        read_recording(tmp_path / "own.npz")


def matlab_file(folder, **changed):
    """A file in the form of the paper's: spikes of two neurons, velocities every 10 ms."""
    spikes = np.empty((2, 1), object)
    spikes[0, 0], spikes[1, 0] = np.array([[5.001], [5.049], [5.12]]), np.array([[5.06]])
    times = 5 + 0.01 * np.arange(16)[:, None]
    arrays = {"spike_times": spikes, "vel_times": times, "vels": np.tile(np.arange(16.0), (2, 1)).T}
    folder.mkdir(exist_ok=True)
    savemat(folder / "s1_data_raw.mat", arrays | changed)
    return folder


def test_the_papers_recording_is_counted_in_bins(tmp_path):
    found = somatosensory_cortex(matlab_file(tmp_path / "s1"))
    np.testing.assert_array_equal(found.activity, [[2, 0], [0, 1], [1, 0]])
    np.testing.assert_allclose(found.velocity, np.array([[2, 2], [7, 7], [12, 12]]), atol=0.51)
    assert found.seconds == 0.05


def test_another_file_in_its_place_is_one_sentence(tmp_path, monkeypatch):
    folder = matlab_file(tmp_path / "s1", vels=np.ones((3, 2)))
    with pytest.raises(DataMissingError, match="not the recording that is meant: 2 neurons"):
        somatosensory_cortex(folder)
    (folder / "s1_data_raw.mat").write_bytes(b"not a file of Matlab")
    with pytest.raises(DataMissingError, match="not the recording that is meant"):
        somatosensory_cortex(folder)
    monkeypatch.delenv("TACIT_DATA", raising=False)
    with pytest.raises(DataMissingError, match=r"s1_chowdhury is not at hand.*dropbox"):
        somatosensory_cortex()


def test_what_has_no_checksum_is_not_fetched(tmp_path):
    with pytest.raises(DataMissingError, match=r"take it from https://www\.dropbox.* yourself"):
        S1_CHOWDHURY.fetch(tmp_path / "s1")
    assert not (tmp_path / "s1").exists()
