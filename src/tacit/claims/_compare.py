"""What moved between two runs' claims: the record behind `--compare`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tacit.claims._claim import Claim

# Deterministic claims have an interval of one point; rounding on another machine is no movement.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Movement:
    """One difference from the reference: `kind` says which, `sentence` says it in words.

    `verdict`: another verdict; `measured`: the value left the reference's interval; `terms`: the
    claim asks for something else now; `new`, `gone`: it is in one of the two only.
    """

    name: str
    kind: Literal["verdict", "measured", "terms", "new", "gone"]
    sentence: str


def _terms(claim: Claim) -> str:
    return f"{claim.relation} {claim.bound:.6g}, expected {claim.expected}"


def _outside(value: float, claim: Claim) -> bool:
    if math.isnan(value) or math.isnan(claim.measured):
        return math.isnan(value) != math.isnan(claim.measured)
    ends = [abs(x) for x in (claim.low, claim.high, claim.measured) if math.isfinite(x)]
    slack = _ROUNDING * max(ends, default=0.0)
    return value < claim.low - slack or value > claim.high + slack


def _movements(now: Claim, was: Claim) -> list[Movement]:
    found = []
    if _terms(now) != _terms(was):
        found.append(Movement(now.name, "terms", f"{_terms(was)} became {_terms(now)}"))
    if now.verdict != was.verdict:
        found.append(Movement(now.name, "verdict", f"{was.verdict} became {now.verdict}"))
    if _outside(now.measured, was):
        sentence = (
            f"measured {was.measured:.6g} in [{was.low:.6g}, {was.high:.6g}] "
            f"became {now.measured:.6g}"
        )
        found.append(Movement(now.name, "measured", sentence))
    return found


def compare(current: Sequence[Claim], reference: Sequence[Claim]) -> list[Movement]:
    """What moved from `reference` to `current`, in the order of the claims; empty when nothing."""
    before = {claim.name: claim for claim in reference}
    after = {claim.name: claim for claim in current}
    moved: list[Movement] = []
    for name, claim in after.items():
        if name in before:
            moved += _movements(claim, before[name])
        else:
            moved.append(Movement(name, "new", f"not in the reference; {claim.verdict} now"))
    for name, claim in before.items():
        if name not in after:
            moved.append(Movement(name, "gone", f"{claim.verdict} in the reference; absent now"))
    return moved
