"""What is told of a run, in words."""

from tacit.cli._telling import _effort
from tacit.reproduction._more_seeds import Effort


def test_one_more_seed_is_not_one_more_seeds():
    assert _effort(Effort(1, 3.0)) == "about 1 more seed, 3 s (--until-decided)"
    assert _effort(Effort(2, 3.0)) == "about 2 more seeds, 3 s (--until-decided)"
