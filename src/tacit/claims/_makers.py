"""The ways to make a claim: about a median, a mean, a fraction, or a number without spread."""

import math
from collections.abc import Iterable
from typing import SupportsFloat, SupportsInt

import numpy as np

from tacit.claims._claim import Claim, Expected, Relation
from tacit.claims._intervals import as_samples, fraction_interval, mean_interval, median_interval


def _relation(
    at_most: SupportsFloat | None, at_least: SupportsFloat | None
) -> tuple[Relation, float]:
    if at_most is not None and at_least is None:
        return "<=", float(at_most)
    if at_least is not None and at_most is None:
        return ">=", float(at_least)
    raise ValueError(
        f"at_most, at_least: received {at_most} and {at_least}, give exactly one of the two"
    )


def _median(ordered: np.ndarray) -> float:
    # Not numpy's, which gives NaN where the two middle values are infinite.
    if ordered.size == 0:
        return math.nan
    middle = ordered[(ordered.size - 1) // 2], ordered[ordered.size // 2]
    return float(middle[0] if middle[0] == middle[1] else (middle[0] + middle[1]) / 2)


def claim_about_median(
    samples: Iterable[SupportsFloat] | np.ndarray,
    *,
    name: str,
    statement: str,
    place: str,
    at_most: SupportsFloat | None = None,
    at_least: SupportsFloat | None = None,
    expected: Expected = "holds",
    because: str = "",
    confidence: float = 0.95,
) -> Claim:
    """A claim about the median over runs, decided by its exact distribution-free interval.

    An infinite sample counts: a diverged run is worse than any bound. Fewer than six samples (at
    95%) leave the claim undecided.
    """
    flat = as_samples(samples)
    relation, bound = _relation(at_most, at_least)
    low, high = median_interval(flat, confidence=confidence)
    return Claim(
        name=name,
        statement=statement,
        place=place,
        measured=_median(np.sort(flat)),
        low=low,
        high=high,
        relation=relation,
        bound=bound,
        expected=expected,
        because=because,
        samples=flat.size,
    )


def claim_about_mean(
    samples: Iterable[SupportsFloat] | np.ndarray,
    *,
    name: str,
    statement: str,
    place: str,
    at_most: SupportsFloat | None = None,
    at_least: SupportsFloat | None = None,
    expected: Expected = "holds",
    because: str = "",
    confidence: float = 0.95,
) -> Claim:
    """A claim about the mean over runs, decided by Student's interval; it needs two samples."""
    flat = as_samples(samples)
    relation, bound = _relation(at_most, at_least)
    low, high = mean_interval(flat, confidence=confidence)
    mixed = bool(np.isposinf(flat).any() and np.isneginf(flat).any())
    return Claim(
        name=name,
        statement=statement,
        place=place,
        measured=math.nan if flat.size == 0 or mixed else float(flat.mean()),
        low=low,
        high=high,
        relation=relation,
        bound=bound,
        expected=expected,
        because=because,
        samples=flat.size,
    )


def claim_about_value(
    value: SupportsFloat,
    *,
    name: str,
    statement: str,
    place: str,
    error: SupportsFloat = 0.0,
    at_most: SupportsFloat | None = None,
    at_least: SupportsFloat | None = None,
    expected: Expected = "holds",
    because: str = "",
) -> Claim:
    """A claim about a number without spread, known to ± `error` (a tolerance of its computation).

    A NaN (the computation gave no number) leaves the claim undecided.
    """
    centre, half = float(value), float(error)
    if not half >= 0:
        raise ValueError(f"error: received {error}, it must not be negative")
    relation, bound = _relation(at_most, at_least)
    return Claim(
        name=name,
        statement=statement,
        place=place,
        measured=centre,
        low=centre - half,
        high=centre + half,
        relation=relation,
        bound=bound,
        expected=expected,
        because=because,
        samples=1,
    )


def claim_about_fraction(
    count: SupportsInt,
    total: SupportsInt,
    *,
    name: str,
    statement: str,
    place: str,
    at_most: SupportsFloat | None = None,
    at_least: SupportsFloat | None = None,
    expected: Expected = "holds",
    because: str = "",
    confidence: float = 0.95,
) -> Claim:
    """A claim about the fraction of runs that did something, by Clopper and Pearson's interval."""
    successes, trials = int(count), int(total)
    relation, bound = _relation(at_most, at_least)
    low, high = fraction_interval(successes, trials, confidence=confidence)
    return Claim(
        name=name,
        statement=statement,
        place=place,
        measured=successes / trials if trials else math.nan,
        low=low,
        high=high,
        relation=relation,
        bound=bound,
        expected=expected,
        because=because,
        samples=trials,
    )
