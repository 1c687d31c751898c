"""The record of a claim and its decision rule, shared by experiments and statements."""

from tacit._signatures import with_readable_signatures
from tacit.claims._claim import VERDICTS, Claim, Expected, Relation, Verdict
from tacit.claims._claims import SEED, Claims
from tacit.claims._compare import CHANGE, Movement, compare, same, seeds_of
from tacit.claims._evidence import ENOUGH, e_value, seeds_to_decide
from tacit.claims._family import decide_all
from tacit.claims._finding import Finding
from tacit.claims._intervals import fraction_interval, median_interval
from tacit.claims._shown import DecidedClaims

__all__ = [
    "CHANGE",
    "ENOUGH",
    "SEED",
    "VERDICTS",
    "Claim",
    "Claims",
    "DecidedClaims",
    "Expected",
    "Finding",
    "Movement",
    "Relation",
    "Verdict",
    "compare",
    "decide_all",
    "e_value",
    "fraction_interval",
    "median_interval",
    "same",
    "seeds_of",
    "seeds_to_decide",
]

with_readable_signatures(globals(), __all__)
