"""The tasks' statistics: what a trial looks like, and how often."""

import jax
import numpy as np
import pytest

from tacit.problems import Cosine, FlipFlop, Mante, Romo, Simple

BATCH = 600
KEY = jax.random.key(11)


def drawn(task):
    return tuple(np.asarray(part, np.float64) for part in task.sample(KEY, BATCH))


@pytest.mark.parametrize("task", [FlipFlop(), Mante(), Romo(), Simple(), Cosine()])
def test_shapes_dtype_and_seed(task):
    trials = task.sample(KEY, 3)
    assert trials.inputs.shape == (3, task.steps, task.inputs)
    assert trials.targets.shape == (3, task.steps, task.outputs)
    assert trials.mask.shape == (3, task.steps)
    assert all(part.dtype == np.float32 for part in trials)
    again = task.sample(KEY, 3)
    for one, other in zip(trials, again, strict=True):
        np.testing.assert_array_equal(one, other)
    assert float(trials.loss(trials.targets)) == 0


def test_trials_in_double_precision():
    wide = Romo().sample(KEY, 3, dtype=np.float64)
    assert all(part.dtype == np.float64 for part in wide)


def test_loss_pools_all_active_steps_and_channels():
    trials = FlipFlop().sample(KEY, 4)
    targets, mask = np.asarray(trials.targets), np.asarray(trials.mask)
    outputs = np.random.default_rng(0).normal(size=targets.shape).astype(np.float32)
    error = (outputs - targets)[mask > 0]
    np.testing.assert_allclose(trials.loss(outputs), 0.5 * np.mean(error**2), rtol=1e-5)


def test_flip_flop():
    task = FlipFlop()
    assert task.steps == 100
    inputs, targets, mask = drawn(task)
    spacings, signs, channels = [], [], []
    for trial in range(BATCH):
        on = np.flatnonzero(np.abs(inputs[trial]).sum(axis=1))
        onsets = on[np.concatenate([[True], np.diff(on) > 1])]
        assert onsets[0] == 2
        for pulse, onset in enumerate(onsets):
            following = onsets[pulse + 1] if pulse + 1 < len(onsets) else 100
            shown = inputs[trial, onset : min(onset + 2, 100)]
            assert np.all(shown == shown[0])
            assert sorted(np.abs(shown[0])) == [0, 1]
            assert not inputs[trial, onset + 2 : following].any()
            # Loss off for ten steps from the onset, then on until the next one.
            assert not mask[trial, onset : onset + 10].any()
            assert np.all(mask[trial, onset + 10 : following] == 1)
            assert np.all(targets[trial, onset + 10 : following] == 0.5 * shown[0])
            signs.append(shown[0].sum())
            channels.append(int(np.argmax(np.abs(shown[0]))))
        assert not mask[trial, :2].any()
        spacings += list(np.diff(onsets))
    spacings = np.array(spacings)
    assert spacings.min() == 20
    assert spacings.max() <= 59
    assert np.mean(signs) == pytest.approx(0, abs=0.12)
    assert np.mean(channels) == pytest.approx(0.5, abs=0.06)


def test_flip_flop_spacing_is_uniform():
    # A trial long enough to show the whole first spacing: mean of floor(U(20, 60)) is 39.5.
    inputs, _, _ = drawn(FlipFlop())
    seconds = []
    for trial in inputs:
        on = np.flatnonzero(np.abs(trial).sum(axis=1))
        onsets = on[np.concatenate([[True], np.diff(on) > 1])]
        seconds.append(onsets[1] - onsets[0])
    assert np.mean(seconds) == pytest.approx(39.5, abs=2.0)
    assert max(seconds) >= 57


def test_mante():
    task = Mante()
    assert task.steps == 96
    inputs, targets, mask = drawn(task)
    expected = np.concatenate([np.ones(46), np.zeros(10), np.ones(40)])
    np.testing.assert_array_equal(mask, np.broadcast_to(expected, mask.shape))
    context = inputs[:, :, :2]
    assert not context[:, :6].any()
    assert not context[:, 46:].any()
    assert np.all(context[:, 6:46].sum(axis=2) == 1)
    chosen = np.argmax(context[:, 10], axis=1)
    assert np.mean(chosen) == pytest.approx(0.5, abs=0.08)
    signals = inputs[:, :, 2:]
    means = signals[:, 6:46].mean(axis=1)
    allowed = np.array([s * c for s in (-1, 1) for c in (1 / 8, 1 / 4, 1 / 2, 1)])
    nearest = allowed[np.argmin(np.abs(means[..., None] - allowed), axis=-1)]
    assert np.abs(means - nearest).max() < 0.06
    counts = [np.mean(nearest == value) for value in allowed]
    np.testing.assert_allclose(counts, 1 / 8, atol=0.04)
    # Noise 0.05/√dt on both signals, outside the stimulus too.
    assert np.std(signals[:, 46:]) == pytest.approx(0.05 / np.sqrt(0.5), rel=0.02)
    relevant = nearest[np.arange(BATCH), chosen]
    assert not targets[:, :56].any()
    np.testing.assert_allclose(targets[:, 56:, 0], 0.5 * np.sign(relevant)[:, None] * np.ones(40))


def test_mante_with_the_texts_coherences():
    inputs, _, _ = drawn(Mante(coherences=(1.0,)))
    assert np.abs(np.abs(inputs[:, 6:46, 2:].mean(axis=1)) - 1).max() < 0.06


def test_romo():
    task = Romo()
    assert task.steps == 56
    inputs, targets, mask = drawn(task)
    delays, gaps, heights = [], [], []
    for trial in range(BATCH):
        on = np.flatnonzero(inputs[trial, :, 0])
        first, second = on[0], on[2]
        assert list(on) == [6, 7, second, second + 1]
        delays.append(second - first - 2)
        low, high = inputs[trial, first, 0], inputs[trial, second, 0]
        gaps.append(abs(low - high))
        heights += [low, high]
        expected = np.zeros(56)
        expected[: second + 2] = 1
        expected[second + 12 : second + 32] = 1
        np.testing.assert_array_equal(mask[trial], expected)
        larger = int(high > low)
        response = targets[trial, second + 12 : second + 32]
        assert np.all(response[:, larger] == 0.5)
        assert not response[:, 1 - larger].any()
        assert not targets[trial, : second + 12].any()
    assert min(delays) == 4
    assert max(delays) == 15
    assert min(gaps) >= 0.2 - 1e-6
    assert min(heights) >= 0.5
    assert max(heights) <= 1.5
    # The same distribution as redrawing both until they differ enough.
    pairs = np.random.default_rng(0).uniform(0.5, 1.5, size=(200_000, 2))
    redrawn = pairs[np.abs(pairs[:, 0] - pairs[:, 1]) >= 0.2]
    apart = np.abs(redrawn[:, 0] - redrawn[:, 1])
    quantiles = (0.1, 0.5, 0.9)
    np.testing.assert_allclose(
        np.quantile(gaps, quantiles), np.quantile(apart, quantiles), atol=0.04
    )
    np.testing.assert_allclose(
        np.quantile(heights, quantiles), np.quantile(redrawn, quantiles), atol=0.05
    )


def test_simple_and_cosine():
    inputs, targets, mask = drawn(Simple(target=2.0))
    assert inputs.shape[1] == 202
    assert not inputs[:, :2].any()
    assert np.all(inputs[:, 2:] == 1)
    np.testing.assert_array_equal(np.flatnonzero(mask[0]), [200, 201])
    assert np.all(targets[:, 200:] == 2.0)
    inputs, targets, mask = drawn(Cosine())
    assert inputs[0, 0, 0] == pytest.approx(10.0)
    assert not inputs[:, 1:].any()
    np.testing.assert_allclose(
        targets[0, :, 0], np.cos(0.4 * np.pi * np.arange(200) / 10), atol=1e-5
    )
    # The first two periods count, of four; more periods than there are count all.
    np.testing.assert_array_equal(np.flatnonzero(mask[0]), np.arange(100))
    assert drawn(Cosine(periods=9.0))[2].all()


@pytest.mark.parametrize(
    ("door", "words"),
    [
        (lambda: FlipFlop(dt=0.0), r"dt: received .*must lie in \(0, 1\]"),
        (lambda: FlipFlop().sample(KEY, 0), "batch: received .*must be a positive integer"),
        (
            lambda: FlipFlop().sample(KEY, 1, dtype=int),
            "dtype: received .*must be a real floating one",
        ),
        (lambda: Mante(coherences=(-1.0,)), "coherences: received .*must be positive"),
        (lambda: Cosine(periods=0.0), "periods: received .*first two periods"),
        (lambda: Romo(gap=1.0), "gap: received .*must lie in"),
        (lambda: Romo(duration=20.0), "duration: received .*must hold the longest trial"),
    ],
)
def test_bad_input(door, words):
    with pytest.raises(ValueError, match=words):
        door()
