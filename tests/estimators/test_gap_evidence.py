"""What an error in a gap counts for: little, where nothing outside of the gap tells what comes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter

from tacit.estimators import LinearSystemIdentifier
from tacit.estimators._as_they_are import settled
from tacit.estimators._block_model import BlockModel, moved, simulate
from tacit.estimators._gap_choice import Gaps, best_tested
from tacit.estimators._gap_evidence import _observed, evidence
from tacit.estimators._look_ahead import Look
from tacit.estimators._records import Records
from tacit.estimators._system_orders import Candidate, OrderChoice, as_blocks, static
from tacit.estimators._system_starts import Matrices

TWO = Matrices(
    np.array([[0.8, 0.3], [-0.3, 0.8]]), np.ones((2, 1)), np.array([[1.0, 0.5]]), np.zeros((1, 1))
)


def _records(*inputs, noise=0.05, seed=0):
    rng = np.random.default_rng(seed)
    U = [np.asarray(one, float)[:, None] for one in inputs]
    Y = [lfilter([0, 0.3], [1, -1.2, 0.5], one, axis=0) for one in U]
    return Records.of(U, [one + noise * rng.normal(size=one.shape) for one in Y])


def _step(at, length=200):
    return np.where(np.arange(length) < at, 0.0, 1.0)


def test_evidence_is_the_variance_of_a_regression_where_the_model_is_one():
    """Without states there are a gain and an offset: v = x (XᵀX)⁻¹ xᵀ of the samples outside."""
    rng = np.random.default_rng(3)
    records = _records(rng.normal(size=80), rng.normal(size=60))
    found = evidence(static(records), records, 0.25, 0.5)
    rows = [np.stack([one[:, 0], np.ones(len(one))], axis=1) for one in records.measured]
    inside = np.concatenate([rows[0][20:40], rows[1][15:30]])
    outside = np.concatenate([rows[0][:20], rows[0][40:], rows[1][:15], rows[1][30:]])
    variance = np.sum(inside @ np.linalg.inv(outside.T @ outside) * inside, axis=1)
    np.testing.assert_allclose(found[:, 0], 1 / (1 + variance))


@pytest.mark.parametrize(("begin", "end"), [(0.25, 0.5), (0.75, 1.0)])
def test_evidence_agrees_with_the_records_that_are_fitted(begin, end):
    """Finite differences of the records with a gap, where the state after it is an initial one."""
    rng = np.random.default_rng(4)
    records = _records(rng.normal(size=120), noise=0.3)
    model = as_blocks(TWO, records)
    kept = Look.at(records, begin, end).kept
    states = len(kept.outputs)  # what records begin with, columns of B
    after = model.B[:, 1]
    for u in records.measured[0][: int(end * 120)]:
        after = model.A @ after + model.B[:, :1] @ u
    columns = [model.B, after[:, None]][:states]
    whole = replace(model, B=np.concatenate(columns, axis=1))
    drive = np.pad(records.driven[0], ((0, 0), (0, states - 1)))
    padded = Records((drive,), records.outputs, 1)
    count = 2 + whole.B.size + whole.C.size + whole.D.size

    def sensitivities(some):
        sides = [
            np.concatenate(simulate(moved(whole, sign * 1e-6 * one), some))[:, 0]
            for one in np.eye(count)
            for sign in (1, -1)
        ]
        return (np.array(sides[::2]) - np.array(sides[1::2])).T / 2e-6

    outside = sensitivities(kept)
    inside = sensitivities(padded)[int(begin * 120) : int(end * 120)]
    unit = np.sqrt(np.mean((records.outputs[0] - simulate(model, records)[0]) ** 2))
    inverse = np.linalg.pinv(outside.T @ outside, rcond=1e-12) * unit**2
    variance = np.sum(inside / unit @ inverse * (inside / unit), axis=1)
    found = evidence(model, records, begin, end)[:, 0]
    np.testing.assert_allclose(found, 1 / (1 + variance), rtol=1e-4)


def test_a_gap_with_the_only_step_says_nothing_from_the_step_on():
    records = _records(_step(120))
    model = as_blocks(TWO, records)
    gap = evidence(model, records, 0.5, 0.75)[:, 0]
    assert gap[:20].min() > 0.9  # nothing has happened yet
    assert gap[21:35].max() < 0.01
    assert evidence(model, records, 0.25, 0.5).min() > 0.9
    assert evidence(model, records, 0.75, 1.0).min() > 0.8


def test_a_step_outside_tells_what_comes():
    records = _records(_step(120) - 2 * _step(30))
    assert evidence(as_blocks(TWO, records), records, 0.5, 0.75).min() > 0.5


def test_a_gap_of_noise_counts_nearly_whole():
    """About a third of the parameters' share of the samples is the mean variance: λ / (1 − λ)."""
    rng = np.random.default_rng(5)
    records = _records(rng.normal(size=2000))
    found = evidence(as_blocks(TWO, records), records, 0.25, 0.5)
    parameters = 2 + 2 + 1 + 1  # poles and zeros, a direct gain and an offset
    expected = parameters / 3 / 500
    assert np.mean(1 / found - 1) == pytest.approx(expected, rel=0.4)


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_where_nothing_moves_there_is_a_number(level):
    records = _records(np.full(60, level))
    for model in (as_blocks(TWO, records), static(records)):
        found = evidence(model, records, 0.25, 0.5)
        assert np.isfinite(found).all()
        assert found.min() >= 0
        assert found.max() <= 1


def test_units_of_outputs_do_not_matter():
    rng = np.random.default_rng(7)
    records = _records(rng.normal(size=100))
    Y = records.outputs[0] + 0.1 * rng.normal(size=(100, 2))
    both = [Records.of(records.measured, [Y * size]) for size in (1.0, np.array([1.0, 1e3]))]
    size = np.array([[1.0], [1e3]])
    model = as_blocks(TWO._replace(C=np.eye(2), D=np.zeros((2, 1))), both[0])
    models = [model, replace(model, C=size * model.C, D=size * model.D)]
    first, second = (
        evidence(model, some, 0.5, 0.75) for model, some in zip(models, both, strict=True)
    )
    assert first.shape == (25, 2)
    np.testing.assert_allclose(first, second, rtol=1e-6)


def test_errors_that_are_no_evidence_are_the_same_for_all():
    target = [np.zeros((4, 1)), np.zeros((4, 1))]
    simulated = {"x": [target[0] + 0.1, target[1] + 9.0], "y": [target[0] + 0.2, target[1] + 1.0]}
    plain = Gaps(simulated, target)
    assert plain.errors() == pytest.approx({"x": np.sqrt(40.505), "y": np.sqrt(0.52)})
    assert Gaps(simulated, target, [np.ones((4, 1))] * 2).errors() == pytest.approx(plain.errors())
    first = Gaps(simulated, target, [np.ones((4, 1)), np.zeros((4, 1))])
    expected = {"x": np.sqrt((0.1**2 + 1) / 2), "y": np.sqrt((0.2**2 + 1) / 2)}
    assert first.errors() == pytest.approx(expected)
    assert first.error({"x": 0.5, "y": 0.5}) == pytest.approx(np.sqrt((0.15**2 + 1) / 2))
    nothing = Gaps(simulated, target, [np.full((4, 1), 1e-16)] * 2).errors()
    assert nothing["x"] == pytest.approx(nothing["y"])


def test_the_order_that_tells_how_sure_a_gap_is():
    """It is the best in the gaps, of one state or more, and not beyond the chosen order."""
    records = _records(_step(50))
    tried = tuple(
        Candidate(order, settled(TWO, records), 0.0, "", np.ones(order)) for order in range(5)
    )
    target = [np.zeros((3, 1))]
    errors = {"order 0": 0.1, "order 1": 0.4, "order 2": 0.3, "order 3": 0.5, "order 4": 0.2}
    gaps = Gaps({label: [target[0] + one] for label, one in errors.items()}, target)
    choice = OrderChoice(tried[3], tried, (3, 3), 0.1, effective=0.0)
    assert best_tested(choice, gaps) is tried[2]
    assert best_tested(replace(choice, chosen=tried[0]), gaps) is tried[1]
    assert best_tested(choice, Gaps({}, target)) is tried[3]


@pytest.mark.parametrize("seed", [2, 3])
def test_the_right_order_stays_where_the_gap_with_the_only_step_speaks_against_it(seed):
    """It has white errors; in that gap it is far off, as every fit to the rest of the record is."""
    rng = np.random.default_rng(seed)
    U = np.where(np.arange(240) < 130, 0.0, 1.0)[:, None]
    Y = lfilter([0, 0.12], [1, -1.6, 0.72], U[:, 0]) + 0.01 * rng.normal(size=240)
    model = LinearSystemIdentifier(width=0, max_order=5).fit(U, Y)
    assert model.choice_.chosen.label == "order 2"


def test_what_a_state_leaves_is_its_output_after_each_sample():
    ringing = (np.array([-1.2, 0.5]),)
    model = BlockModel(
        ringing, np.zeros((2, 2)), np.array([[1.0, 2.0], [0.5, -1.0]]), np.zeros((2, 2))
    )
    left = _observed(model, 4).reshape(4, 2, 2)
    for sample in range(4):
        np.testing.assert_allclose(left[sample], model.C @ np.linalg.matrix_power(model.A, sample))
