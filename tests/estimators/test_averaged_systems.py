"""An average of systems: what it simulates, how it is cut down, whom it leaves out."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import solve_discrete_lyapunov
from scipy.signal import lfilter

from tacit.estimators import LinearSystem, LinearSystemIdentifier
from tacit.estimators._as_they_are import settled
from tacit.estimators._average import Averaged, averaged, combined
from tacit.estimators._block_model import simulate
from tacit.estimators._gain import peak_gain
from tacit.estimators._gap_choice import Gaps, decided, mixed, without_loud
from tacit.estimators._identification_report import record_of
from tacit.estimators._records import Records
from tacit.estimators._system_orders import Candidate, OrderChoice, as_matrices
from tacit.estimators._system_starts import Matrices


def _system(poles, gains, direct=0.0):
    poles, gains = np.asarray(poles, float), np.asarray(gains, float)
    return Matrices(np.diag(poles), np.ones((len(poles), 1)), gains[None, :], np.array([[direct]]))


def _records(length=300, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(length, 1))
    Y = 0.4 + lfilter([0, 1], [1, -0.8], U, axis=0) + noise * rng.normal(size=U.shape)
    return Records.of([U], [Y])


def _candidate(system, records, label=""):
    model = settled(system, records)
    return _Named(len(system.A), model, 0.0, label, np.ones(len(system.A)))


class _Named(Candidate):
    @property
    def label(self):
        return self.start


def _pair(records):
    return [_candidate(_system([p], [1.0]), records, n) for p, n in ((0.8, "x"), (0.7, "y"))]


def _free(system, inputs):
    return LinearSystem(*system, np.zeros(1), np.zeros(1)).simulate(inputs)[0]


def _mean(parts, records):
    return sum(weight * simulate(one.model, records)[0] for one, weight in parts)


def _rms(values):
    return np.sqrt(np.mean(values**2))


def test_all_states_side_by_side_simulate_the_mean():
    """Initial states and offsets as well; without them, it is the mean for any other input."""
    records = _records()
    systems = [(_system([0.8, -0.3], [1.0, 2.0], 0.5), 0.7), (_system([0.95], [0.2]), 0.3)]
    parts = [(_candidate(one, records), weight) for one, weight in systems]
    whole, offset = combined([(one.model, weight) for one, weight in parts], records)
    drive = records.driven[0] * [1.0, np.sqrt(records.samples)]
    answer = LinearSystem(*whole, np.zeros(2), offset).simulate(drive)[0][1:]
    np.testing.assert_allclose(answer, _mean(parts, records), atol=1e-10)
    inputs = np.random.default_rng(1).normal(size=(200, 1))
    free = whole._replace(B=whole.B[:, :1], D=whole.D[:, :1])
    mean = sum(weight * _free(one, inputs) for one, weight in systems)
    np.testing.assert_allclose(_free(free, inputs), mean, atol=1e-10)


def test_an_average_simulates_the_mean_but_for_the_loss_that_it_states():
    """Three systems that are nearly the same have ten states together and need one or two."""
    records = _records()
    systems = [
        _system([0.80, 0.1, -0.2], [1.0, 1e-3, 1e-3]),
        _system([0.79, 0.5, -0.6], [1.05, 2e-3, 1e-3]),
        _system([0.82, 0.3, 0.2, 0.0], [0.9, 1e-3, 1e-3, 1e-3]),
    ]
    weights = [0.5, 0.3, 0.2]
    pairs = list(zip(systems, weights, strict=True))
    parts = [(_candidate(one, records, str(k)), w) for k, (one, w) in enumerate(pairs)]
    found = averaged(parts, records, 10)
    assert found.order <= 3
    assert found.parts == (("0", 0.5), ("1", 0.3), ("2", 0.2))
    assert found.model.is_stable(1.0)
    mean = _mean(parts, records)
    errors = _rms(records.outputs[0] - mean)
    change = _rms(simulate(found.model, records)[0] - mean)
    assert change / errors == pytest.approx(found.lost, rel=1e-6)
    assert found.lost <= 0.1
    fresh = np.random.default_rng(9).normal(size=(500, 1))
    later = _free(as_matrices(found.model, 1), fresh) - sum(
        w * _free(one, fresh) for one, w in pairs
    )
    assert _rms(later) < 0.15 * errors


def test_an_offset_does_not_outlive_the_slow_mode_that_it_belongs_to():
    """A mode that no input moves starts at 50 and hardly fades: the offset is −50 with it."""
    records = _records()
    plain = _candidate(_system([0.8], [1.0]), records, "plain")
    slow = settled(_system([0.8], [1.0]), records)
    slow = replace(
        slow,
        sections=(*slow.sections, np.array([-0.9999])),
        B=np.concatenate([slow.B, [[0.0, 50.0]]]),
        C=np.concatenate([slow.C, [[1.0]]], axis=1),
        D=slow.D - [[0.0, 50.0]],
    )
    other = _Named(2, slow, 0.0, "slow", np.ones(2))
    found = averaged([(plain, 0.5), (other, 0.5)], records, 5)
    level = found.model.D[0, -1]
    kept = np.abs(np.linalg.eigvals(found.model.A)).max() > 0.99
    assert level < -20 if kept else abs(level - 0.4) < 1
    assert _rms(simulate(found.model, records)[0] - records.outputs[0]) < 0.5
    alone = averaged([(plain, 0.5), (other, 0.5)], records, 1)
    assert alone.lost > 0.1  # one state cannot say both, and that is told


def test_an_average_has_no_more_states_than_allowed_and_says_what_that_costs():
    records = _records(noise=1e-3)
    parts = [
        (_candidate(_system([0.9, -0.7], [1.0, 1.0]), records, "a"), 0.5),
        (_candidate(_system([0.5, -0.2], [2.0, -1.0]), records, "b"), 0.5),
    ]
    assert averaged(parts, records, 4).lost <= 0.1
    short = averaged(parts, records, 1)
    assert short.order == 1
    assert short.lost > 0.1


def test_an_average_of_slow_and_ringing_systems_is_stable():
    records = _records()
    ring = 0.9999 * np.array([[np.cos(0.3), np.sin(0.3)], [-np.sin(0.3), np.cos(0.3)]])
    ringing = Matrices(ring, np.array([[1e-3], [0.0]]), np.ones((1, 2)), np.zeros((1, 1)))
    slow = _system([0.99998, 0.8], [1e-4, 1.0])
    found = averaged(
        [(_candidate(ringing, records, "a"), 0.4), (_candidate(slow, records, "b"), 0.6)],
        records,
        12,
    )
    assert np.abs(np.linalg.eigvals(found.model.A)).max() < 1
    A, B = found.model.A, found.model.B[:, :1]
    assert np.linalg.eigvalsh(solve_discrete_lyapunov(A, B @ B.T)).min() > -1e-6


def test_averages_of_gains_alone():
    records = _records()
    parts = [(_candidate(_system([], [], d), records, str(d)), 0.5) for d in (1.0, 2.0)]
    found = averaged(parts, records, 3)
    assert found.order == 0
    np.testing.assert_allclose(found.model.D[:, 0], 1.5)


def test_the_peak_gain():
    assert peak_gain(_system([0.9], [1.0])) == pytest.approx(10.0)  # 1 / (1 − 0.9), at rest
    assert peak_gain(_system([-0.9], [1.0], 3.0)) == pytest.approx(7.0)  # |3 − 10| at the top
    assert peak_gain(_system([], [], -2.0)) == pytest.approx(2.0)
    pole = 0.9999 * np.exp(1.2345j)  # between two angles of any grid
    ring = np.array([[pole.real, pole.imag], [-pole.imag, pole.real]])
    system = Matrices(ring, np.array([[1.0], [0.0]]), np.array([[1.0, 0.0]]), np.zeros((1, 1)))
    close = np.exp(1j * np.linspace(1.23, 1.24, 100_001))
    dense = np.abs((close - pole.real) / (close**2 - 2 * pole.real * close + abs(pole) ** 2))
    assert peak_gain(system) == pytest.approx(dense.max(), rel=1e-3)


def _choice(first):
    return OrderChoice(first, (first,), (1, 1), 0.1, effective=0.0)


def _four(records):
    """The last has a gain at the highest frequencies that the others have not."""
    return [
        _candidate(_system([0.8, -0.99], [1.0, loud]), records, name)
        for name, loud in (("order 2", 0.0), ("a", 1e-3), ("b", 0.0), ("loud", 5.0))
    ]


@pytest.mark.parametrize("error", [0.1, 0.06])
def test_a_system_with_a_gain_that_none_of_its_equals_has_is_left_out(error):
    """Even if it is somewhat better in the gaps: it would be far off under another input."""
    records = _records()
    first, *others = _four(records)
    target = [np.zeros((5, 1))]
    found = {one.label: [np.full((5, 1), 0.1)] for one in (first, *others)}
    gaps = Gaps({**found, "loud": [np.full((5, 1), error)]}, target)
    choice = replace(_choice(first), ahead=gaps.errors())
    assert [one.label for one in without_loud(choice, others, 1)] == ["order 2", "a", "b"]
    found = decided(_choice(first), records, others, gaps)
    assert dict(found.chosen.parts).keys() == {"order 2", "a", "b"}


def test_whoever_fails_in_the_gaps_is_no_judge_of_a_gain():
    records = _records()
    first, *others = _four(records)
    found = {one.label: [np.full((5, 1), 0.1)] for one in (first, *others)}
    gaps = Gaps({**found, "loud": [np.full((5, 1), 0.04)]}, [np.zeros((5, 1))])
    alone = decided(_choice(first), records, others, gaps)
    assert max(alone.chosen.parts, key=lambda part: part[1])[0] == "loud"


def test_weights_fall_with_the_fourth_power_of_the_error():
    records = _records()
    first, other = _pair(records)
    choice = _choice(first)
    target = [np.zeros((4, 1)), np.zeros((6, 1))]
    gaps = Gaps({"x": [one + 0.2 for one in target], "y": [one - 0.1 for one in target]}, target)
    choice = replace(choice, ahead=gaps.errors())
    assert choice.ahead == pytest.approx({"x": 0.2, "y": 0.1})
    found = mixed(choice, choice, records, [other], gaps)
    assert isinstance(found.chosen, Averaged)
    assert dict(found.chosen.parts) == pytest.approx({"x": 1 / 17, "y": 16 / 17})
    assert found.ahead["average"] == pytest.approx(abs(0.2 / 17 - 0.1 * 16 / 17))
    assert found.instead_of == "x"
    assert np.isfinite(found.chosen.criterion)


@pytest.mark.parametrize(
    ("effective", "other", "alone"),
    [
        (300.0, [[-0.1], [0.1]], False),  # white, but the average has no error in the gap
        (300.0, [[0.105], [-0.105]], True),  # white, and as good as the average
        (100.0, [[0.105], [-0.105]], False),  # coloured errors: it does not explain all
    ],
)
def test_an_order_with_white_errors_that_is_as_good_stays_alone(effective, other, alone):
    records = _records()
    first, beside = _pair(records)
    gaps = Gaps({"x": [np.array([[0.1], [-0.1]])], "y": [np.array(other)]}, [np.zeros((2, 1))])
    choice = OrderChoice(first, (first,), (1, 1), 0.1, effective, ahead=gaps.errors())
    found = mixed(choice, choice, records, [beside], gaps)
    assert (found is choice) == alone


def test_what_cannot_be_averaged_stays_alone():
    records = _records()
    first, other = _pair(records)
    choice = _choice(first)
    target = [np.zeros((4, 1))]
    overflown = Gaps({"x": [target[0] + 0.1], "y": [target[0] + np.inf]}, target)
    choice = replace(choice, ahead=overflown.errors())
    assert choice.ahead["y"] == np.inf
    assert mixed(choice, choice, records, [other], overflown) is choice
    exact = Gaps({"x": target, "y": [target[0] + 1.0]}, target)
    choice = replace(choice, ahead=exact.errors())
    assert mixed(choice, choice, records, [other], exact) is choice
    assert mixed(choice, choice, records, [], exact) is choice
    nobody = replace(choice, ahead={})
    assert decided(nobody, records, [], Gaps({}, target)).chosen is first


def test_an_average_that_the_allowed_states_cannot_say_is_not_taken():
    """One state for a record of two modes: the truncation would be far from every part."""
    rng = np.random.default_rng(8)
    U = rng.normal(size=(300, 1))
    Y = _free(_system([0.8, -0.7], [1.0, 1.0]), U) + 1e-2 * rng.normal(size=U.shape)
    records = Records.of([U], [Y])
    first, other = (
        _candidate(_system([0.8, pole], [1.0, 1.0]), records, name)
        for name, pole in (("x", -0.7), ("y", -0.69))
    )
    small = _candidate(_system([0.8], [1.0]), records, "small")
    target = [np.zeros((4, 1))]
    gaps = Gaps({"x": [target[0] + 0.1], "y": [target[0] - 0.1]}, target)
    choice = OrderChoice(first, (small, first), (1, 2), 0.1, effective=0.0, ahead=gaps.errors())
    assert isinstance(mixed(choice, choice, records, [other], gaps).chosen, Averaged)
    short = replace(choice, tried=(small,))
    assert mixed(short, short, records, [other], gaps) is short


@pytest.fixture(scope="module")
def drifting():
    """A bent sensor and a wandering level: no order leaves white errors."""
    rng = np.random.default_rng(2)
    U = rng.normal(size=(300, 1))
    clean = np.tanh(0.7 * lfilter([0, 1], [1, -0.8], U[:, 0]))
    Y = 20.0 + 5.0 * (clean + lfilter([0.05], [1, -0.97], rng.normal(size=300)))
    return LinearSystemIdentifier(width=0, max_order=3).fit(U, Y), U


def test_an_identifier_says_what_its_average_is_made_of(drifting, tmp_path):
    model, U = drifting
    chosen = model.choice_.chosen
    assert isinstance(chosen, Averaged)
    assert sum(weight for _, weight in chosen.parts) == pytest.approx(1.0, abs=1e-5)
    assert model.order_ == len(model.system_.A) <= 3
    low, high = model.order_interval_
    assert low <= model.order_ <= high
    assert model.system_.is_stable()
    told = record_of(model)
    assert told["average_of"] == dict(chosen.parts)
    assert told["truncation_loss"] <= 0.1
    assert told["errors_ahead"]["average"] > 0
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    report = model.report()
    assert "average of several systems" in report
    for label, _ in chosen.parts:
        assert label.removesuffix(", as it is") in report
    model.plot()
    path = tmp_path / "model.json"
    model.system_.save(path)
    again = LinearSystem.load(path)
    state = model.final_states_[0]
    np.testing.assert_allclose(again.simulate(U, state)[0][:, 0], model.predict(U, state=state))
    scipys = model.to_scipy()
    np.testing.assert_allclose(scipys.A, model.system_.A)


def test_an_order_that_is_asked_for_is_no_average(drifting):
    model, U = drifting
    Y = model._data[1][0]
    asked = LinearSystemIdentifier(width=0, order=2).fit(U, Y)
    assert asked.order_ == 2
    assert record_of(asked)["average_of"] is None
    assert record_of(asked)["truncation_loss"] is None


def test_a_constant_input_is_given_no_gain():
    """Its mean is not exact: the rounding that is left must not be taken for an input."""
    rng = np.random.default_rng(6)
    U = np.full((200, 1), 0.1 + 0.2)
    Y = lfilter([1], [1, -0.9], rng.normal(size=200))
    model = LinearSystemIdentifier(width=0, max_order=3).fit(U, Y)
    later = model.predict(np.full((50, 1), 1.3), state=model.final_states_[0])
    assert np.abs(later).max() < 10 * np.abs(Y).max()
