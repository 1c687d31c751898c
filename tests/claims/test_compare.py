"""What `--compare` shows."""

import math

from tacit.claims import claim_about_median, claim_about_value, compare


def value(number, *, name="gap", bound=1.0, error=0.0):
    return claim_about_value(
        number, name=name, statement="s", place="p", at_most=bound, error=error
    )


def kinds(current, reference):
    return [(m.name, m.kind) for m in compare(current, reference)]


def test_nothing_moved():
    assert compare([value(0.5)], [value(0.5)]) == []
    assert compare([value(0.5 * (1 + 1e-9))], [value(0.5)]) == []  # another machine's rounding
    assert compare([value(0.55)], [value(0.5, error=0.1)]) == []


def test_each_kind_of_movement():
    assert kinds([value(0.7)], [value(0.5, error=0.1)]) == [("gap", "measured")]
    assert kinds([value(1.05)], [value(0.95, error=0.04)]) == [
        ("gap", "verdict"),
        ("gap", "measured"),
    ]
    assert kinds([value(0.5, bound=0.9)], [value(0.5)]) == [("gap", "terms")]
    assert kinds([value(0.5, name="a")], [value(0.5, name="b")]) == [("a", "new"), ("b", "gone")]
    assert kinds([value(math.nan)], [value(0.5)]) == [("gap", "verdict"), ("gap", "measured")]


def test_the_sentence_says_what_became_what():
    (verdict, measured) = compare([value(2.0)], [value(0.5)])
    assert verdict.sentence == "holds became fails"
    assert "0.5" in measured.sentence
    assert "became 2" in measured.sentence


def test_an_undecided_reference_is_wide_open():
    few = claim_about_median([0.1] * 3, name="gap", statement="s", place="p", at_most=1)
    assert kinds([few], [few]) == []
    assert kinds([value(17.0, bound=1.0)], [few]) == [("gap", "verdict")]
