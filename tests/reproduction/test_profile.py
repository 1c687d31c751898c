"""Where the time goes: each moment is counted once, and programs are counted."""

import time
from unittest import mock

import jax
import jax.numpy as jnp
import pytest

from tacit._phases import OTHER, counted_as, listen, listening, phase
from tacit.reproduction._profile import PHASES, profiled, whole_words


@pytest.fixture
def clock():
    """A clock that the test moves."""
    with mock.patch.object(time, "perf_counter") as now:
        now.return_value = 0.0
        yield now


def test_a_phase_inside_another_is_taken_off_it(clock):
    with listen() as phases:
        clock.return_value = 1.0
        with phase("running"):
            clock.return_value = 3.0
            counted_as("storing")(lambda: setattr(clock, "return_value", 7.0))()
            clock.return_value = 8.0
        clock.return_value = 8.5
    assert phases.end() == {OTHER: 1.5, "running": 3.0, "storing": 4.0}
    assert listening() is None


def test_what_is_told_twice_is_counted_once(clock):
    with listen() as phases, phase("running"):
        clock.return_value = 4.0
        phases.told("tracing", 1.0)  # from 3 to 4
        clock.return_value = 6.0
        phases.told("tracing", 5.0)  # from 1 to 6, around it
        clock.return_value = 10.0
        phases.told("compiling", 2.0)
    assert phases.end() == {OTHER: 0.0, "tracing": 5.0, "compiling": 2.0, "running": 3.0}
    assert phases.counts == {"tracing": 2, "compiling": 1}


def test_programs_of_jax_are_counted():
    def work():
        return jax.jit(lambda x: jnp.sin(x) + 17.25)(jnp.ones(3)).block_until_ready()

    jnp.ones(3).block_until_ready()
    with profiled() as profile:
        work()
    work()  # outside: not counted
    found = profile.to_dict()
    assert found["programs"] == 1
    assert found["tracing"] > 0
    assert found["compiling"] > 0
    assert set(found) == {*PHASES, "programs"}
    both = whole_words([{"profile": found}, {"profile": found}, {"skipped": "no data"}])
    assert "(2 programs)" in both


def test_an_error_inside_leaves_the_clocks_in_order():
    with listen() as phases:
        with pytest.raises(ValueError, match="one"), phase("running"):
            raise ValueError("one")
        with phase("storing"):
            pass
    assert set(phases.end()) == {OTHER, "running", "storing"}
