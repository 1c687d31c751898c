"""What moved between two runs' claims: the record behind `--compare`.

Seeds are fixed, so that the same program gives the same numbers up to rounding: whatever moves by
more has a cause.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tacit._doors import door, each, flag, instance, number, whole
from tacit.claims._claim import Claim

Kind = Literal[
    "parameters", "terms", "verdict", "measured", "counts", "new", "gone", "outcomes", "digest"
]

CHANGE = 1e-3
"""Two values that differ by more than this, relative to the larger one, are not the same."""

# What claims are about is of order one, or has a bound of its own size: errors relative to
# something, ranks, losses. Computed in float64 it carries rounding errors of 1e-16 for each of many
# operations. A value below 1e-11 that is to vanish is made of these errors alone, and has other
# digits on each machine.
ROUNDING = 1e-11


@dataclass(frozen=True)
class Movement:
    """One difference from the reference: `kind` says which, `sentence` says it in words.

    - `parameters`: the preset has another value of the parameter `name`.
    - `terms`: the claim asks for something else; `verdict`: it has another verdict.
    - `measured`: another measured value; `counts`: other numbers of seeds, of those that satisfy
      the claim, or of those left out.
    - `new`, `gone`: the claim is in one of the two only.
    - `outcomes`: other counts of how the runs ended.
    - `digest`: the values of the stored variable `name` are others.
    """

    name: str
    kind: Kind
    sentence: str


@door(
    now=number(infinite=True, nan=True),
    was=number(infinite=True, nan=True),
    change=number(0),
    scale=number(infinite=True, nan=True),
)
def same(now: float, was: float, *, change: float = CHANGE, scale: float = 1.0) -> bool:
    """Whether two numbers are the same up to rounding.

    **Arguments:**

    - `now`, `was`: the numbers; NaN is the same as NaN.
    - `change`: how far apart they may be, relative to the larger one.
    - `scale`: the size of what they are computed from, if it is above one.
    """
    if now == was or (math.isnan(now) and math.isnan(was)):
        return True
    if not (math.isfinite(now) and math.isfinite(was)):
        return False
    size = max(abs(now), abs(was))
    return abs(now - was) <= max(change * size, ROUNDING * max(1.0, abs(scale)))


@door(claim=instance(Claim))
def seeds_of(claim: Claim) -> int:
    """All the seeds that a claim looked at, with those it left out."""
    return claim.samples + claim.left_out


def _terms(claim: Claim) -> str:
    return f"{claim.relation} {claim.bound:.6g}, expected {claim.expected}"


def _counts(claim: Claim) -> str:
    left_out = f", {claim.left_out} left out" if claim.left_out else ""
    if claim.satisfied is None:
        return f"{claim.samples} samples{left_out}"
    return f"{claim.satisfied} of {claim.samples} seeds{left_out}"


def _movements(now: Claim, was: Claim, *, numbers: bool, same_machine: bool) -> list[Movement]:
    found = []
    if _terms(now) != _terms(was):
        found.append(Movement(now.name, "terms", f"{_terms(was)} became {_terms(now)}"))
    decided = now.as_expected is not None and was.as_expected is not None
    if now.verdict != was.verdict and (numbers or decided):
        found.append(Movement(now.name, "verdict", f"{was.verdict} became {now.verdict}"))
    if not numbers:
        return found
    inside = not same_machine and was.low <= now.measured <= was.high
    if not inside and not same(now.measured, was.measured, scale=was.bound):
        sentence = f"measured {was.measured:.6g} became {now.measured:.6g}"
        found.append(Movement(now.name, "measured", sentence))
    if same_machine and _counts(now) != _counts(was):
        found.append(Movement(now.name, "counts", f"{_counts(was)} became {_counts(now)}"))
    return found


@door(
    current=each(instance(Claim), least=0),
    reference=each(instance(Claim), least=0),
    seeds=whole(),
    same_machine=flag,
)
def compare(
    current: Sequence[Claim],
    reference: Sequence[Claim],
    *,
    seeds: int | None = None,
    same_machine: bool = True,
) -> list[Movement]:
    """What moved from `reference` to `current`, in the order of the claims; empty when nothing.

    **Arguments:**

    - `current`, `reference`: the claims of the two runs.
    - `seeds`: how many seeds the current run has, if it is known. A reference claim that saw more
      than these (and not as many as the current claim) was given further seeds to decide it: only
      its terms and its verdict, if both are decided, can be compared.
    - `same_machine`: whether both were computed on one kind of machine. If not, a descent that
      amplifies rounding ends elsewhere by itself: a value within the reference's interval has not
      moved then, and counts are not compared.
    """
    before = {claim.name: claim for claim in reference}
    after = {claim.name: claim for claim in current}
    moved: list[Movement] = []
    for name, claim in after.items():
        if name in before:
            was = before[name]
            further = seeds is not None and seeds_of(was) > seeds
            numbers = not further or seeds_of(was) == seeds_of(claim)
            moved += _movements(claim, was, numbers=numbers, same_machine=same_machine)
        else:
            moved.append(Movement(name, "new", f"not in the reference; {claim.verdict} now"))
    for name, claim in before.items():
        if name not in after:
            moved.append(Movement(name, "gone", f"{claim.verdict} in the reference; absent now"))
    return moved
