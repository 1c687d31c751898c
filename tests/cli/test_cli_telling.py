"""What is told of a run, in words."""

from tacit.site._index import _remarks

from tacit.cli._telling import _effort
from tacit.reproduction._more_seeds import Effort


def test_one_more_seed_is_not_one_more_seeds():
    assert _effort(Effort(1, 3.0)) == "about 1 more seed, 3 s (--until-decided)"
    assert _effort(Effort(2, 3.0)) == "about 2 more seeds, 3 s (--until-decided)"
    efforts = {"fair": {"seeds": 1, "seconds": 3.0}, "odd": {"seeds": 2, "seconds": 3.0}}
    assert _remarks({"efforts": efforts}, {"name": "fair"}) == ["about 1 more seed, 3 s"]
    assert _remarks({"efforts": efforts}, {"name": "odd"}) == ["about 2 more seeds, 3 s"]
