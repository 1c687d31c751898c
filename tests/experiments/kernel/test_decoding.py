"""kernel/fig4 and table1: on small recordings always, on the real one where it is at hand."""

import os

import numpy as np
import pytest
import xarray

from tacit.data import M1_FLINT, Recording
from tacit.experiments import Batch, UsageError
from tacit.experiments.kernel.fig4 import Fig4
from tacit.experiments.kernel.table1 import PAPER, Table1
from tacit.reproduction import reproduce


def small_recording(bins=3000):
    """Both directions are filters of the activity."""
    rng = np.random.default_rng(0)
    activity = rng.normal(size=(bins, 3))
    velocity = np.stack([activity[:, 0], np.roll(activity[:, 1], 1)], axis=1)
    return Recording(activity, 5 + 2 * velocity + 0.2 * rng.normal(size=(bins, 2)), 0.1)


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A recording in a file."""
    path = tmp_path_factory.mktemp("recordings") / "own.npz"
    np.savez(path, **small_recording()._asdict())
    return str(path)


@pytest.mark.parametrize("name", ["kernel/fig4", "kernel/table1"])
def test_without_the_data_there_is_one_sentence(name, monkeypatch, tmp_path):
    monkeypatch.delenv("TACIT_DATA", raising=False)
    with pytest.raises(UsageError, match=f"{name}: the data set m1_flint_run1 is not at hand"):
        reproduce(name, preset="smoke", recording="m1", results=tmp_path)
    with pytest.raises(UsageError, match=f"{name}: the data set s1_chowdhury is not at hand"):
        reproduce(name, preset="smoke", recording="s1", results=tmp_path)
    assert not list(tmp_path.iterdir())  # nothing was begun


def test_a_wrong_recording_is_one_sentence(tmp_path):
    with pytest.raises(UsageError, match="recording: received 'm2', allowed is synthetic, m1, s1"):
        Table1(recording="m2")
    absent = str(tmp_path / "none.npz")
    assert "cannot be read" in Table1(recording=absent).missing()
    np.savez(tmp_path / "short.npz", **small_recording(bins=200)._asdict())
    sentence = Table1(recording=str(tmp_path / "short.npz")).missing()
    assert sentence.startswith("recording: it has 13 sequences of 1.5 s; 20 blocks")


def test_every_block_is_for_tests_once_and_never_for_training():
    table = Table1(blocks=5)
    tests = []
    for seed in range(5):
        for portion, expected in (("whole", 84), ("minutes", 30), ("share", 9)):
            train, test = table.split(104, 9.0, portion, seed)
            assert len(train) == expected
            assert not set(train) & set(test)
        tests.append(test)
    assert sorted(np.concatenate(tests)) == list(range(100))
    # The stretch for training is equally far from both ends of the test block.
    train, test = table.split(104, 9.0, "share", 2)
    around = (np.asarray(train) - test[0]) % 104
    assert abs((around.min() - len(test)) - (104 - 1 - around.max())) <= 1


def test_three_models_decode_a_recording_of_ones_own(own):
    table = Table1.from_preset(
        "smoke", recording=own, steps=[0, 40], batch=32, rate=5e-4, length=5, portion="whole"
    )
    cells = tuple({"recording": own, "portion": "whole", "seed": seed} for seed in (0, 1))
    found = table.cell(Batch(0, cells))
    assert found["r2"].shape == (2, 3, 2, 2)
    # All three begin at one response, and learn both directions but for the noise and the edge.
    np.testing.assert_allclose(found["r2"][:, 1:, 0], found["r2"][:, :1, 0].repeat(2, 1), rtol=1e-9)
    assert (found["r2"][:, :, 1] > 0.7).all()
    assert list(found["train_sequences"]) == [570, 570]
    assert list(found["outcome"]) == ["stopped", "stopped"]


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    return reproduce("kernel/table1", preset="smoke", results=tmp_path_factory.mktemp("results"))


def test_the_default_runs_anywhere_and_says_what_it_is(smoke, monkeypatch):
    monkeypatch.delenv("TACIT_DATA", raising=False)
    assert all(kind.from_preset("quick").missing() is None for kind in (Fig4, Table1))
    assert all(claim.place.startswith("ours") for claim in smoke.claims)
    caption = smoke.figure().caption
    assert "a synthetic recording" in caption
    assert "The paper's recording (S1) is not among them" in caption
    assert "open: the paper's" not in caption
    scores = smoke.dataset["r2"].sel(model="scaled")
    # Thirty steps, from worse than a constant to better than one, in both directions.
    assert float(scores.isel(step=0).max()) < 0 < float(scores.isel(step=-1).min())
    assert (smoke.path / "figure.png").exists()


def test_the_table_for_papers_and_spreadsheets(smoke):
    files = smoke.experiment.tables(smoke.dataset)
    assert set(files) == {"table1.tex", "table1.csv"}
    head, *rows = (line.split(",") for line in files["table1.csv"].splitlines())
    assert head[3:] == ["linear RNN", "scaled convolution", "plain convolution"]
    medians = smoke.dataset["r2"].isel(step=-1, portion=0, recording=0).median("seed")
    for row, direction in zip(rows, "xy", strict=True):
        assert row[:3] == ["synthetic", "4.5 min", direction]
        expected = medians.sel(direction=direction).values
        np.testing.assert_allclose([float(cell) for cell in row[3:]], expected, atol=5.1e-5)
    assert files["table1.tex"].startswith("\\begin{tabular}{lllrrr}\n\\toprule\n")
    assert f"synthetic & 4.5 min & y & {' & '.join(rows[1][3:])} \\\\\n" in files["table1.tex"]


def test_more_data_are_held_against_less_within_the_seed():
    table = Table1(portion=("whole", "minutes"), recording="m1", steps=(0, 5))
    dims = ("recording", "portion", "seed", "model", "step", "direction")
    r2 = np.zeros((1, 2, 3, 3, 2, 2))
    r2[0, 0, :, 2, 1] = 0.3  # on all data the plain convolution leads by 0.3, on little it is
    r2[0, 1, :, 1, 1] = 0.1  # behind by 0.1
    axes = {"recording": ["m1"], "portion": ["whole", "minutes"], "direction": ["x", "y"]}
    runs = xarray.Dataset({"r2": (dims, r2)}, axes | {"model": ["rnn", "scaled", "plain"]})
    found = {claim.name: claim for claim in table.claims(runs)}
    assert found["m1, x: more data favour the plain convolution"].measured == pytest.approx(0.4)
    assert found["m1, minutes, y: scaled convolution wins"].measured == pytest.approx(0.1)
    assert not any("plain convolution wins" in name for name in found)  # not as long as the paper's
    long = table.replace(recording="synthetic")
    names = [claim.name for claim in long.claims(runs.assign_coords(recording=["synthetic"]))]
    assert "synthetic, whole, x: plain convolution wins" in names


def test_the_papers_numbers_stand_beside_its_own_recording_alone(smoke):
    renamed = smoke.dataset.assign_coords(recording=["s1"])
    papers = smoke.experiment.replace(recording="s1")
    rows = papers.rows(renamed)
    assert len(rows) == 4
    assert rows[1] == ("s1 (paper)", "4.5 min", "x", "0.6043", "0.6046", "0.5856")
    assert PAPER["minutes"]["plain"] == (0.5856, 0.3918)
    claims = papers.claims(renamed)
    assert {claim.place for claim in claims} == {"Table 1"}
    assert sum("the paper's numbers" in claim.name for claim in claims) == 2
    assert "open: the paper's" in papers.draw(renamed).caption


@pytest.mark.skipif(not os.environ.get("TACIT_DATA"), reason="TACIT_DATA is not set")
def test_motor_cortex_is_long_enough_for_every_portion():
    if (sentence := M1_FLINT.missing()) is not None:
        pytest.skip(sentence)
    table = Table1(recording="m1")
    assert table.missing() is None
    x, y, seconds = table.sequences(table.read("m1"))
    assert (x.shape, y.shape) == ((519, 15, 10), (519, 15, 2))
    used = [len(table.split(len(x), seconds, portion, 7)[0]) for portion in table.portion]
    assert used == [494, 180, 47]


def test_seeds_that_test_the_same_block_are_one_sample():
    table = Table1(recording="synthetic", portion="whole", blocks=5, seed=range(12), steps=(0, 5))
    rng = np.random.default_rng(0)
    dims = ("recording", "portion", "seed", "model", "step", "direction")
    r2 = xarray.DataArray(rng.normal(size=(1, 1, 12, 3, 2, 2)), dims=dims)
    coords = {"recording": ["synthetic"], "portion": ["whole"], "seed": list(range(12))}
    coords |= {name: list(values) for name, values in table.coordinates().items()}
    r2 = r2.assign_coords(coords)
    runs = xarray.Dataset({"r2": r2})
    wins = {claim.name: claim for claim in table.claims(runs)}[
        "synthetic, whole, x: plain convolution wins"
    ]
    assert wins.samples == 5
    lead = r2.isel(model=2, step=1, direction=0) - r2.isel(model=1, step=1, direction=0)
    assert wins.values[1] == pytest.approx(float(lead.isel(seed=[1, 6, 11]).mean()))
