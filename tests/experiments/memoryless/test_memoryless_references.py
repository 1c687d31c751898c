"""The committed reference claims of memoryless: as expected, and decided where they were."""

from tacit.reproduction import find_experiment, load_reference


def test_slackness_reaches_what_the_theorem_says_with_a_large_transition():
    claims = load_reference(find_experiment("memoryless/fig3"), "quick").claims
    found = {claim.name: claim for claim in claims}
    assert found["identity, gd: exact slackness"].high <= 1e-10
    assert found["identity, gd: A is far from zero"].low > 1
