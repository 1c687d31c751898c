"""The digest of stored variables: what it forgives, and what it sees."""

import numpy as np
import pytest
import xarray

from tacit.reproduction._digest import digest_movements, digest_of

RNG = np.random.default_rng(0)
ERRORS = np.exp(RNG.normal(-6, 4, size=(20, 50)))


def moved(now, was=ERRORS, **options):
    digests = [digest_of(xarray.Dataset({"x": (("a", "b"), v)}), ["x"]) for v in (now, was)]
    return [m.sentence for m in digest_movements(*digests, **options)]


def test_rounding_moves_nothing():
    assert moved(ERRORS * (1 + 1e-6 * RNG.normal(size=ERRORS.shape))) == []
    assert moved(ERRORS + 1e-13 * RNG.normal(size=ERRORS.shape)) == []
    noise = [1e-14 * RNG.normal(size=ERRORS.shape) for _ in range(2)]
    assert moved(*noise) == []


def test_a_cause_is_seen():
    assert moved(1.01 * ERRORS)
    few = ERRORS.copy()
    few[0] *= 2  # one seed of twenty
    assert moved(few)
    assert moved(-ERRORS)


def test_values_that_changed_places_are_seen():
    (sentence,) = moved(ERRORS[:, ::-1])
    assert sentence.startswith("by_place")
    assert moved(np.roll(ERRORS, 1, axis=0))


def test_a_single_run_that_ended_elsewhere_is_forgiven_on_another_machine_only():
    one = ERRORS.copy()
    one[3, 3] *= 1e6
    assert moved(one)
    assert moved(one, same_machine=False) == []
    assert moved(1.2 * ERRORS, same_machine=False)


def test_values_that_are_no_numbers_are_counted():
    gaps = ERRORS.copy()
    gaps[0, 0] = np.nan
    assert "finite 1000 became 999" in moved(gaps)[0]
    assert moved(np.full((2, 3), np.nan), np.full((2, 3), np.nan)) == []


@pytest.mark.parametrize("kind", ["int64", "bool", "complex128"])
def test_other_kinds_of_numbers(kind):
    values = (100 * ERRORS).astype(kind)
    assert moved(values, values) == []
    assert moved(np.zeros_like(values), values)


def test_words_are_counted():
    was = np.array([["converged", "stopped"]])
    assert moved(was, was) == []
    assert moved(np.array([["stopped", "stopped"]]), was) == [
        "converged 1 became 0, stopped 1 became 2"
    ]


def test_variables_that_come_and_go_and_outcomes():
    now, was = {"new": {"values": 1}, "outcome": {"failed": 1}}, {"old": {}, "outcome": {}}
    assert [(m.name, m.kind) for m in digest_movements(now, was)] == [
        ("new", "digest"),
        ("outcome", "outcomes"),
        ("old", "digest"),
    ]
