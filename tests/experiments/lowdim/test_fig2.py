"""lowdim/fig2a and fig2b at their smallest preset, and their analysis on data made by hand."""

import jax
import numpy as np
import pytest
import xarray

from tacit.experiments import UsageError
from tacit.experiments.lowdim.fig2a import Fig2a
from tacit.experiments.lowdim.fig2b import Fig2b, gap_over
from tacit.experiments.lowdim.gru import train_teachers
from tacit.measures import mean_tail_errors
from tacit.problems import wave_response
from tacit.reproduction import reproduce


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """One run for all tests of this file."""
    results = tmp_path_factory.mktemp("results")
    return reproduce("lowdim/fig2a", preset="smoke", results=results, teacher="delay")


def test_a_short_run_has_all_that_the_figure_needs(smoke):
    data = smoke.dataset
    assert set(np.unique(data["outcome"].values)) <= {"converged", "stopped", "stalled"}
    assert (data["steps_made"] <= smoke.experiment.steps).all()
    assert {claim.verdict for claim in smoke.claims} == {"undecided"}  # two seeds
    assert (smoke.path / "figure.png").stat().st_size > 10_000
    for name, variable in data.data_vars.items():
        if variable.dtype.kind == "f":
            assert np.isfinite(variable.values).all(), name


def test_one_teacher_for_all_lengths_and_two_for_two_seeds(smoke):
    response = smoke.dataset["teacher_response"]
    assert float(response.std("length").max()) == 0
    assert (response.std("seed").max("step") > 0).all()


def test_errors_are_taken_after_the_training_length_and_averaged_over_inputs():
    theirs = np.zeros((2, 2, 5))
    theirs[0, :, 3] = 1.0, 3.0  # after k = 2
    theirs[1, :, 1] = 9.0  # before k = 4, so it does not count
    theirs[1, 0, 4] = 4.0
    lengths = np.array([2, 4])
    np.testing.assert_allclose(mean_tail_errors(theirs, lengths), [2.0, 2.0])
    np.testing.assert_allclose(mean_tail_errors(np.full_like(theirs, 0.5), lengths), 0.5)
    overflowed = mean_tail_errors(np.full_like(theirs, np.nan), lengths)
    assert np.isinf(overflowed).all()  # infinitely wrong


def test_a_teacher_follows_its_response_to_an_impulse():
    target = wave_response("fast", 20, 3)
    keys = [jax.random.key(seed) for seed in (0, 1)]
    teachers, loss = train_teachers(target, 3, steps=300, keys=keys)
    assert (loss < 0.2).all()
    impulse = np.eye(20, 1, dtype=np.float32)
    error = np.asarray(teachers[0].simulate(impulse))[:, 0] - target
    assert loss[0] == pytest.approx(np.mean(error**2) / np.mean(target**2), rel=1e-3)


def test_targets_are_what_the_docstring_says():
    delay = wave_response("delay", 20, 4)
    assert delay[3] == 1
    assert np.count_nonzero(delay) == 1
    slow, fast = (wave_response(name, 100, 10) for name in ("slow", "fast"))
    assert slow[0] == fast[0] == 1
    assert np.abs(slow[50:]).max() > 0.1 > 1e-3 > np.abs(fast[50:]).max()


def made_up(experiment, error, *, loss=1e-4):
    """A dataset as the store gives it, with errors by hand."""
    axes = {name: list(values) for name, values in experiment.axes().items()}
    shape, dims = tuple(map(len, axes.values())), tuple(axes)
    length = np.broadcast_to(np.array(experiment.length).reshape(1, 1, -1, 1), shape)
    relative = error(length) * np.random.default_rng(0).uniform(0.9, 1.1, shape)
    step = np.arange(experiment.horizon)
    later = step >= length[..., None]
    answers = np.where(step < 5, 1.0, 0.0) * np.ones((*shape, 1))
    data = {
        "relative_error": ((*dims, "iterate"), np.stack([relative, relative], -1)),
        "error": ((*dims, "iterate"), np.stack([relative, relative], -1)),
        "teacher_response": ((*dims, "step"), answers),
        "response": ((*dims, "step"), np.where(later, 9.0, answers)),
        "train_loss": ((*dims, "iterate"), np.full((*shape, 2), loss)),
        "power": (dims, np.ones(shape)),
        "gap_rms": ((*dims, "step"), np.where(later, relative[..., None], 7.0)),
        "teacher_rms": ((*dims, "step"), np.ones((*shape, experiment.horizon))),
    }
    return xarray.Dataset(data, {**axes, "iterate": ["last", "best"], "step": step})


def verdicts(experiment, error):
    dataset = made_up(experiment, error)
    return {claim.name: claim.verdict for claim in experiment.claims(dataset)}


def test_claims_see_a_jump_and_a_knee():
    experiment = Fig2a()
    jump = verdicts(experiment, lambda k: np.where(k <= 20, 2.0, 0.03))
    tenfold = "tenfold from the size to four times it"
    assert jump["delay: jump"] == jump[f"delay: {tenfold}"] == "holds"
    assert jump["delay, 100 units: high below, low above"] == "holds"
    assert jump["delay, 100 units: below, worse than zero"] == "holds"
    assert jump["delay: twice the size is not enough"] == "holds"
    assert jump["delay: more is enough"] == "holds"
    knee = verdicts(experiment, lambda k: 1.6 / k)
    assert knee["slow: jump"] == knee[f"slow: {tenfold}"] == "fails"
    assert knee["slow, 100 units: high below, low above"] == "holds"
    assert knee["delay: more is enough"] == "fails"
    flat = verdicts(experiment, lambda k: 0.4 + 0 * k)
    assert flat["slow, 100 units: high below, low above"] == "fails"
    assert flat["slow, 100 units: above, better than zero"] == "holds"


def test_a_grid_of_one_length_has_no_jump():
    experiment = Fig2a(length=(40,))
    found = verdicts(experiment, lambda k: 0.01 + 0 * k)
    assert found["slow: jump"] == "undecided"
    assert found["delay, 100 units: high below, low above"] == "undecided"
    assert "slow, 100 units: high below, low above" not in found  # one length decides no decline


def test_runs_that_did_not_train_do_not_count():
    experiment = Fig2a()
    dataset = made_up(experiment, lambda k: 1.0 / k, loss=0.5)
    assert {claim.verdict for claim in experiment.claims(dataset)} == {"undecided"}


def test_the_gap_is_taken_after_the_training_length():
    experiment = Fig2b()
    dataset = made_up(experiment, lambda k: np.where(k < 60, 0.5, 0.02))
    gap = gap_over(dataset, dataset["step"] >= dataset["length"])
    np.testing.assert_allclose(gap.sel({"length": 30}).values, 0.5, rtol=0.11)
    found = {claim.name: claim.verdict for claim in experiment.claims(dataset)}
    assert found["delay: k = 30 leaves the teacher"] == "holds"
    assert found["slow: k = 60 follows the teacher"] == "holds"
    assert found["slow: tracks to k"] == "holds"  # it is off from k on only
    dataset["response"] = dataset["response"] + 0.2
    moved = {claim.name: claim.verdict for claim in experiment.claims(dataset)}
    assert moved["slow: tracks to k"] == "fails"
    other = verdicts(experiment, lambda k: 0.2 + 0 * k)
    assert other["delay: k = 30 leaves the teacher"] == "fails"
    assert other["slow: k = 60 follows the teacher"] == "fails"


def test_fig2b_draws_what_fig2a_stored(smoke):
    figure = Fig2b.from_preset("smoke", teacher="delay").draw(smoke.dataset)
    assert len(figure.panels) == 3


def test_lengths_must_fit():
    with pytest.raises(UsageError, match="longest"):
        Fig2a(length=(80,))
    with pytest.raises(UsageError, match="horizon"):
        Fig2a(horizon=70)
