"""Making claims: about a median, a mean, a fraction or a number, one by one or collected."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Required, SupportsFloat, SupportsInt, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

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


class Terms(TypedDict, total=False):
    """What is said of a measured number.

    - `says`: the claim in words.
    - `at_most`, `at_least`: the bound, one of the two.
    - `place`: where the paper says it, if not at the collector's place.
    - `fails_because`: why the claim is expected to fail; empty if it is expected to hold.
    - `note`: a remark on a claim that is expected to hold, such as why it stays undecided.
    """

    says: Required[str]
    at_most: SupportsFloat | None
    at_least: SupportsFloat | None
    place: str
    fails_because: str
    note: str


class Claims(Sequence[Claim]):
    """The claims of an experiment, in the order in which they are made.

    ```python
    claim = Claims("Figure 3(b), appendix A.2")
    claim.median("k = 11: extrapolates", errors.sel(length=11), at_most=1e-3,
                 says="Trained on k = 11 > 2d̂ lags, the error is at most 0.001.")
    ```

    Every method takes a short name, what was measured, the statement in words (`says`) and a bound
    (`at_most` or `at_least`). A claim that is expected to fail says why in `fails_because`.

    What was measured may be an array of any shape, also an `xarray.DataArray`. NaN is a run that
    does not count and is left out; an infinite value is a run that counts, and is worse (or better)
    than any bound.

    **Arguments:**

    - `place`: where the paper says it, for claims that name no other `place`; "ours" for our own.
    """

    def __init__(self, place: str = "ours") -> None:
        self._place = place
        self._claims: list[Claim] = []

    @overload
    def __getitem__(self, index: int) -> Claim: ...
    @overload
    def __getitem__(self, index: slice) -> list[Claim]: ...
    def __getitem__(self, index: int | slice) -> Claim | list[Claim]:
        return self._claims[index]

    def __len__(self) -> int:
        return len(self._claims)

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._claims)

    def extend(self, claims: Iterable[Claim]) -> None:
        """Take claims that were made elsewhere."""
        self._claims.extend(claims)

    def median(self, name: str, values: ArrayLike, **terms: Unpack[Terms]) -> None:
        """The median over runs, with its exact distribution-free interval."""
        self._claims.append(claim_about_median(_counted(values), name=name, **self._record(terms)))

    def mean(self, name: str, values: ArrayLike, **terms: Unpack[Terms]) -> None:
        """The mean over runs, with Student's interval."""
        self._claims.append(claim_about_mean(_counted(values), name=name, **self._record(terms)))

    def value(
        self, name: str, value: SupportsFloat, *, error: SupportsFloat = 0.0, **terms: Unpack[Terms]
    ) -> None:
        """A number without spread, known to ± `error`; a NaN leaves the claim undecided."""
        self._claims.append(claim_about_value(value, error=error, name=name, **self._record(terms)))

    def fraction(
        self, name: str, did: ArrayLike, of: SupportsInt | None = None, **terms: Unpack[Terms]
    ) -> None:
        """The fraction of runs that did something: booleans by run, or a count `of` so many.

        Zeros, ones and NaN are booleans too, since that is what xarray makes of booleans where a
        run is missing.
        """
        runs = np.asarray(did)
        if of is None and (flags := _flags(runs)) is not None:
            count, total = int(flags.sum()), int(flags.size)
        elif of is not None and runs.ndim == 0 and runs.dtype.kind in "iuf" and runs % 1 == 0:
            count, total = int(runs), int(of)
        else:
            raise ValueError(
                f"did: received an array of {runs.dtype} and shape {runs.shape}, with of = {of}; "
                "give booleans by run, or a count and the number of runs"
            )
        self._claims.append(claim_about_fraction(count, total, name=name, **self._record(terms)))

    def _record(self, terms: Terms) -> dict[str, Any]:
        unknown = sorted(terms.keys() - Terms.__annotations__.keys())
        if unknown or not terms.get("says"):
            raise TypeError(
                f"a claim needs says=… and takes {', '.join(Terms.__annotations__)}; "
                f"received {', '.join(terms) or 'nothing'}"
            )
        reason = terms.get("fails_because", "")
        return {
            "statement": terms["says"],
            "place": terms.get("place", self._place),
            "at_most": terms.get("at_most"),
            "at_least": terms.get("at_least"),
            "expected": "fails" if reason else "holds",
            "because": reason or terms.get("note", ""),
        }


def _flags(runs: np.ndarray) -> np.ndarray | None:
    """Booleans without the runs that do not count, None where these are no booleans."""
    if runs.dtype.kind not in "bfO":
        return None
    try:
        flat = _counted(runs)
    except (TypeError, ValueError):  # objects that are no numbers
        return None
    # One number alone is rather a count whose total was forgotten.
    alone = runs.ndim == 0 and flat.size == 1 and not isinstance(runs.item(), bool)
    return None if alone or not np.isin(flat, (0, 1)).all() else flat == 1


def _counted(values: ArrayLike) -> np.ndarray:
    """The values of the runs that count, flat."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    return flat[~np.isnan(flat)]
