"""lowdim/modes and lowdim/fig1a-mimo at their smallest preset, and when modes appear."""

import numpy as np
import xarray

from tacit.experiments.lowdim.modes import Modes
from tacit.reproduction import reproduce


def test_modes_of_the_student_come_from_zero_to_the_teachers(tmp_path):
    run = reproduce("lowdim/modes", preset="smoke", results=tmp_path)
    data = run.dataset.isel(teacher=0)
    assert run.as_expected is not False
    seen, goal = data["singular_values"], data["teacher_values"]
    assert (np.diff(seen.transpose(..., "singular_value").values, axis=-1) <= 0).all()
    lags = np.arange(20)
    exact = np.mean(np.linspace(-1, 1, 5)[:, None] ** lags, axis=0)
    values = np.linalg.svd(exact[np.add.outer(np.arange(10), np.arange(11))], compute_uv=False)
    np.testing.assert_allclose(goal.isel(scale=0, seed=0).values, values[:8], atol=1e-12)
    near = seen.sel(scale=1e-3).isel(time=[0, -1], singular_value=0).transpose("time", ...).values
    assert (near[0] < 0.01 * values[0]).all()
    np.testing.assert_allclose(near[1], values[0], rtol=0.05)
    loss = data["train_loss"].transpose(..., "time").values
    assert (np.diff(loss, axis=-1) <= 1e-12).all()  # a flow only descends


def test_mimo_runs_and_polishes(tmp_path):
    run = reproduce("lowdim/fig1a-mimo", preset="smoke", results=tmp_path)
    loss = run.dataset["train_loss"]
    assert run.as_expected is not False
    assert (loss.sel(iterate="polished") <= loss.sel(iterate="last")).all()
    assert (run.path / "figure.png").stat().st_size > 10_000


def test_modes_appear_where_they_cross_for_good():
    experiment = Modes(
        scale=(1e-3,), seed=(0,), order=2, modes=3, early=1, early_looks=1, last=1e4, looks=4
    )
    times = experiment.times()  # 1, 10, …, 1e4
    first = np.array(
        [1e-3, 1e-1, 10, 10, 10]
    )  # passes 1 in the middle, in logarithms, between 10 and 100
    second = np.array([0.5, 2, 0.5, 0.5, 2])  # its first passage is undone
    never = np.full(5, 1e-9)
    seen = np.stack([first, second, never], axis=-1)[None, None]
    dataset = xarray.Dataset(
        {
            "singular_values": (("scale", "seed", "time", "singular_value"), seen),
            "teacher_values": (("scale", "seed", "singular_value"), [[[2.0, 2.0, 2.0]]]),
        }
    )
    found = experiment.appearances(dataset).values[0, 0]
    np.testing.assert_allclose(found, [55.0, 5500.0], rtol=1e-12)
    assert np.isposinf(experiment.appearances(dataset * 1e-6 + 0)).sum() == 0  # both scaled alike
    dataset["singular_values"] *= 1e-6
    assert np.isposinf(experiment.appearances(dataset)).all()
    assert times[-1] == 1e4


def test_modes_are_in_order_seed_by_seed():
    experiment = Modes(
        scale=(1e-3,), seed=range(8), order=2, modes=2, early=1, early_looks=1, last=1e4, looks=4
    )
    early, late = np.array([1e-3, 10, 10, 10, 10]), np.array([1e-3, 1e-3, 1e-3, 10, 10])
    seen = np.stack([early, late], axis=-1)[None, None].repeat(8, axis=1)
    seen[0, :2] = seen[0, :2, :, ::-1]  # in two of eight seeds the second mode comes first
    dims = ("teacher", "scale", "seed", "time", "singular_value")
    dataset = xarray.Dataset(
        {
            "singular_values": (dims, seen[None]),
            "teacher_values": (
                ("teacher", "scale", "seed", "singular_value"),
                np.ones((1, 1, 8, 2)),
            ),
            "first_weight": (("teacher", "scale", "seed"), np.ones((1, 1, 8))),
        },
        {"teacher": ["well-conditioned"], "scale": [1e-3], "seed": range(8)},
    )
    (claim,) = experiment.claims(dataset)
    assert (claim.name, claim.satisfied, claim.samples) == ("one after another", 6, 8)


def test_each_mode_must_wait_longer_than_the_one_before():
    experiment = Modes(
        scale=(1e-4, 1e-3), seed=range(8), order=2, modes=2, early=1, early_looks=1, last=1e6,
        looks=6,
    )  # fmt: skip
    times = experiment.times()

    def verdict(*passages):
        """By mode, the times at which it appears from either scale."""
        seen = np.where(times >= np.array(passages).T[..., None], 10.0, 1e-3)  # scale, mode, time
        seen = seen.transpose(0, 2, 1)[None, :, None].repeat(8, axis=2)
        dims = ("teacher", "scale", "seed", "time", "singular_value")
        dataset = xarray.Dataset(
            {
                "singular_values": (dims, seen),
                "teacher_values": ((*dims[:3], dims[4]), np.full((1, 2, 8, 2), 2.0)),
                "first_weight": (dims[:3], np.full((1, 2, 8), 0.1)),
            },
            {"teacher": ["well-conditioned"], "scale": [1e-4, 1e-3], "seed": range(8)},
        )
        claims = {claim.name: claim.verdict for claim in experiment.claims(dataset)}
        return claims["each mode waits longer than the one before"]

    assert verdict((1e3, 1e2), (1e5, 1e3)) == "holds"
    assert verdict((1e4, 1e2), (1e4, 1e4)) == "fails"  # the second comes at one time from both
