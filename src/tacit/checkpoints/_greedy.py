"""Ranks by a measured loss: greedy, backward from full rank, with few evaluations.

1. **One tolerance for all tensors**, from strict to loose, until two in a row are too much; then
   the border is halved a few times. Its best is the first answer.
2. **Group by group**, from the loosest tolerance that has used a quarter of the allowance. In each
   round every group is cut by a step (a third of its bytes at first) by itself, and the loss
   measured. Cuts are then made together, the cheapest first: by loss for each byte saved, as many
   as fit into the allowance if their losses add up. If they do not, half as many, down to one.
   When no cut is left, the step is halved.

A group is one tensor, or, with many, those whose names differ in numbers only. Nothing is accepted
that was not measured as it is: quality is not monotone in rank, and losses do not add up.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from tacit.checkpoints._factor_bank import FactorBank

Ranks = dict[str, int | None]
_GROUPS = 12  # beyond so many tensors, names that differ in numbers only share a group
_LADDER = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_HALVINGS = 4
_STEPS = (1 / 3, 1 / 6, 1 / 12)  # of a group's bytes


class Found(NamedTuple):
    """Where a search ended."""

    ranks: Ranks
    loss: float
    tolerance: float | None
    by_tolerance: int | None


@dataclass
class Search:
    """The loss as a function of ranks, what it may be, and how often it may still be asked."""

    STRICTEST: ClassVar[float] = _LADDER[0]

    bank: FactorBank
    measure: Callable[[Ranks], float]
    reference: float
    allowed: float
    left: int
    tried: list[tuple[int, float]] = field(default_factory=list)
    _known: dict[tuple[int | None, ...], float] = field(default_factory=dict)

    def loss(self, ranks: Ranks) -> float:
        """The loss at these ranks; infinite when no evaluation is left."""
        key = tuple(ranks.values())
        if key not in self._known:
            if self.left <= 0:
                return float("inf")
            self.left -= 1
            self._known[key] = self.measure(ranks)
            self.tried.append((self.bank.bytes_of(ranks), self._known[key]))
        return self._known[key]

    def passes(self, ranks: Ranks) -> bool:
        """Whether the loss at these ranks is allowed."""
        return self.loss(ranks) <= self.allowed


def by_measured_loss(search: Search) -> Found:
    """The fewest bytes found, by one tolerance or group by group."""
    bank = search.bank
    whole: Ranks = dict.fromkeys(bank.factored, None)
    if not whole:
        return Found(whole, search.reference, None, None)
    steps = _ladder(search)
    good = [(tolerance, ranks) for tolerance, ranks in steps if search.passes(ranks)]
    best, tolerance = whole, None
    if good:
        tolerance, best = max(good, key=lambda step: step[0])
    by_tolerance = bank.bytes_of(best)
    quarter = search.reference + 0.25 * (search.allowed - search.reference)
    calm = [ranks for _, ranks in good if search.loss(ranks) <= quarter]
    start = min(calm, key=bank.bytes_of) if calm else bank.ranks_for(_LADDER[0])
    if not search.passes(start):
        start = whole
    found = _group_by_group(search, start)
    best = min(best, found, key=bank.bytes_of)
    known = search.loss(best) if best != whole else search.reference
    return Found(best, known, tolerance, by_tolerance)


def _ladder(search: Search) -> list[tuple[float, Ranks]]:
    """Tolerances from strict to loose, and then the border between good and bad."""
    steps: list[tuple[float, Ranks]] = []
    failures = 0
    for tolerance in _LADDER:
        ranks = search.bank.ranks_for(tolerance)
        steps.append((tolerance, ranks))
        failures = 0 if search.passes(ranks) else failures + 1
        if failures == 2:
            break
    good = [tolerance for tolerance, ranks in steps if search.passes(ranks)]
    low = max(good, default=0.0)
    high = min((t for t, _ in steps if t > low), default=1.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        ranks = search.bank.ranks_for(middle)
        steps.append((middle, ranks))
        low, high = (middle, high) if search.passes(ranks) else (low, middle)
    return steps


def _group_by_group(search: Search, start: Ranks) -> Ranks:
    groups = _groups(list(start))
    now = start
    for step in _STEPS:
        while search.left > 0:
            cuts = _cuts(search, now, groups, step)
            taken = _together(search, now, cuts)
            if taken is None:
                break
            now = taken
    return now


class _Cut(NamedTuple):
    """One group with fewer bytes: its new ranks, the bytes saved and the loss added."""

    ranks: Ranks
    saved: int
    added: float


def _cuts(search: Search, now: Ranks, groups: list[list[str]], step: float) -> list[_Cut]:
    """What each group's cut would cost by itself, the cheapest for a byte first."""
    bank = search.bank
    have = bank.bytes_of(now)
    loss = search.loss(now) if any(rank is not None for rank in now.values()) else search.reference
    cuts = []
    for group in groups:
        change = {name: _smaller(search, name, now[name], step) for name in group}
        ranks = now | change
        saved = have - bank.bytes_of(ranks)
        if saved <= 0:
            continue
        added = search.loss(ranks) - loss
        if search.loss(ranks) <= search.allowed:
            cuts.append(_Cut(change, saved, added))
    return sorted(cuts, key=lambda cut: cut.added / cut.saved)


def _together(search: Search, now: Ranks, cuts: list[_Cut]) -> Ranks | None:
    """As many cuts as are allowed together, the cheapest first; None if there is none."""
    room, fit = search.allowed, 0
    loss = search.loss(now) if any(rank is not None for rank in now.values()) else search.reference
    for cut in cuts:
        loss += max(cut.added, 0.0)
        if loss > room:
            break
        fit += 1
    count = max(fit, 1) if cuts else 0
    while count:
        ranks = dict(now)
        for cut in cuts[:count]:
            ranks |= cut.ranks
        if search.passes(ranks):
            return ranks
        count //= 2
    return None


def _smaller(search: Search, name: str, rank: int | None, step: float) -> int | None:
    one = search.bank.factored[name]
    if rank is None:
        return one.rank_for(Search.STRICTEST)
    return max(0, min(rank - 1, int(rank * (1 - step)))) if rank else 0


def _groups(names: list[str]) -> list[list[str]]:
    if len(names) <= _GROUPS:
        return [[name] for name in names]
    made: dict[str, list[str]] = {}
    for name in names:
        made.setdefault(re.sub(r"\d+", "#", name), []).append(name)
    return list(made.values())
