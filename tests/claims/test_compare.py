"""What `--compare` shows of claims."""

import math

import pytest

from tacit.claims import Claims, compare, same


def made(method, *values, name="gap", bound=1.0, **terms):
    claim = Claims("p")
    getattr(claim, method)(name, *values, says="s", at_most=bound, **terms)
    return claim[0]


def value(number, **options):
    return made("value", number, **options)


def median(*values, **options):
    return made("median", values, **options)


def kinds(current, reference, **options):
    return [(m.name, m.kind) for m in compare([current], [reference], **options)]


def test_nothing_moved():
    assert compare([value(0.5)], [value(0.5)]) == []
    assert compare([value(0.5 * (1 + 1e-4))], [value(0.5)]) == []  # another machine's rounding
    assert compare([value(math.nan)], [value(math.nan)]) == []


def test_each_kind_of_movement():
    assert kinds(value(0.501), value(0.5)) == [("gap", "measured")]
    assert kinds(value(0.55), value(0.5, error=0.1)) == [("gap", "measured")]
    assert kinds(value(1.05), value(0.95)) == [("gap", "verdict"), ("gap", "measured")]
    assert kinds(value(0.5, bound=0.9), value(0.5)) == [("gap", "terms")]
    assert kinds(value(0.5, name="a"), value(0.5, name="b")) == [("a", "new"), ("b", "gone")]
    assert kinds(value(math.nan), value(0.5)) == [("gap", "verdict"), ("gap", "measured")]
    assert kinds(value(math.inf), value(0.5))[-1] == ("gap", "measured")


def test_counts_are_compared_beside_the_median():
    was = median(0.1, 0.2, 0.3)
    assert kinds(median(0.1, 0.2, 1.5), was) == [("gap", "counts")]
    assert kinds(median(0.1, math.nan, 0.3), was) == [("gap", "counts")]
    (counts,) = compare([median(0.1, math.nan, 0.3)], [was])
    assert counts.sentence == "3 of 3 seeds became 2 of 2 seeds, 1 left out"


def test_the_sentence_says_what_became_what():
    (verdict, measured) = compare([value(2.0)], [value(0.5)])
    assert verdict.sentence == "holds became fails"
    assert measured.sentence == "measured 0.5 became 2"


@pytest.mark.parametrize(
    ("now", "was", "scale", "expected"),
    [
        (3e-14, 7e-15, 1.0, True),  # rounding errors of numbers of order one
        (3e-9, 2e-9, 1.0, False),
        (3e-6, 2e-6, 1e6, True),  # of large numbers
        (0.0, -0.0, 1.0, True),
        (math.inf, math.inf, 1.0, True),
        (math.inf, -math.inf, 1.0, False),
        (math.nan, 1.0, 1.0, False),
        (-0.5, 0.5, 1.0, False),
    ],
)
def test_what_is_the_same_up_to_rounding(now, was, scale, expected):
    assert same(now, was, scale=scale) is expected


def test_on_another_machine_a_value_within_the_interval_has_not_moved():
    was = median(*(0.5 + 0.01 * i for i in range(9)))
    now = median(*(0.51 + 0.01 * i for i in range(9)))
    assert kinds(now, was) == [("gap", "measured")]
    assert kinds(now, was, same_machine=False) == []
    assert ("gap", "measured") in kinds(median(*[0.9] * 9), was, same_machine=False)
    assert ("gap", "verdict") in kinds(median(*[2.0] * 9), was, same_machine=False)


def test_a_reference_with_further_seeds_is_compared_by_its_verdict():
    was, now = median(*[0.5] * 12), median(*[0.4] * 4)
    assert was.verdict == "holds"
    assert now.verdict == "undecided"
    assert kinds(now, was, seeds=4) == []
    assert kinds(median(*[2.0] * 8), was, seeds=8) == [("gap", "verdict")]
    assert kinds(now, was) == [("gap", "verdict"), ("gap", "measured"), ("gap", "counts")]
    again = median(*[0.4] * 12)  # it was given further seeds too: all can be compared
    assert kinds(again, was, seeds=4) == [("gap", "measured")]
    few = median(*[0.5] * 3)  # the reference has no seed that this run has not
    assert kinds(few, median(*[0.5] * 4), seeds=4) == [("gap", "counts")]
