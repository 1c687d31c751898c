"""Making claims: about a median or a fraction over seeds, or about one number."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Required, SupportsFloat, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import door, each, instance, number, text, whole
from tacit._errors import shown
from tacit.claims._claim import Claim, Relation
from tacit.claims._finding import in_words
from tacit.claims._intervals import fraction_interval, median_interval
from tacit.claims._shown import by_name, claims_html, claims_text

SEED = "seed"
_BOUND = re.compile(r"\{bound(?::([^{}]*))?\}")


class Words(TypedDict, total=False):
    """What is said of a measured number.

    - `says`: the claim in words; `{bound}` in it is the bound that decides, `{bound:.0%}` another
      way to write it.
    - `place`: where the paper says it, if not at the collector's place.
    - `fails_because`: why the claim is expected to fail; empty if it is expected to hold.
    - `note`: a remark on a claim that is expected to hold, such as why it stays undecided.
    - `margin`: how near the bound is too close to call; a tenth of the bound if it is not given.
    - `unit`: how many seeds make one of the values, if they are means of several.
    - `most`: how many values there can be, if further seeds only repeat them.
    """

    says: Required[str]
    place: str
    fails_because: str
    note: str
    margin: float
    unit: int
    most: int


class Terms(Words, total=False):
    """The same with the bound: `at_most` or `at_least`, one of the two."""

    at_most: SupportsFloat | None
    at_least: SupportsFloat | None


class Claims(Sequence[Claim]):
    """The claims of an experiment, in the order in which they are made.

    ```python
    claim = Claims("Figure 3(b), appendix A.2")
    claim.median("k = 11: extrapolates", errors.sel(length=11), at_most=1e-3,
                 says="Trained on k = 11 > 2d̂ lags, the error is at most 0.001.")
    ```

    Every method takes a short name, what was measured, the statement in words (`says`) and a bound
    (`at_most` or `at_least`). A claim that is expected to fail says why in `fails_because`.

    What was measured is one number for each seed, or one yes or no: an `xarray.DataArray` along
    `seed`, or a plain list. Conditions that share a seed are reduced within the seed first: their
    difference, their mean, the slope through them. Seeds are independent of one another, and
    nothing else is.

    NaN is a seed without a run that counts; it is left out, and the claim tells how many were. An
    infinite value is a run that counts, and is worse (or better) than any bound.

    **Arguments:**

    - `place`: where the paper says it, for claims that name no other `place`; "ours" for our own.
    """

    @door(place=text)
    def __init__(self, place: str = "ours") -> None:
        self._place = place
        self._claims: list[Claim] = []

    @overload
    def __getitem__(self, index: int | str) -> Claim: ...
    @overload
    def __getitem__(self, index: slice) -> list[Claim]: ...
    def __getitem__(self, index: int | str | slice) -> Claim | list[Claim]:
        return by_name(self, index) if isinstance(index, str) else self._claims[index]

    def __repr__(self) -> str:
        return claims_text(self)

    def _repr_html_(self) -> str:
        return claims_html(self)

    def __len__(self) -> int:
        return len(self._claims)

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._claims)

    @door(claims=each(instance(Claim), least=0))
    def extend(self, claims: Iterable[Claim]) -> None:
        """Take claims that were made elsewhere."""
        self._claims.extend(claims)

    @door(answer="any", name=text)
    def median(self, name: str, values: ArrayLike, **terms: Unpack[Terms]) -> None:
        """The median over seeds: at least half of all seeds satisfy the bound.

        Beside the evidence stands the median with its exact distribution-free interval.
        """
        by_seed = _by_seed(name, values)
        counted = by_seed[~np.isnan(by_seed)]
        words = self._words(name, terms)
        satisfied = (
            counted <= words["bound"] if words["relation"] == "<=" else counted >= words["bound"]
        )
        low, high = median_interval(counted)
        self._claims.append(
            Claim(
                measured=_median(np.sort(counted)),
                low=low,
                high=high,
                samples=counted.size,
                satisfied=int(satisfied.sum()),
                left_out=by_seed.size - counted.size,
                values=tuple(by_seed.tolist()),
                **words,
            )
        )

    @door(answer="any", name=text)
    def between(
        self,
        name: str,
        values: ArrayLike,
        *,
        at_least: SupportsFloat,
        at_most: SupportsFloat,
        **words: Unpack[Words],
    ) -> None:
        """The median over seeds from both sides: two claims, "not less" and "not more".

        That each seed lies between the bounds would be another claim, about their spread.
        """
        self.median(f"{name}: not less", values, at_least=at_least, **words)
        self.median(f"{name}: not more", values, at_most=at_most, **words)

    @door(answer="any", name=text)
    def fraction(self, name: str, did: ArrayLike, **terms: Unpack[Terms]) -> None:
        """The fraction of seeds that did something: a yes or no for each of them.

        Zeros, ones and NaN are booleans too, since that is what xarray makes of booleans where a
        run is missing.
        """
        by_seed = _by_seed(name, did, "did")
        counted = by_seed[~np.isnan(by_seed)]
        if not np.isin(counted, (0, 1)).all():
            raise ValueError(f"did: {name!r} received {by_seed}, give a yes or no for each seed")
        words = self._words(name, terms)
        if not 0 < words["bound"] < 1:
            raise ValueError(
                f"at_most, at_least: {name!r} received {words['bound']:g} for a fraction; no "
                "number of seeds can show that all, or none, do it: give a bound between 0 and 1"
            )
        count, total = int(counted.sum()), counted.size
        low, high = fraction_interval(count, total)
        many = words["relation"] == ">="
        if words["margin"] is None:  # of 95% a tenth is no small matter: of the 5% it is
            words["margin"] = min(words["bound"], 1 - words["bound"]) / 10
        self._claims.append(
            Claim(
                measured=count / total if total else math.nan,
                low=low,
                high=high,
                samples=total,
                satisfied=count if many else total - count,
                share=words["bound"] if many else 1 - words["bound"],
                left_out=by_seed.size - total,
                values=tuple(by_seed.tolist()),
                **words,
            )
        )

    @door(answer="any", name=text, value=number(infinite=True, nan=True), error=number(0))
    def value(
        self, name: str, value: SupportsFloat, *, error: SupportsFloat = 0.0, **terms: Unpack[Terms]
    ) -> None:
        """A number that no seed changes, known to ± `error` (a tolerance of its computation).

        A NaN (the computation gave no number) leaves the claim undecided.
        """
        centre, half = float(value), float(error)
        if not half >= 0:
            raise ValueError(f"error: received {error}, it must not be negative")
        words = self._words(name, terms)
        self._claims.append(
            Claim(measured=centre, low=centre - half, high=centre + half, values=(centre,), **words)
        )

    def _words(self, name: str, terms: Terms) -> dict[str, Any]:
        unknown = sorted(terms.keys() - Terms.__annotations__.keys())
        if unknown or not terms.get("says"):
            raise TypeError(
                f"a claim needs says=… and takes {', '.join(Terms.__annotations__)}; "
                f"received {', '.join(terms) or 'nothing'}"
            )
        reason = terms.get("fails_because", "")
        for option in ("says", "place", "fails_because", "note"):
            if option in terms:
                text(option, terms[option])
        for option in ("unit", "most"):
            if option in terms:
                whole(1)(option, terms[option])  # type: ignore[literal-required]
        for option in ("at_most", "at_least", "margin"):
            if terms.get(option) is not None:
                number()(option, terms[option])  # type: ignore[literal-required]
        relation, bound = _relation(terms.get("at_most"), terms.get("at_least"))
        return {
            "name": name,
            "statement": _with_bound(terms["says"], bound),
            "place": terms.get("place", self._place),
            "relation": relation,
            "bound": bound,
            "expected": "fails" if reason else "holds",
            "because": reason or terms.get("note", ""),
            "margin": terms.get("margin"),
            "unit": terms.get("unit", 1),
            "most": terms.get("most"),
        }


def _with_bound(words: str, bound: float) -> str:
    def written(match: re.Match[str]) -> str:
        short = in_words(bound)
        exact = float(short.replace(",", "")) == bound
        return format(bound, match[1]) if match[1] else short if exact else f"{bound:g}"

    return _BOUND.sub(written, words)


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


def _by_seed(name: str, values: ArrayLike, field: str = "values") -> np.ndarray:
    """One number for each seed."""
    dims = getattr(values, "dims", None)
    try:
        array = np.asarray(values)
    except ValueError:  # ragged
        array = np.asarray("ragged")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{field}: {name!r} received {shown(values)}, give numbers")
    array = array.astype(np.float64)
    if array.ndim != 1 or dims not in (None, (SEED,)):
        found = f"the dimensions {dims}" if dims is not None else f"the shape {array.shape}"
        raise ValueError(
            f"{field}: {name!r} received {found}, give one number for each seed: reduce the other "
            "dimensions within the seed, or use claim.value for a number that no seed changes"
        )
    return array


def _median(ordered: np.ndarray) -> float:
    # Not numpy's, which gives NaN where the two middle values are infinite.
    if ordered.size == 0:
        return math.nan
    middle = ordered[(ordered.size - 1) // 2], ordered[ordered.size // 2]
    return float(middle[0] if middle[0] == middle[1] else (middle[0] + middle[1]) / 2)
