"""Findings: numbers from claims, and no sentence that the claims do not support."""

import math

import pytest

from tacit.claims import Claims, Finding


@pytest.fixture
def claims():
    made = Claims()
    made.value("ratio", 0.0312, says="small", at_most=0.05)
    made.value("growth", 3.0, says="grows", at_least=5.0, fails_because="it does not")
    made.value("lost", math.nan, says="nothing", at_most=1.0)
    made.value("wide", 1.0, error=0.5, says="near", at_most=1.2)
    made.median("seeds", [1e-13] * 15 + [1.0], says="tiny", at_most=1e-9)
    return made


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("It is {ratio}, below {ratio|bound}.", "It is 0.031, below 0.05."),
        ("It is {ratio|.1%} or {ratio|1/x} times less.", "It is 3.1% or 32 times less."),
        ("{?ratio|holds}It is {growth|fails|.2f}.", "It is 3.00."),
        ("In {seeds|satisfied} of {seeds|samples} seeds.", "In 15 of 16 seeds."),
        ("At most {seeds|bound|holds}.", "At most 1e-9."),
        ("As  expected:\n {growth|as expected}", "As expected: 3"),
        ("No number.", "No number."),
        ("{ratio|fails} fails.", None),
        ("{growth|holds} holds.", None),
        ("{?growth|holds}It holds.", None),
        ("{lost} is lost.", None),
        ("{wide} is open.", None),
        ("{wide|undecided} is open.", "1 is open."),
        ("{ratio|satisfied} seeds: it is about one number.", None),
        ("{nobody}", None),
    ],
)
def test_a_sentence_says_what_the_claims_do(claims, sentence, said):
    assert Finding(sentence).said(claims) == [said]


def test_sentences_are_left_out_one_by_one(claims):
    found = Finding("A {a}.", "B {growth|holds}.", "C {a|low}.", a="ratio")
    assert found.of(claims) == "A 0.031. C 0.031."
    assert Finding("B {growth|holds}.").of(claims) == ""
    assert found.of([]) == ""


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0"),
        (12345.0, "12,345"),
        (123.45, "120"),
        (0.0123, "0.012"),
        (4.04e-13, "4e-13"),
        (0.00045, "4.5e-4"),
        (1.52e7, "1.5e7"),
        (-0.25, "-0.25"),
        (math.inf, "inf"),
    ],
)
def test_numbers_are_written_as_a_sentence_has_them(value, words):
    made = Claims()
    made.value("x", value, says="x", at_least=-1.0)
    assert Finding("{x}").of(made) == words


@pytest.mark.parametrize(
    ("sentences", "names", "words"),
    [
        (["{ratio|nothing}"], {}, "received 'nothing'"),
        (["{ratio"], {}, "a placeholder is"),
        (["{}"], {}, "a placeholder is"),
        ([""], {}, "give sentences"),
        ([3], {}, "received 3"),
        (["a {b}"], {"b": "x", "c": "y"}, "no sentence has {c}"),
    ],
)
def test_what_is_not_understood_is_said_at_once(sentences, names, words):
    with pytest.raises(ValueError, match=words):
        Finding(*sentences, **names)
