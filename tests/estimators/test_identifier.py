"""`LinearSystemIdentifier`: what it finds, what it refuses, what it writes."""

import warnings

import numpy as np
import pytest
from scipy.signal import butter, lfilter
from sklearn.utils.estimator_checks import check_estimator

from tacit.estimators import LinearSystem, LinearSystemIdentifier
from tacit.estimators._gradient_start import correlations
from tacit.estimators._records import Records, Scale

RNG = np.random.default_rng(0)
B, A = butter(3, 0.3)
U = RNG.normal(size=(600, 1)) + 5.0
CLEAN = lfilter(B, A, U[:, 0] - 5.0) * 40.0 - 7.0
Y = CLEAN + 0.01 * CLEAN.std() * RNG.normal(size=600)
QUICK = {"width": 0, "max_order": 4}


@pytest.fixture(scope="module")
def fitted():
    """With every start, the descended network among them."""
    return LinearSystemIdentifier(max_order=5).fit(U[:400], Y[:400])


def test_order_poles_and_levels_are_found(fitted):
    assert fitted.order_ == 3
    low, high = fitted.order_interval_
    assert low <= 3 <= high
    np.testing.assert_allclose(
        np.sort_complex(fitted.system_.poles), np.sort_complex(np.roots(A)), atol=0.02
    )
    assert fitted.system_.is_stable()
    gain = fitted.system_.frequency_response(np.array([0.0]))[0, 0, 0]
    assert gain.real == pytest.approx(40.0, rel=0.01)  # of a Butterworth filter times 40
    assert fitted.choice_.floor < fitted.choice_.chosen.hankel[-1]
    assert fitted.choice_.identifiable


def test_it_goes_on_from_where_the_record_ended(fitted):
    ahead = fitted.predict(U[400:], state=fitted.final_states_[0])
    assert ahead.shape == (200,)
    error = np.sqrt(np.mean((ahead - CLEAN[400:]) ** 2)) / CLEAN.std()
    assert error < 0.01
    np.testing.assert_allclose(fitted.predict(U[400:])[100:], ahead[100:], atol=1e-3)


def test_the_baselines_stand_beside_it(fitted):
    found = fitted.compare_on(U[400:], Y[400:])
    assert list(found) == ["tacit", "ARX", "OKID + ERA", "subspace"]
    assert found["tacit"]["error"] < 0.02
    assert found["tacit"]["error"] <= 1.05 * min(one["error"] for one in found.values())


def test_report_figure_and_files(fitted, tmp_path):
    text = fitted.report()
    for words in ("Order 3", "## Poles", "simulated for any length", "more than 6 lags"):
        assert words in text, words
    assert len(fitted.plot().panels) == 4
    path = tmp_path / "model.json"
    fitted.system_.save(path)
    again = LinearSystem.load(path)
    np.testing.assert_array_equal(again.simulate(U)[0], fitted.system_.simulate(U)[0])
    path.write_text('{"format": "other"}')
    with pytest.raises(Exception, match="could not be read as a system"):
        LinearSystem.load(path)


def test_other_packages_get_the_same_system(fitted):
    control = pytest.importorskip("control")
    expected = fitted.system_.impulse_response(30)[:, 0, 0]
    _, (scipys,) = fitted.to_scipy().impulse(n=30)
    np.testing.assert_allclose(scipys[:, 0], expected, atol=1e-9)
    controls = control.impulse_response(fitted.to_control(), T=np.arange(30.0)).outputs
    np.testing.assert_allclose(np.squeeze(controls), expected, atol=1e-9)


def test_records_of_a_system_with_two_inputs_and_outputs():
    rng = np.random.default_rng(1)
    system = LinearSystem(
        np.array([[0.9, 0.2], [-0.2, 0.7]]), rng.normal(size=(2, 2)), rng.normal(size=(2, 2)),
        np.zeros((2, 2)), np.zeros(2), np.zeros(2),
    )  # fmt: skip
    inputs = [rng.normal(size=(length, 2)) for length in (150, 90)]
    outputs = [system.simulate(u, 5 * rng.normal(size=2))[0] for u in inputs]
    noisy = [one + 0.01 * rng.normal(size=one.shape) for one in outputs]
    labels = np.repeat(["a", "b"], [150, 90])
    model = LinearSystemIdentifier(**QUICK)
    model.fit(np.concatenate(inputs), np.concatenate(noisy), records=labels)
    assert model.order_ == 2
    assert len(model.final_states_) == 2
    np.testing.assert_allclose(
        model.system_.impulse_response(20), system.impulse_response(20), atol=0.02
    )


def test_an_impulse_response_is_enough():
    response = lfilter(B, A, np.eye(1, 60)[0])
    model = LinearSystemIdentifier(**QUICK).fit_response(response)
    assert model.order_ == 3
    np.testing.assert_allclose(model.system_.impulse_response(90)[:60, 0, 0], response, atol=1e-6)


def test_a_drift_that_does_not_go_on_is_not_taken_for_a_state():
    """A random walk on top of the output: high orders fit it, and fail on what follows."""
    rng = np.random.default_rng(3)
    walk = np.cumsum(rng.normal(size=500))
    outputs = CLEAN[:500] + 0.5 * CLEAN.std() * walk / walk.std()
    model = LinearSystemIdentifier(width=0, max_order=6).fit(U[:350], outputs[:350])
    found = model.compare_on(U[350:500], outputs[350:])
    assert found["tacit"]["stable"]
    assert found["tacit"]["error"] < 1.25 * min(one["error"] for one in found.values())


def test_the_descended_loss_is_the_simulation_error_of_a_response():
    """Up to a constant: the difference between two responses, of samples with a known past."""
    from tacit.models import Dense, LinearRNN

    scale = Scale.of(U, Y[:, None])
    records: Records = scale.records([U], [Y[:, None]])
    loss = correlations(records, 20)
    drive, target = records.measured[0][:, 0], records.outputs[0][20:, 0]
    found, direct = [], []
    for pole in (0.5, 0.8):
        model = LinearRNN(Dense(np.array([[pole]])), np.ones((1, 1)), np.array([[0.3]]))
        found.append(float(loss.loss(model)))
        lagged = lfilter([0, *(0.3 * pole ** np.arange(20))], [1], drive)[20:]
        known = np.stack([np.ones(580), drive[20:]], axis=1)
        left = target - lagged
        left = left - known @ np.linalg.lstsq(known, left, rcond=None)[0]
        direct.append(np.mean(left**2))
    assert found[1] - found[0] == pytest.approx(direct[1] - direct[0], rel=1e-4)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"order": -1}, "order: received -1"),
        ({"max_order": 1.5}, "max_order: received 1.5"),
        ({"order": 90}, "order: received 90, these 50 samples allow at most"),
        ({"width": -1}, "width: received -1"),
        ({"step": 0}, "step: received 0"),
        ({"at_rest": "no"}, "at_rest: received 'no'"),
    ],
)
def test_wrong_parameters_are_named(change, words):
    with pytest.raises(ValueError, match=words):
        LinearSystemIdentifier(**change).fit(U[:50], Y[:50])


@pytest.mark.parametrize(
    ("X", "y", "records", "words"),
    [
        (U[:1], Y[:1], None, "X: .*minimum of 2"),
        (U[:20] * np.nan, Y[:20], None, "X: .*NaN"),
        (U[:20], Y[:19], None, "X: .*inconsistent numbers of samples"),
        (U[:20] * 1e200, Y[:20], None, "X: received .*e\\+200"),
        (U[:20], Y[:20] * 1e200, None, "y: received .*e\\+20"),
        (U[:20], Y[:20], [0] * 5, "records: received the shape"),
        (U[:20], Y[:20], [0] * 5 + [1] * 10 + [0] * 5, "records: received a label that comes back"),
    ],
)
def test_wrong_data_are_named(X, y, records, words):
    with pytest.raises(ValueError, match=words):
        LinearSystemIdentifier(**QUICK).fit(X, y, records=records)


def test_constant_signals_and_the_shortest_record_have_a_defined_answer():
    still = LinearSystemIdentifier(**QUICK).fit(U[:80], np.full(80, 3.0))
    assert still.order_ == 0
    np.testing.assert_allclose(still.predict(U[:5]), 3.0)
    both = np.concatenate([U[:200], np.full((200, 1), 2.0)], axis=1)
    driven = LinearSystemIdentifier(**QUICK).fit(both, Y[:200])
    np.testing.assert_allclose(driven.system_.B[:, 1], 0, atol=1e-9)
    assert np.isfinite(LinearSystemIdentifier().fit(U[:2], Y[:2]).predict(U[:4])).all()


def test_scikit_learns_checks_pass():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = check_estimator(LinearSystemIdentifier(**QUICK), on_fail=None, on_skip=None)
    assert [one["check_name"] for one in done if one["status"] == "failed"] == []
    assert len(done) > 45
