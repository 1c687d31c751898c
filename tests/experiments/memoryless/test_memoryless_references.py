"""The committed reference claims of memoryless: as expected, and decided where they were."""

import pytest

from tacit.experiments import find_experiment, load_reference


@pytest.mark.parametrize("figure", ["fig1", "fig2", "fig3", "fig4", "fig5"])
def test_the_committed_reference_is_as_expected(figure):
    claims = load_reference(find_experiment(f"memoryless/{figure}"), "quick").claims
    assert claims is not None
    assert [claim.name for claim in claims if claim.as_expected is False] == []
    decided = {claim.name for claim in claims if claim.verdict != "undecided"}
    wanted = {
        "fig1": {"linear RNN, gain 1: flat", "linear RNN, gain 0.3: flat"},
        "fig2": {"linear RNN, gain 0.3: flat", "GRU, gain 0.3: flat", "LSTM, gain 0.3: flat"},
        "fig3": {claim.name for claim in claims},
        "fig4": {claim.name for claim in claims},
        "fig5": {"linear RNN, gain 0.3: d* < k", "linear RNN, gain 0.3: d* > k"},
    }[figure]
    assert wanted <= decided


def test_slackness_reaches_what_the_theorem_says_with_a_large_transition():
    claims = load_reference(find_experiment("memoryless/fig3"), "quick").claims
    found = {claim.name: claim for claim in claims}
    assert found["identity: complementary slackness"].high <= 1e-10
    assert found["identity: A is far from zero"].low > 1


@pytest.mark.parametrize("figure", ["fig1", "fig3", "fig4"])
def test_the_reference_at_paper_is_as_expected(figure):
    claims = load_reference(find_experiment(f"memoryless/{figure}"), "paper").claims
    assert claims is not None
    assert [claim.name for claim in claims if claim.as_expected is False] == []
