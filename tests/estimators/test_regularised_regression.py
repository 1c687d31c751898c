"""The regularised ARX model: its evidence, what it shrinks, what it refuses."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.signal import lfilter
from scipy.stats import multivariate_normal

from tacit.estimators._records import Records
from tacit.estimators._regularised_regression import (
    Evidence,
    Lags,
    regularised_regression,
    regularised_system,
)
from tacit.estimators._system_starts import autoregression, observer_form


def _lags(at, places):
    places = np.asarray(places)
    return Lags(slice(at, at + len(places)), np.maximum.outer(places, places))


def _evidence(samples=30, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(samples, 7)), rng.normal(size=samples)
    sequences = [_lags(0, [1, 2, 3]), _lags(3, [0, 1, 2, 3])]
    Q, R = np.linalg.qr(X)
    seen = Q.T @ y
    return X, y, Evidence(R, seen, float(y @ y - seen @ seen), samples, sequences)


HYPER = np.array([0.3, 0.5, -0.7, 1.2, -0.4])


def test_the_prior_is_the_kernel():
    *_, evidence = _evidence()
    prior = evidence.prior(HYPER)
    size, fading = np.exp(-0.7), 1 / (1 + np.exp(-1.2))
    assert prior[4, 6] == pytest.approx(size * fading**3)  # lags 1 and 3
    assert prior[3, 3] == pytest.approx(size)
    assert not prior[:3, 3:].any()
    assert np.linalg.eigvalsh(prior).min() > 0


def test_the_evidence_is_the_density_of_the_target():
    X, y, evidence = _evidence()
    spread = X @ evidence.prior(HYPER) @ X.T + np.exp(HYPER[-1]) * np.eye(len(y))
    dense = -2 * multivariate_normal(np.zeros(len(y)), spread).logpdf(y)
    value, _ = evidence.surprise(HYPER)
    assert value == pytest.approx(dense - len(y) * np.log(2 * np.pi))
    error = check_grad(lambda h: evidence.surprise(h)[0], lambda h: evidence.surprise(h)[1], HYPER)
    assert error < 1e-4


def test_the_coefficients_are_the_expectation_given_the_target():
    X, y, evidence = _evidence()
    prior, noise = evidence.prior(HYPER), np.exp(HYPER[-1])
    expected = np.linalg.solve(X.T @ X / noise + np.linalg.inv(prior), X.T @ y / noise)
    np.testing.assert_allclose(evidence.expected(HYPER), expected, rtol=1e-8)


def _record(length, *, noise, seed=0):
    """A push acts where the input does: y_t = 0.8 y_{t−1} + u_{t−1} + e_t."""
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(length, 2))
    Y = lfilter([1], [1, -0.8], np.roll(U[:, 0], 1) + noise * rng.normal(size=length))
    return Records.of([U], [Y[:, None]])


def test_a_long_record_shows_the_right_regression():
    fit = regularised_regression(_record(4000, noise=0.1))
    assert fit.F.shape == (50, 1, 1)
    assert fit.G.shape == (51, 1, 2)
    # Past errors are worth 1/√4000 = 0.016 to each coefficient of past outputs.
    assert fit.F[0, 0, 0] == pytest.approx(0.8, abs=0.05)
    assert fit.G[1, 0, 0] == pytest.approx(1.0, abs=0.01)
    assert np.abs(fit.F[1:]).max() < 0.05
    assert np.abs(fit.G[:, 0, 1]).max() < 0.02  # the second input does nothing
    assert np.std(fit.errors) == pytest.approx(0.1, rel=0.05)


def test_a_short_record_is_shrunk():
    """With so many lags least squares fits the noise; the prior keeps to what is there."""
    records = _record(150, noise=1.0, seed=3)
    fit = regularised_regression(records)
    plain = autoregression(records, len(fit.F))
    truth = 0.8 ** np.arange(19)

    def error(one):
        system = observer_form(one)
        reach, found = system.B[:, 0], []
        for _ in truth:
            found.append(system.C[0] @ reach)
            reach = system.A @ reach
        return np.linalg.norm(np.array(found) - truth)

    assert error(fit) < 0.3 * error(plain)


def test_its_system_is_stable_and_as_small_as_asked():
    records = _record(600, noise=0.2)
    system = regularised_system(records, 5)
    assert 1 <= len(system.A) <= 5
    assert len(regularised_system(records, 1).A) == 1 < len(system.A)
    assert np.abs(np.linalg.eigvals(system.A)).max() == pytest.approx(0.8, abs=0.05)


def test_several_outputs_and_records():
    rng = np.random.default_rng(4)
    U = [rng.normal(size=(n, 1)) for n in (300, 200)]
    Y = [
        np.stack([lfilter([0, 1], [1, -0.7], u[:, 0]), lfilter([0, 0, 2.0], [1], u[:, 0])], axis=1)
        for u in U
    ]
    Y = [y + 0.01 * rng.normal(size=y.shape) for y in Y]
    system = regularised_system(Records.of(U, Y), 4)
    gain = system.C @ np.linalg.solve(np.eye(len(system.A)) - system.A, system.B) + system.D
    np.testing.assert_allclose(gain[:, 0], [1 / 0.3, 2.0], rtol=0.05)


def test_what_explodes_or_is_too_short_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="too short"):
        regularised_regression(Records.of([np.ones((2, 1))], [np.ones((2, 1))]))
    growing = np.cumprod(np.full(60, 1.2))[:, None]
    rng = np.random.default_rng(1)
    with pytest.raises(np.linalg.LinAlgError, match="not stable"):
        regularised_system(Records.of([rng.normal(size=(60, 1))], [growing / growing.std()]), 3)
