"""How a system is chosen: the criterion of coloured errors, and looks at what was not fitted."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter, tf2ss

from tacit.estimators import LinearSystemIdentifier
from tacit.estimators._as_they_are import settled
from tacit.estimators._gap_choice import settled_on
from tacit.estimators._identification_report import record_of
from tacit.estimators._look_ahead import Look
from tacit.estimators._noise import coloured_criterion
from tacit.estimators._records import Records
from tacit.estimators._system_orders import Candidate, OrderChoice, judged
from tacit.estimators._system_starts import Matrices, hankel_values

ONE = Matrices(np.array([[0.8]]), np.ones((1, 1)), np.ones((1, 1)), np.zeros((1, 1)))


def _record(length=400, *, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(length, 1))
    Y = lfilter([0, 1], [1, -0.8], U, axis=0) + noise * rng.normal(size=U.shape)
    return Records.of([U], [Y])


def _candidate(records, pole, order=1):
    model = settled(ONE._replace(A=np.array([[pole]])), records)
    return Candidate(order, model, 0.0, "", np.ones(1))


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.95])
def test_the_criterion_sees_what_colour_leaves(rho):
    """N log σ² with σ² the part of the errors that their own past does not tell: here 0.04."""
    rng = np.random.default_rng(1)
    errors = [lfilter([0.2], [1, -rho], rng.normal(size=(3000, 2)), axis=0) for _ in range(2)]
    count = 2 * (3000 - 30)
    lags = 2 * np.log(count) if rho else 0.0
    expected = 2 * count * np.log(0.04) + lags
    assert coloured_criterion(errors) == pytest.approx(expected, abs=0.03 * 2 * count)
    longer = [10 * one for one in errors]
    change = coloured_criterion(longer) - coloured_criterion(errors)
    assert change == pytest.approx(2 * count * np.log(100.0))


def test_the_criterion_is_the_likelihood_of_a_stationary_process():
    """Against the density with the dense covariance matrix σ² ρ^|s−t| / (1 − ρ²), at its best."""
    rng = np.random.default_rng(4)
    series = lfilter([1], [1, -0.6], rng.normal(size=(60, 1)), axis=0)[:19]  # one lag at most
    values = (series - series.mean())[:, 0]

    def minus_twice(rho):
        shape = rho ** np.abs(np.subtract.outer(np.arange(19), np.arange(19))) / (1 - rho**2)
        power = values @ np.linalg.solve(shape, values) / 19
        return 19 * np.log(power) + np.linalg.slogdet(shape)[1]

    burg = 2 * values[1:] @ values[:-1] / (values[1:] @ values[1:] + values[:-1] @ values[:-1])
    expected = min(minus_twice(0.0), minus_twice(burg) + np.log(19))
    assert coloured_criterion([series], [True]) == pytest.approx(expected)


def test_what_fades_is_not_a_disturbance():
    """A decay is foretold by its own past without an error, but it is not stationary."""
    decay = 0.8 ** np.arange(100.0)[:, None]
    assert coloured_criterion([decay], [True]) > 100 * np.log(1e-5)


def test_the_trace_of_a_fitted_initial_state_is_left_out():
    """Where a record does not begin at rest, its first samples do not count; else they do."""
    errors = np.random.default_rng(6).normal(size=(400, 1))
    spoilt = np.concatenate([errors[:30] + 10, errors[30:]])
    assert coloured_criterion([spoilt]) == coloured_criterion([errors])
    assert coloured_criterion([spoilt], [True]) > coloured_criterion([errors], [True]) + 100


def _exact(order, seed):
    """A system whose last Hankel value is not small, as a filter (b, a)."""
    rng = np.random.default_rng([order, seed])
    while True:
        angles = rng.uniform(0.3, 2.8, size=order // 2)
        pairs = rng.uniform(0.4, 0.9, size=order // 2) * np.exp(1j * angles)
        real = rng.uniform(-0.9, 0.9, size=order % 2)
        a = np.poly([*pairs, *pairs.conj(), *real]).real
        b = rng.normal(size=order + 1)
        values = hankel_values(Matrices(*tf2ss(b, a)))
        if values[-1] > 0.02 * values[0]:
            return b, a


@pytest.mark.parametrize("length", [60, 150, 400])
@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_order_of_an_exact_response_is_found(order, length, seed):
    response = lfilter(*_exact(order, seed), np.eye(1, length)[0])
    model = LinearSystemIdentifier(max_order=7).fit_response(response)
    assert model.order_ == order
    np.testing.assert_allclose(
        model.system_.impulse_response(length)[:, 0, 0], response, atol=1e-6 * response.std()
    )


@pytest.mark.parametrize("kind", ["white", "a step", "sines", "held"])
@pytest.mark.parametrize(("order", "length"), [(1, 60), (2, 150), (3, 60), (4, 600), (5, 600)])
def test_the_order_of_an_exact_record_is_found(order, length, kind):
    """No noise: neither the errors' colour nor rounding in the gaps may be taken for a reason."""
    rng, time = np.random.default_rng([order, length]), np.arange(length)
    inputs = {
        "white": rng.normal(size=length),
        "a step": 1.0 * (time >= 5),
        "sines": np.sin(np.outer(time, rng.uniform(0.1, 3, size=order + 1))).sum(axis=1),
        "held": np.repeat(rng.normal(size=length), 10)[:length],
    }[kind]
    outputs = lfilter(*_exact(order, 0), np.concatenate([rng.normal(size=50), inputs]))[50:]
    model = LinearSystemIdentifier(width=0, max_order=7).fit(inputs[:, None], outputs)
    assert model.order_ == order


@pytest.mark.parametrize("noise", [1e-8, 1e-5, 1e-3])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_order_of_a_nearly_exact_response_is_found(order, noise):
    rng = np.random.default_rng([order, 9])
    response = lfilter(*_exact(order, 0), np.eye(1, 80)[0])
    response += noise * np.abs(response).max() * rng.normal(size=80)
    assert LinearSystemIdentifier(max_order=6).fit_response(response).order_ == order


def test_slow_errors_do_not_ask_for_a_state():
    """A wandering level is fitted by a slow mode: by white errors' BIC that is worth a state."""
    clean = _record(600)
    rng = np.random.default_rng(3)
    wander = lfilter([0.05], [1, -0.98], rng.normal(size=(600, 1)), axis=0)
    records = Records.of(clean.measured, [clean.outputs[0] + wander])
    free = np.block([[ONE.A, np.zeros((1, 1))], [np.zeros((1, 1)), 0.995 * np.eye(1)]])
    wide = Matrices(free, np.array([[1.0], [1e-9]]), np.ones((1, 2)), np.zeros((1, 1)))
    small = _candidate(records, 0.8)
    large = Candidate(2, settled(wide, records), 0.0, "", np.ones(2))
    first, second = judged(records, [small, large])
    assert first.criterion < second.criterion


def test_a_gap_is_neither_fitted_nor_looked_at():
    records = _record(400)
    look = Look.at(records, 0.25, 0.5)
    assert [len(one) for one in look.kept.outputs] == [100, 300 - 100]
    assert [len(y) for _, y in look.before] == [100]
    assert [len(y) for _, y in look.gap] == [100]
    spoilt = records.outputs[0].copy()
    spoilt[100:200] = 7.0
    other = Look.at(replace(records, outputs=(spoilt,)), 0.25, 0.5)
    for one, two in zip(look.kept.outputs, other.kept.outputs, strict=True):
        np.testing.assert_array_equal(one, two)
    last = Look.at(records, 0.75, 1.0)
    assert [len(one) for one in last.kept.outputs] == [300]


def test_after_a_gap_nothing_is_at_rest():
    records = Records.of([np.ones((40, 1))], [np.ones((40, 1))], at_rest=True)
    driven = Look.at(records, 0.25, 0.5).kept.driven
    assert not driven[0][0].any()
    np.testing.assert_array_equal(driven[1][0], [0.0, 0.0, 1.0])


@pytest.mark.parametrize("rests", [True, np.True_, 1])
def test_all_records_may_begin_at_rest(rests):
    clean = _record(60)
    records = Records.of(2 * clean.measured, 2 * list(clean.outputs), at_rest=rests)
    assert records.resting == [True, True]
    model = LinearSystemIdentifier(width=0, max_order=1, at_rest=rests)
    assert model.fit(clean.measured[0], clean.outputs[0]).order_ == 1


def test_what_overflows_in_a_gap_has_no_number_in_the_record_of_it():
    records = _record(60, noise=0.1)
    model = LinearSystemIdentifier(width=0, max_order=1)
    model.fit(records.measured[0], records.outputs[0])
    model.choice_ = replace(model.choice_, ahead={"order 0": np.inf, "order 1": 0.5})
    told = record_of(model)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert [one["error_ahead"] for one in told["tried"]] == [None, 0.5]


def test_the_right_system_fills_a_gap_and_a_wrong_one_does_not():
    records = _record(400)
    look = Look.at(records, 0.5, 0.75)
    right, wrong = (look.simulated(_candidate(look.kept, pole)) for pole in (0.8, 0.2))
    np.testing.assert_allclose(right, look.measured, atol=1e-10)
    assert np.mean((wrong - look.measured) ** 2) > 0.1


def _choice(records, ahead, chosen="order 1"):
    tried = tuple(replace(_candidate(records, 0.8, order), order=order) for order in (1, 2, 3))
    first = next(one for one in tried if one.label == chosen)
    return OrderChoice(first, tried, (1, 1), 0.1, 100.0, ahead=ahead)


def test_the_choice_gives_way_by_more_than_a_quarter_only():
    records = _record(100)
    near = _choice(records, {"order 1": 1.2, "order 2": 1.0, "order 3": 1.1})
    assert settled_on(near, records, near.tried) is near
    choice = _choice(records, {"order 1": 1.3, "order 2": 1.0, "order 3": 1.1})
    far = settled_on(choice, records, choice.tried)
    assert (far.chosen.label, far.instead_of, far.interval) == ("order 2", "order 1", (1, 2))


def test_a_mode_that_outlasts_the_record_gives_way_to_an_equal_without():
    records = _record(100)
    ahead = {"order 1": 1.0, "order 2": 1.2, "order 3": 1.3}
    choice = _choice(records, ahead)
    lasting = replace(choice.chosen, model=_candidate(records, 0.9999).model)
    choice = replace(choice, chosen=lasting, tried=(lasting, *choice.tried[1:]))
    assert settled_on(choice, records, choice.tried).chosen.label == "order 2"
    worse = replace(choice, ahead={**ahead, "order 2": 1.3})
    assert settled_on(worse, records, choice.tried).chosen.label == "order 1"


def test_a_choice_that_was_left_out_gives_way_to_what_is_worse():
    records = _record(100)
    choice = _choice(records, {"order 1": 1.0, "order 2": 3.0, "order 3": 4.0})
    assert settled_on(choice, records, choice.tried[1:]).chosen.label == "order 2"
    assert settled_on(choice, records, []) is choice


def test_long_steps_show_a_third_state():
    """Through an impulse response it is below the noise, but the whole record knows it."""
    rng = np.random.default_rng(5)
    levels = np.repeat(rng.normal(size=12), 50)[:, None]
    pair = 0.9 * np.exp(0.5j)
    parts = [
        lfilter([0, 1, 0.3], [1, -2 * pair.real, abs(pair) ** 2], levels[:, 0]),
        3 * lfilter([0, 0.1], [1, -0.9], levels[:, 0]),
    ]
    clean = sum(parts)
    noisy = clean + 0.05 * clean.std() * rng.normal(size=600)
    model = LinearSystemIdentifier(width=0, max_order=5).fit(levels, noisy)
    assert model.order_ == 3
    assert not model.choice_.identifiable
    assert "not identifiable at this noise" in model.report()
