"""A statement of a paper as a check that runs, and that can be seen to fail."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tacit.claims import Expected, Relation
from tacit.statements._erratum import Erratum

Draw = Callable[[np.random.Generator], Mapping[str, Any]]
Kind = Literal["equality", "inequality"]


class StatementError(RuntimeError):
    """A mistake in how a statement is written: its generator or its check broke. No verdict."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Statement:
    """A theorem, proposition, lemma or formula. The decorator `statement` makes one from its check.

    The arguments are those of `statement`; `check` is the decorated function.
    """

    id: str
    place: str
    words: str
    check: Callable[..., float]
    draw: Draw
    tolerance: float
    kind: Kind = "equality"
    hypotheses: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    mutations: Sequence[Mapping[str, Any]] = ()
    without: Mapping[str, Draw] = field(default_factory=dict)
    errata: Sequence[Erratum] = ()
    expected: Expected = "holds"
    because: str = ""
    instances: int = 20
    loose: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        paper, slash, name = self.id.partition("/")
        if not (paper and slash and name):
            raise ValueError(f"id: received {self.id!r}, allowed is paper/name")
        if self.kind not in ("equality", "inequality"):
            raise ValueError(f"kind: received {self.kind!r}, allowed is 'equality' or 'inequality'")
        if not 0 <= self.tolerance < np.inf:
            raise ValueError(
                f"tolerance: received {self.tolerance} for {self.id}, allowed is a finite "
                "number of at least 0"
            )
        if self.instances < 1:
            raise ValueError(
                f"instances: received {self.instances} for {self.id}, allowed is an integer of at "
                "least 1"
            )
        if not self.mutations and not self.without:
            raise ValueError(
                f"mutations, without: received neither for {self.id}, so nothing shows that it can "
                "fail; give one of the two"
            )
        if self.expected == "fails" and (self.errata or not self.because.strip()):
            raise ValueError(
                f"because: received {self.because!r} and {len(self.errata)} errata for {self.id}, "
                "which is expected to fail: say why, and give no errata"
            )
        for changed in (*self.mutations, *(erratum.constants for erratum in self.errata)):
            if unknown := set(changed) - set(self.constants):
                raise ValueError(
                    f"mutations, errata: received {sorted(unknown)} for {self.id}, allowed are its "
                    f"keyword-only arguments {sorted(self.constants)}"
                )
        if unknown := set(self.without) - set(self.hypotheses):
            raise ValueError(
                f"without: received {sorted(unknown)} for {self.id}, allowed are its hypotheses "
                f"{sorted(self.hypotheses)}"
            )
        omitted = {erratum.without for erratum in self.errata if erratum.without is not None}
        if unknown := omitted - set(self.without):
            raise ValueError(
                f"errata: received without={sorted(unknown)} for {self.id}, allowed are the "
                f"hypotheses with a draw of their own, {sorted(self.without)}"
            )

    @property
    def paper(self) -> str:
        """The part of the id before the slash."""
        return self.id.partition("/")[0]

    @property
    def constants(self) -> dict[str, Any]:
        """The keyword-only arguments of the check with their true values."""
        parameters = inspect.signature(self.check).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}

    @property
    def relation(self) -> Relation:
        """What is claimed of the margin: a residual is at most the bound, a slack at least."""
        return "<=" if self.kind == "equality" else ">="

    @property
    def bound(self) -> float:
        """The bound on the margin: the tolerance for a residual, minus that for a slack."""
        return self.tolerance if self.kind == "equality" else -self.tolerance

    def is_met(self, margin: float) -> bool:
        """Whether a margin satisfies the statement."""
        return margin <= self.bound if self.kind == "equality" else margin >= self.bound

    def is_worse(self, one: float, other: float) -> bool:
        """Whether the margin `one` is worse than `other`."""
        return one > other if self.kind == "equality" else one < other

    @property
    def worst_possible(self) -> float:
        """The margin of an instance for which the check returns NaN."""
        return np.inf if self.kind == "equality" else -np.inf

    def __call__(self, *args: Any, **kwargs: Any) -> float:
        """Call the check itself."""
        return self.check(*args, **kwargs)


REGISTERED: dict[str, Statement] = {}


def statement(
    id: str,
    *,
    place: str,
    words: str,
    draw: Draw,
    tolerance: float,
    kind: Kind = "equality",
    hypotheses: Mapping[str, Callable[..., Any]] | None = None,
    mutations: Sequence[Mapping[str, Any]] = (),
    without: Mapping[str, Draw] | None = None,
    errata: Sequence[Erratum] = (),
    expected: Expected = "holds",
    because: str = "",
    instances: int = 20,
    loose: Mapping[str, str] | None = None,
) -> Callable[[Callable[..., float]], Statement]:
    """Register the decorated check as a statement.

    The arguments of the check are the fields of an instance that it needs. Its keyword-only
    arguments are the constants of the statement (signs, factors, exponents, …), with the true
    values as defaults. It returns the margin of the instance:

    - `kind="equality"`: a residual, relative where that makes sense, at most `tolerance`;
    - `kind="inequality"`: a relative slack, at least −`tolerance`.

    **Arguments:**

    - `id`: `paper/name`.
    - `place`: where it is in the paper.
    - `words`: one sentence of ours.
    - `draw`: makes an instance from a random number generator: a flat dict of arrays, numbers and
      strings. The check and the hypotheses refer to its keys.
    - `tolerance`: for rounding errors (or for sampling errors, in a statistical statement).
    - `hypotheses`: name → predicate, whose arguments are again the fields that it needs. Every
      instance must satisfy all of them.
    - `mutations`: sets of wrong constants. With each of them the check must fail on some instance.
    - `without`: name of a hypothesis → draw of instances that break this hypothesis and no other.
      The check must fail on some of them.
    - `errata`: what the paper prints wrongly or leaves out.
    - `expected`, `because`: "fails" for what does not hold and has no correction, and why.
    - `instances`: the default number of instances.
    - `loose`: a constant's name, or the source around a number, that the check does not notice
      when it changes by a tenth → why (a loose theorem is loose). See `measure_sharpness`.
    """

    def register(check: Callable[..., float]) -> Statement:
        if id in REGISTERED and REGISTERED[id].check.__module__ != check.__module__:
            raise ValueError(
                f"id: received {id!r}, which {REGISTERED[id].check.__module__} has; choose another"
            )
        REGISTERED[id] = Statement(
            id=id,
            place=place,
            words=words,
            check=check,
            draw=draw,
            tolerance=tolerance,
            kind=kind,
            hypotheses=hypotheses or {},
            mutations=mutations,
            without=without or {},
            errata=errata,
            expected=expected,
            because=because,
            instances=instances,
            loose=loose or {},
        )
        return REGISTERED[id]

    return register
