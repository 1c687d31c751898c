"""Every public function, with one argument at a time replaced by an odd value (tools/doors)."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tacit._doors import door, each, mask, number, numbers, real, whole

ROOT = Path(__file__).parents[2]


def test_no_door_lets_an_odd_value_in_without_a_word(environment_in_short):
    """In a child, since beartype would be at the doors here; all of it is `python tools/doors`."""
    done = subprocess.run(
        [sys.executable, "tools/doors", "--sample", "4", "--light"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environment_in_short,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert int(done.stdout.split()[-6]) > 300, done.stdout  # doors


@door(scale=number(above=0), times=numbers(0, empty=True))
def _inverse(scale, times=None):
    return np.asarray(times) / scale**2


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: _inverse(0.0), "scale: received 0.0, it must be positive and finite"),
        (lambda: _inverse("1"), "scale: received '1', it must be positive and finite"),
        (lambda: _inverse(True), "scale: received True"),
        (lambda: _inverse(10**400), "scale: received an integer of more than 100 digits"),
        (lambda: _inverse(1.0, [-1]), r"times: received \[-1\], .*must not be negative"),
        (lambda: _inverse(1e-200, [1.0]), "scale: received a size as small as 1e-200"),
        (lambda: _inverse(1.0, np.array([1j])), "times: received the dtype complex128"),
        (lambda: whole(1)("n", 1.0), "n: received 1.0, it must be a positive integer"),
        (lambda: whole(1)("n", 2**31), "at most 2,147,483,647"),
        (lambda: whole(2, 5)("n", 6), "n: received 6, it must be an integer from 2 to 5"),
        (lambda: real(2)("m", [1.0]), r"m: received the shape \(1,\), it must be a real matrix"),
        (lambda: real()("m", [np.nan]), "m: received NaN or infinity"),
        (lambda: real(most=10)("m", [11.0]), "m: received entries up to 11"),
        (lambda: mask(2)("o", np.ones((1, 1))), "o: received the dtype float64 .*boolean matrix"),
        (lambda: each(whole())("r", [1, -1]), r"r\[1\]: received -1"),
    ],
)
def test_a_door_names_the_argument_what_it_was_and_what_it_must_be(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@door(answer="any", count=whole(1))
def _counted(first, *rest, count=1):
    return (first, *rest) * count


def test_what_is_given_by_place_is_not_taken_for_what_is_given_by_name():
    assert _counted("a", "b", "c", count=2) == ("a", "b", "c") * 2
    with pytest.raises(ValueError, match="count: received 0"):
        _counted("a", "b", count=0)


def test_an_argument_too_many_is_pythons_own_error():
    with pytest.raises(TypeError, match="positional argument"):
        door(answer="any", count=whole(1))(lambda first, *, count=1: first)("a", "b")


def test_what_passes_a_door():
    np.testing.assert_array_equal(_inverse(2.0, [4.0]), [1.0])
    assert _inverse(np.float32(1), [0]) == [0.0]
    assert _inverse(1.0, times=[]).size == 0
    each(whole())("r", iter("abc"))  # to look at an iterator would use it up


def test_an_answer_may_be_infinite_where_the_door_says_so_or_the_argument_is():
    @door(answer="any")
    def free(x):
        return x * np.inf

    @door(x=number(infinite=True))
    def told(x):
        return x

    assert free(1.0) == np.inf
    assert told(np.inf) == np.inf
    with pytest.raises(ValueError, match="x: received a size as large as 1e\\+300; _outer has"):
        _outer(1e300)


@door(x=number())
def _square(x):
    return np.float64(x) ** 2


@door(x=number())
def _outer(x):
    return _square(x=x)
