"""What the simulations of gaps decide: which systems to hear, and whether one alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tacit.estimators._average import averaged
from tacit.estimators._gain import peak_gain
from tacit.estimators._records import Records
from tacit.estimators._system_orders import Candidate, OrderChoice, as_matrices, judged

Floats = np.ndarray
_LOUD = 2.0  # a peak gain over the median one that nothing in the record speaks for
_EQUALS = 2.0  # an error in the gaps over a system's own, up to which another one may judge it
_WORSE = 1.25  # an error in the gaps over the least, from which on another system is better
_POWER = 4  # a system's weight in an average falls with this power of its error in the gaps
_HEARD = 1e-6  # smaller weights are none
_OTHER = 1.0  # what a truncation changes over an average's errors, from which on it is another one
_WHITE, _EQUAL = 0.9, 1.05  # effective samples of white errors, and an error that is as good


@dataclass(frozen=True)
class Gaps:
    """The outputs that each system simulates in each gap, by its label, and the measured ones.

    `evidence` is what an error of each sample and output counts for, 0 to 1 (all of it if empty).
    """

    simulated: dict[str, list[Floats]]
    measured: list[Floats]
    evidence: Sequence[Floats] = ()

    def error(self, weights: dict[str, float]) -> float:
        """The root mean square of an average's errors over all gaps; the mean over the outputs.

        Squares count as far as they are evidence. For the rest all systems have the same, that of
        the best of them there: where nothing can be told, none is better than another.
        """
        counts = self.evidence or [np.ones_like(one) for one in self.measured]
        value = float(np.sqrt(self._squares(weights, counts) + self._rest).mean())
        return value if np.isfinite(value) else np.inf

    @cached_property
    def _rest(self) -> Floats:
        """For each output the least mean square of any system, of what is no evidence."""
        if not self.evidence:
            return np.zeros(())
        counts = [1 - one for one in self.evidence]
        return np.min([self._squares({one: 1.0}, counts) for one in self.simulated], axis=0)

    def _squares(self, weights: dict[str, float], counts: Sequence[Floats]) -> Floats:
        """For each output the mean square of an average's errors, each sample by its count."""
        squares = []
        with np.errstate(over="ignore", invalid="ignore"):
            for number, target in enumerate(self.measured):
                mean = sum(w * self.simulated[label][number] for label, w in weights.items())
                squares.append(np.mean(counts[number] * (mean - target) ** 2, axis=0))
            found = np.mean(squares, axis=0)
        return np.where(np.isfinite(found), found, np.inf)

    def errors(self) -> dict[str, float]:
        """The error of each system alone."""
        return {label: self.error({label: 1.0}) for label in self.simulated}


def best_tested(choice: OrderChoice, gaps: Gaps) -> Candidate:
    """The order, from one to the chosen one, with the least errors in the gaps."""
    most = max(1, choice.chosen.order)
    orders = [one for one in choice.tried if 1 <= one.order <= most and one.label in gaps.simulated]
    errors = gaps.errors()
    return min(orders, key=lambda one: errors[one.label], default=choice.chosen)


def decided(
    choice: OrderChoice, records: Records, others: Sequence[Candidate], gaps: Gaps
) -> OrderChoice:
    """The chosen order, another system in its place, or an average with those of other methods."""
    choice = replace(choice, ahead=gaps.errors())
    others = [one for one in others if one.label in choice.ahead]
    quiet = without_loud(choice, others, records.inputs)
    alone = settled_on(choice, records, quiet)
    labels = {one.label for one in quiet} - {alone.chosen.label}
    return mixed(choice, alone, records, [one for one in others if one.label in labels], gaps)


def without_loud(choice: OrderChoice, others: Sequence[Candidate], inputs: int) -> list[Candidate]:
    """All systems but those whose peak gain is beyond twice the median of their equals.

    The record does not excite every frequency. Where it does not, a system may have any gain and
    still fit, and is wrong by as much when another input comes. So a large gain that the gaps do
    not ask for is not believed. The equals of a system are the chosen order and the other methods'
    systems, if their errors in the gaps are at most twice its own: whoever fails there is no judge.
    """
    ahead = choice.ahead
    judges = [
        (ahead.get(one.label, np.inf), peak_gain(as_matrices(one.model, inputs)))
        for one in (choice.chosen, *others)
    ]
    quiet = []
    for one in (*choice.tried, *others):
        bound = _EQUALS * ahead.get(one.label, np.inf)
        gains = [gain for error, gain in judges if error <= bound]
        gain = peak_gain(as_matrices(one.model, inputs))
        if not gains or gain <= _LOUD * float(np.median(gains)):
            quiet.append(one)
    return quiet


def settled_on(choice: OrderChoice, records: Records, quiet: Sequence[Candidate]) -> OrderChoice:
    """The chosen order, or the best in the gaps where that is better by more than a quarter.

    Then the chosen order fits what does not go on, or misses what the criterion hides. A mode that
    outlasts the record cannot be told from a drift: an order with such a mode is taken only if
    every system without one is worse in the gaps by more than a quarter.
    """
    ahead = choice.ahead
    known = [one for one in quiet if one.label in ahead]
    if not known:
        return choice
    least = min(ahead[one.label] for one in known)
    longest = max(len(one) for one in records.outputs)
    fading = [one for one in known if memory_of(one) <= longest]
    fair = [one for one in fading if ahead[one.label] <= _WORSE * least]
    best = min(fair or known, key=lambda one: ahead[one.label])
    drifts = bool(fair) and memory_of(choice.chosen) > longest
    label = choice.chosen.label
    own = ahead[label] if label in {one.label for one in known} else np.inf
    if not drifts and own <= _WORSE * ahead[best.label]:
        return choice
    return _instead(choice, best)


def mixed(
    choice: OrderChoice,
    alone: OrderChoice,
    records: Records,
    beside: Sequence[Candidate],
    gaps: Gaps,
) -> OrderChoice:
    """The average of the system that was settled on and those beside it, or that one alone.

    The weights are 1/error⁴ in the gaps. The chosen order stays alone where its errors are white
    and the average is hardly better in the gaps: then it explains all that there is. What was
    settled on stays alone too where the truncation changes the average by more than its errors.
    """
    ahead, first = alone.ahead, alone.chosen
    parts = [one for one in (first, *beside) if ahead.get(one.label, np.inf) < np.inf]
    least = min((ahead[one.label] for one in parts), default=0.0)
    if least == 0 or first.label not in ahead:
        return alone
    weights = {one.label: (least / ahead[one.label]) ** _POWER for one in parts}
    total = sum(weights.values())
    weights = {label: w / total for label, w in weights.items() if w > _HEARD * total}
    error = gaps.error(weights)
    white = choice.effective >= _WHITE * records.samples
    stays = first.label == choice.chosen.label and ahead[first.label] <= _EQUAL * error
    if len(weights) < 2 or (white and stays):
        return alone
    most = max(1, *(one.order for one in choice.tried))
    heard = [(one, weights[one.label]) for one in parts if one.label in weights]
    average = averaged(heard, records, most)
    if average is None or average.lost > _OTHER:
        return alone
    ahead = {**ahead, average.label: error}
    return _instead(replace(choice, ahead=ahead), judged(records, [average])[0])


def _instead(choice: OrderChoice, other: Candidate) -> OrderChoice:
    low, high = choice.interval
    return replace(
        choice,
        chosen=other,
        interval=(min(low, other.order), max(high, other.order)),
        instead_of=choice.chosen.label,
    )


def memory_of(one: Candidate) -> float:
    """Samples after which the slowest mode has fallen to 1/e."""
    size = float(np.abs(np.linalg.eigvals(one.model.A)).max(initial=0.0))
    return 0.0 if size <= 0 else float(-1 / np.log(min(size, 1 - 1e-16)))
