"""Decide many claims together, so that few of what is said in all are false."""

import math
from collections.abc import Iterable

from tacit._doors import door, each, instance, number
from tacit.claims._claim import Claim


@door(claims=each(instance(Claim), least=0), level=number(above=0, below=1))
def decide_all(claims: Iterable[Claim], *, level: float = 0.05) -> list[bool]:
    """Which claims stand as part of the whole set: the procedure e-BH (Wang and Ramdas, 2022).

    With the e-values of m claims in falling order, the largest k with e₍k₎ ≥ m / (level · k)
    survive. Of the verdicts that survive at most `level` are false on average, however the claims
    depend on one another.

    A claim's e-value is the larger of the one for it and the one against it. Of these two
    hypotheses one is true for every claim, so m of 2m in all; e-BH's guarantee is in proportion to
    the true ones, and `level` among m is the same as twice `level` among 2m.

    A claim about a number that no seed changes is not a matter of chance: it stands if it is
    decided, and is not counted among the m.
    """
    if not 0 < level < 1:
        raise ValueError(f"level: received {level}, it must lie between 0 and 1")
    every = list(claims)
    evidence = [max(e) for claim in every if (e := claim.evidence) is not None]
    least = math.inf
    for rank, value in enumerate(sorted(evidence, reverse=True), start=1):
        if value * rank * level >= len(evidence):
            least = value
    return [
        max(claim.evidence) >= least
        if claim.evidence is not None
        else claim.verdict in ("holds", "fails")
        for claim in every
    ]
