"""Ranks by a measured loss: greedy, backward from full rank, with few evaluations.

1. **One tolerance for all tensors**, from strict to loose, until two in a row are too much; then
   the border is halved a few times. Its best is the first answer.
2. **Group by group**, from the loosest tolerance that has used a quarter of the allowance. In each
   round every group is cut by its own step (a third of its rank at first) by itself, and the loss
   measured. Cuts are then made together, the cheapest first: by loss for each byte saved, as many
   as fit into the allowance if their losses add up. If they do not, half as many, down to one. A
   group whose cut was refused has half the step in the next round, one whose cut was cheap twice
   the step; at a step below a fortieth it is left as it is. With evaluations left, the same goes on
   from the best tolerance.

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
_FIRST_STEP, _LAST_STEP, _LARGEST_STEP = 1 / 3, 1 / 40, 3 / 4  # of a group's ranks
_CHEAP = 0.1  # of the allowance


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
    ends = [_group_by_group(search, begin) for begin in (start, best)]
    best = min(best, *ends, key=bank.bytes_of)
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


class _Cut(NamedTuple):
    """One group with fewer bytes: its place, its new ranks, the bytes saved and the loss added."""

    group: int
    ranks: Ranks
    saved: int
    added: float


def _group_by_group(search: Search, start: Ranks) -> Ranks:
    groups = _groups(list(start))
    steps = [_FIRST_STEP] * len(groups)
    cheap = _CHEAP * (search.allowed - search.reference)
    now = start
    while search.left > 0:
        cuts, refused = _cuts(search, now, groups, steps)
        taken, count = _together(search, now, cuts)
        for place in refused:
            steps[place] /= 2
        for cut in cuts[:count]:
            if cut.added <= cheap:
                steps[cut.group] = min(2 * steps[cut.group], _LARGEST_STEP)
        if not count and not any(steps[place] >= _LAST_STEP for place in refused):
            break
        now = taken
    return now


def _cuts(
    search: Search, now: Ranks, groups: list[list[str]], steps: list[float]
) -> tuple[list[_Cut], list[int]]:
    """What each group's cut costs by itself, the cheapest for a byte first; and who cannot."""
    bank = search.bank
    have, loss = bank.bytes_of(now), _loss_now(search, now)
    cuts, refused = [], []
    for place, group in enumerate(groups):
        if steps[place] < _LAST_STEP:
            continue
        change = {name: _smaller(search, name, now[name], steps[place]) for name in group}
        ranks = now | change
        saved = have - bank.bytes_of(ranks)
        if saved <= 0:
            steps[place] = 0.0
        elif search.passes(ranks):
            cuts.append(_Cut(place, change, saved, search.loss(ranks) - loss))
        else:
            refused.append(place)
    return sorted(cuts, key=lambda cut: cut.added / cut.saved), refused


def _together(search: Search, now: Ranks, cuts: list[_Cut]) -> tuple[Ranks, int]:
    """As many cuts as are allowed together, the cheapest first; and how many they are."""
    loss, fit = _loss_now(search, now), 0
    for cut in cuts:
        loss += max(cut.added, 0.0)
        if loss > search.allowed:
            break
        fit += 1
    count = max(fit, 1) if cuts else 0
    while count:
        ranks = dict(now)
        for cut in cuts[:count]:
            ranks |= cut.ranks
        if search.passes(ranks):
            return ranks, count
        count //= 2
    return now, 0


def _loss_now(search: Search, now: Ranks) -> float:
    return search.reference if set(now.values()) == {None} else search.loss(now)


def _smaller(search: Search, name: str, rank: int | None, step: float) -> int | None:
    one = search.bank.factored[name]
    if rank is None:
        strict = one.rank_for(Search.STRICTEST)
        return one.most if strict is None else strict
    return max(0, min(rank - 1, int(rank * (1 - step)))) if rank else 0


def _groups(names: list[str]) -> list[list[str]]:
    if len(names) <= _GROUPS:
        return [[name] for name in names]
    made: dict[str, list[str]] = {}
    for name in names:
        made.setdefault(re.sub(r"\d+", "#", name), []).append(name)
    return list(made.values())
