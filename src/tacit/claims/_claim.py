"""A claim: a statement of a paper beside the number that decides it.

The verdict is never stored, it follows from the interval [low, high] of the measured quantity and
the bound: the claim holds when the whole interval satisfies the relation, fails when the whole
interval violates it, and is undecided otherwise.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

Verdict = Literal["holds", "fails", "undecided"]
Relation = Literal["<=", ">="]
Expected = Literal["holds", "fails"]

_NUMBERS = ("measured", "low", "high")
_DEFAULTS = {"measured": math.nan, "low": -math.inf, "high": math.inf}


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One checked statement: `measured relation bound`, with an interval for `measured`.

    **Arguments:**

    - `name`: a short name, unique within its experiment.
    - `statement`: the claim in words.
    - `place`: where the paper says it.
    - `measured`: the measured value; it may be infinite (a diverged run), NaN when there is none.
    - `low`, `high`: the interval for the measured quantity.
    - `relation`, `bound`: what is claimed of it.
    - `expected`: what is known to come out; a paper's claim may be expected to fail.
    - `because`: why it is expected to fail; required then.
    - `samples`: how many runs the measured value comes from; none leaves the claim undecided.
    """

    name: str
    statement: str
    place: str
    measured: float
    low: float
    high: float
    relation: Relation
    bound: float
    expected: Expected = "holds"
    because: str = ""
    samples: int = 1

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("name: a claim needs a name, received an empty one")
        if self.relation not in get_args(Relation):
            raise ValueError(f"relation: received {self.relation!r}, allowed are '<=' and '>='")
        if self.expected not in get_args(Expected):
            raise ValueError(f"expected: received {self.expected!r}, allowed are 'holds', 'fails'")
        if self.expected == "fails" and not self.because.strip():
            raise ValueError(
                f"because: claim {self.name!r} is expected to fail, so it must say why"
            )
        if not math.isfinite(self.bound):
            raise ValueError(f"bound: received {self.bound}, it must be a finite number")
        if self.samples < 0:
            raise ValueError(f"samples: received {self.samples}, it must not be negative")
        if self.low > self.high:
            raise ValueError(f"low: received {self.low}, above high = {self.high}")
        for name in (*_NUMBERS, "bound"):
            object.__setattr__(self, name, float(getattr(self, name)))

    @property
    def verdict(self) -> Verdict:
        """What the interval says of the bound: `holds`, `fails` or `undecided`."""
        if self.samples == 0 or any(math.isnan(getattr(self, name)) for name in _NUMBERS):
            return "undecided"
        if self.relation == "<=":
            satisfied, violated = self.high <= self.bound, self.low > self.bound
        else:
            satisfied, violated = self.low >= self.bound, self.high < self.bound
        return "holds" if satisfied else "fails" if violated else "undecided"

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one; an undecided claim contradicts nothing."""
        return self.verdict in ("undecided", self.expected)

    def to_dict(self) -> dict[str, Any]:
        """The claim and its verdict as JSON's types.

        JSON has no infinity and no NaN: such a number is null, and `nonfinite` (there only when
        needed) says which one it was, so that `from_dict` gives back an equal claim.
        """
        record: dict[str, Any] = {
            "name": self.name,
            "statement": self.statement,
            "place": self.place,
            "measured": self.measured,
            "low": self.low,
            "high": self.high,
            "relation": self.relation,
            "bound": self.bound,
            "expected": self.expected,
            "verdict": self.verdict,
            "because": self.because,
            "samples": self.samples,
        }
        nonfinite = {k: repr(record[k]) for k in _NUMBERS if not math.isfinite(record[k])}
        if nonfinite:
            record |= dict.fromkeys(nonfinite)
            record["nonfinite"] = nonfinite
        return record

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Claim":
        """The claim that `to_dict` wrote; a bare null is an open end or a missing measurement."""
        nonfinite = record.get("nonfinite", {})
        try:
            words = {k: record[k] for k in ("name", "statement", "place", "relation", "bound")}
            numbers: dict[str, Any] = {
                k: float(nonfinite.get(k, _DEFAULTS[k])) if record[k] is None else record[k]
                for k in _NUMBERS
            }
        except KeyError as missing:
            raise ValueError(f"a claim's record lacks {missing}, it has {sorted(record)}") from None
        optional = {k: record[k] for k in ("expected", "because", "samples") if k in record}
        return cls(**words, **numbers, **optional)
