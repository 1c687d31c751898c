"""A claim: a statement of a paper beside the number that decides it.

The verdict is never stored; it follows from what was measured.

- A claim about seeds holds when the evidence that most of them satisfy it is 20 or more, and fails
  when the evidence that most do not is 20 or more (see `tacit.claims.e_value`). Until then it is
  undecided, unless the whole interval of the median lies so near the bound that more seeds would
  not help: then it is at the bound.
- A claim about one number holds when the whole interval [low, high] satisfies the relation, fails
  when the whole interval violates it, and is undecided otherwise.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from tacit._doors import check_fields, door, each, instance, number, text, whole
from tacit.claims._evidence import ENOUGH, e_value, seeds_to_decide

Verdict = Literal["holds", "fails", "undecided", "at the bound"]
Relation = Literal["<=", ">="]
Expected = Literal["holds", "fails"]

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
MANY_LEFT_OUT = 0.2
"""The share of seeds left out from which a claim says so in its verdict."""

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
    - `samples`: how many seeds (or instances) the measured value comes from; none leaves the claim
      undecided.
    - `satisfied`: how many of them satisfy the claim; None if it is about one number.
    - `share`: the share of all seeds that has to satisfy it, one half for a median.
    - `left_out`: how many further seeds had no run that counts (not trained, diverged).
    - `margin`: how near the bound is too close to call, a tenth of the bound by default.
    - `unit`: how many seeds make a sample; one, unless it is a mean of several.
    - `most`: how many samples there can be, where further seeds only repeat them.
    - `values`: what each seed gave, NaN for one that was left out; not part of the record.
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
    satisfied: int | None = None
    share: float = 0.5
    left_out: int = 0
    margin: float | None = None
    unit: int = 1
    most: int | None = None
    values: tuple[float, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        undecided = number(infinite=True, nan=True)
        check_fields(
            self,
            name=text,
            statement=text,
            place=text,
            because=text,
            measured=undecided,
            low=undecided,
            high=undecided,
            bound=number(),
            samples=whole(),
            satisfied=whole(),
            share=number(above=0, below=1),
            left_out=whole(),
            margin=number(0),
            unit=whole(1),
            most=whole(1),
            values=each(undecided, least=0),
        )
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
        if self.satisfied is not None and not 0 <= self.satisfied <= self.samples:
            raise ValueError(
                f"satisfied: received {self.satisfied}, of {self.samples} samples in all"
            )
        if not 0 < self.share < 1:
            raise ValueError(f"share: received {self.share}, it must lie between 0 and 1")
        if self.left_out < 0:
            raise ValueError(f"left_out: received {self.left_out}, it must not be negative")
        if self.margin is not None and not self.margin >= 0:
            raise ValueError(f"margin: received {self.margin}, it must not be negative")
        if self.low > self.high:
            raise ValueError(f"low: received {self.low}, above high = {self.high}")
        for name in (*_NUMBERS, "bound"):
            object.__setattr__(self, name, float(getattr(self, name)))

    def __repr__(self) -> str:
        from tacit.claims._shown import claim_text

        return claim_text(self)

    @property
    def evidence(self) -> tuple[float, float] | None:
        """The e-values for and against the claim; None if it is about one number."""
        if self.satisfied is None:
            return None
        against = self.samples - self.satisfied
        return (
            e_value(self.satisfied, self.samples, share=self.share),
            e_value(against, self.samples, share=1 - self.share),
        )

    @property
    def verdict(self) -> Verdict:
        """What was measured says of the bound; see the text above."""
        if self.samples == 0 or any(math.isnan(getattr(self, name)) for name in _NUMBERS):
            return "undecided"
        if self.evidence is None:
            return self._of_interval()
        holds, fails = self.evidence
        if holds >= ENOUGH or fails >= ENOUGH:
            return "holds" if holds >= ENOUGH else "fails"
        margin = abs(self.bound) / 10 if self.margin is None else self.margin
        near = self.bound - margin <= self.low and self.high <= self.bound + margin
        return "at the bound" if near and margin > 0 else "undecided"

    def _of_interval(self) -> Verdict:
        if self.relation == "<=":
            satisfied, violated = self.high <= self.bound, self.low > self.bound
        else:
            satisfied, violated = self.low >= self.bound, self.high < self.bound
        return "holds" if satisfied else "fails" if violated else "undecided"

    @property
    def as_expected(self) -> bool | None:
        """Whether the verdict is the expected one; None if it is neither `holds` nor `fails`."""
        verdict = self.verdict
        return verdict == self.expected if verdict in get_args(Expected) else None

    @property
    def more_seeds(self) -> int | None:
        """About how many more seeds would decide it; None if it is decided, or not by seeds.

        None, too, where there are no more samples to be had.
        """
        if self.satisfied is None or self.verdict != "undecided":
            return None
        more = seeds_to_decide(self.satisfied, self.samples, share=self.share)
        if self.most is not None:
            more = min(more, self.most - self.samples)
        return more * self.unit if more > 0 else None

    @property
    def many_left_out(self) -> bool:
        """Whether more than a fifth of the seeds had no run that counts."""
        return self.left_out > MANY_LEFT_OUT * (self.samples + self.left_out)

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
            "left_out": self.left_out,
        }
        if self.evidence is not None:
            record |= {
                "satisfied": self.satisfied,
                "share": self.share,
                "evidence": [float(f"{value:.6g}") for value in self.evidence],
                "more_seeds": self.more_seeds,
            }
        if self.margin is not None:
            record["margin"] = self.margin
        record |= {"unit": self.unit} if self.unit > 1 else {}
        record |= {"most": self.most} if self.most is not None else {}
        nonfinite = {k: repr(record[k]) for k in _NUMBERS if not math.isfinite(record[k])}
        if nonfinite:
            record |= dict.fromkeys(nonfinite)
            record["nonfinite"] = nonfinite
        return record

    @classmethod
    @door(answer="any", record=instance(Mapping))
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
        counts = ("samples", "satisfied", "share", "left_out", "unit", "most")
        names = ("expected", "because", "margin", *counts)
        optional = {k: record[k] for k in names if k in record}
        return cls(**words, **numbers, **optional)
