"""What is told of a run, in words."""

import io

import pytest
from rich.console import Console

from tacit.claims import Claims
from tacit.cli._telling import _effort, _table, _tell_reasons
from tacit.reproduction._more_seeds import Effort


def test_one_more_seed_is_not_one_more_seeds():
    assert _effort(Effort(1, 3.0)) == "about 1 more seed, 3 s (--until-decided)"
    assert _effort(Effort(2, 3.0)) == "about 2 more seeds, 3 s (--until-decided)"


@pytest.fixture
def claims():
    """Three of one reason, one that is not as expected, all with long names."""
    claim = Claims("nowhere")
    for name in ("even", "random", "well-conditioned"):
        claim.value(
            f"{name}, gradient descent: high below, low above",
            1.0,
            at_most=0.5,
            says="It is low.",
            fails_because="the rate is too small " * 8,
        )
    claim.value("holds [not]", 2.0, at_most=1.0, says="It is at most one.")
    return claim


def told(show, *, width, terminal):
    """The lines that a console of this width gets."""
    text = io.StringIO()
    show(Console(file=text, width=width, force_terminal=terminal, color_system=None))
    return [line.rstrip() for line in text.getvalue().splitlines()]


def test_claims_fit_a_narrow_terminal(claims):
    lines = told(lambda c: c.print(_table(tuple(claims), short=True)), width=80, terminal=False)
    assert max(map(len, lines)) <= 80
    assert " ".join(lines[-1].split()) == "holds [not] 2 ≤ 1 fails ← not as expected"
    assert sum("fails, as expected" in line for line in lines) == 3


def test_a_reason_is_told_once_on_a_terminal_and_with_each_claim_when_piped(claims):
    some = [claim for claim in claims if claim.expected == "fails"]
    piped = told(lambda c: _tell_reasons(c, some), width=200, terminal=False)
    assert len(piped) == 3
    assert all(line.startswith("  expected to fail: ") and "too small" in line for line in piped)
    lines = told(lambda c: _tell_reasons(c, some), width=80, terminal=True)
    assert [line for line in lines[:3] if "too small" in line] == []
    assert " ".join(lines).split().count("rate") == 8
