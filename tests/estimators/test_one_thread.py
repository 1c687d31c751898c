"""Estimators work with one thread of BLAS, and leave the pools as they were."""

import threading

import jax
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import tacit
from tacit.estimators import DeepMatrixCompleter, LinearSystemIdentifier
from tacit.estimators._one_thread import one_thread
from tacit.models import Diagonal, DiagonalSSM, LinearRNN, LRURing
from tacit.problems import PopulationLoss


def threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        assert threads() == {2}
        yield
        assert threads() == {2}


class Spy:
    """A function in place of another that notes how many threads there are."""

    def __init__(self, monkeypatch, owner, name, error=None):
        self.seen, self.error, self.inner = set(), error, getattr(owner, name)
        spy = self
        monkeypatch.setattr(owner, name, lambda *args, **kwargs: spy(*args, **kwargs))

    def __call__(self, *args, **kwargs):
        self.seen |= threads()
        if self.error is not None:
            raise self.error
        return self.inner(*args, **kwargs)


def matrix():
    given = np.outer(np.arange(1.0, 9), np.arange(1.0, 7))
    given[2, 3] = np.nan
    return given


def record():
    inputs = np.random.default_rng(0).normal(size=(60, 1))
    return inputs, np.cumsum(inputs[:, 0]) * 0.1


def test_a_completer_fits_transforms_and_diagnoses_with_one(monkeypatch):
    model = DeepMatrixCompleter(depth=2, weight_decay=0.1, centre=True, max_steps=5)
    inside = Spy(monkeypatch, np.linalg, "svd")
    model.fit(matrix())
    assert inside.seen == {1}
    looked = Spy(monkeypatch, np.linalg, "eigvalsh")
    model.diagnose(matrix())
    model.partial_fit(matrix())
    assert looked.seen == {1}
    solved = Spy(monkeypatch, np.linalg, "solve")
    model.transform(matrix()[:1] + 0.5)
    assert solved.seen == {1}


def test_an_identifier_fits_simulates_and_compares_with_one(monkeypatch):
    from tacit.estimators import _identification

    model = LinearSystemIdentifier(order=1, width=0)
    inside = Spy(monkeypatch, np.linalg, "lstsq")
    model.fit(*record())
    assert inside.seen == {1}
    inside.seen.clear()
    model.compare(0.3)
    assert inside.seen == {1}
    ahead = Spy(monkeypatch, _identification, "validated")
    model.predict(record()[0])
    assert ahead.seen == {1}


def test_a_regime_is_told_with_one(monkeypatch):
    from tacit.estimators import _regime

    inside = Spy(monkeypatch, _regime, "lazy_prediction")
    layer = DiagonalSSM.random(LRURing(0.4, 0.9), 4, key=jax.random.key(0))
    teacher = LinearRNN(Diagonal([0.9]), np.ones((1, 1)), np.ones((1, 1)))
    tacit.regime(layer, PopulationLoss.of(teacher, 4))
    assert inside.seen == {1}


def test_pools_are_given_back_after_an_error(monkeypatch):
    inside = Spy(monkeypatch, np.linalg, "svd", error=RuntimeError("stop"))
    with pytest.raises(RuntimeError, match="stop"):
        DeepMatrixCompleter(depth=2, weight_decay=0.1, centre=True, max_steps=5).fit(matrix())
    assert inside.seen == {1}


def test_of_two_python_threads_the_last_gives_the_pools_back():
    first_in, second_in, first_out = (threading.Event() for _ in range(3))
    seen = []

    @one_thread
    def early():
        first_in.set()
        assert second_in.wait(30)

    @one_thread
    def late():
        second_in.set()
        assert first_out.wait(30)
        seen.append(threads())  # the first has left, and this one still works

    one, other = threading.Thread(target=early), threading.Thread(target=late)
    one.start()
    assert first_in.wait(30)
    other.start()
    one.join(30)
    first_out.set()
    other.join(30)
    assert seen == [{1}]
