"""A statement of a paper as something that can be run, and be seen to fail."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tacit.claims import Expected, Relation

Draw = Callable[[np.random.Generator], Mapping[str, Any]]
Kind = Literal["equality", "inequality"]


class StatementError(RuntimeError):
    """A statement written wrongly: its generator or its check broke, which is no verdict."""


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """What a paper prints wrongly, or leaves out, at a statement, and what shows it.

    **Arguments:**

    - `as_printed`, `as_corrected`: both forms in words or formulas.
    - `constants`: the keyword arguments that turn the check into the printed form, which must fail.
    - `without`: or, where a hypothesis is missing in print, its name in the statement's `without`.
    - `place`: where it stands, if elsewhere than the statement itself (for example in its proof).
    """

    as_printed: str
    as_corrected: str
    constants: Mapping[str, Any] = field(default_factory=dict)
    without: str | None = None
    place: str = ""

    def __post_init__(self) -> None:
        if bool(self.constants) == (self.without is not None):
            raise ValueError(
                "constants, without: an erratum needs exactly one of the two to be shown by"
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class Statement:
    """A theorem, proposition, lemma or formula; `statement` makes one from its check.

    Arguments as for `statement`; `check` is the decorated function.
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

    def __post_init__(self) -> None:
        paper, slash, name = self.id.partition("/")
        if not (paper and slash and name):
            raise ValueError(f"id: received {self.id!r}, it must be paper/name")
        if self.kind not in ("equality", "inequality"):
            raise ValueError(f"kind: received {self.kind!r}, allowed: 'equality', 'inequality'")
        if not 0 <= self.tolerance < np.inf:
            raise ValueError(f"tolerance: {self.id} has {self.tolerance}, it must be at least 0")
        if self.instances < 1:
            raise ValueError(f"instances: {self.id} has {self.instances}, it must be at least 1")
        if not self.mutations and not self.without:
            raise ValueError(
                f"mutations, without: {self.id} has neither, so nothing shows that it can fail"
            )
        if self.expected == "fails" and (self.errata or not self.because.strip()):
            raise ValueError(f"because: {self.id} is expected to fail: say why, without errata")
        for given in (*self.mutations, *(erratum.constants for erratum in self.errata)):
            if unknown := set(given) - set(self.constants):
                raise ValueError(
                    f"mutations, errata: {self.id} has no keyword-only argument {sorted(unknown)}, "
                    f"it has {sorted(self.constants)}"
                )
        broken = {*self.without}
        if unknown := broken - set(self.hypotheses):
            raise ValueError(f"without: {self.id} has no hypothesis {sorted(unknown)}")
        shown = {erratum.without for erratum in self.errata if erratum.without is not None}
        if unknown := shown - broken:
            raise ValueError(f"errata: {self.id} has no draw without {sorted(unknown)}")

    @property
    def paper(self) -> str:
        """The part of the id before the stroke."""
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
        """The tolerance; for a slack, less than nothing by the tolerance."""
        return self.tolerance if self.kind == "equality" else -self.tolerance

    def is_met(self, margin: float) -> bool:
        """Whether a margin satisfies the statement."""
        return margin <= self.bound if self.kind == "equality" else margin >= self.bound

    def worse(self, one: float, other: float) -> bool:
        """Whether the margin `one` is worse than `other`."""
        return one > other if self.kind == "equality" else one < other

    @property
    def hopeless(self) -> float:
        """The margin of an instance for which the check gave no number."""
        return np.inf if self.kind == "equality" else -np.inf

    def __call__(self, *args: Any, **kwargs: Any) -> float:
        """The check itself."""
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
) -> Callable[[Callable[..., float]], Statement]:
    """Register the check below as a statement.

    The check names the fields of an instance that it needs as its arguments, and the constants of
    the statement (signs, factors, exponents; any value will do) as keyword-only arguments whose
    defaults are the true ones. It gives back the margin of this instance:

    - `kind="equality"`: a residual, relative where that makes sense, at most `tolerance`;
    - `kind="inequality"`: the slack, relative, at least −`tolerance`.

    **Arguments:**

    - `id`: `paper/name`.
    - `place`: where the paper has it.
    - `words`: one sentence of ours.
    - `draw`: from a generator of random numbers to an instance: a flat dict of arrays, numbers and
      strings, whose names the check and the hypotheses use.
    - `tolerance`: for rounding (or for what sampling leaves, in a statistical statement).
    - `hypotheses`: name → predicate, which also names the fields that it needs. Each drawn instance
      is checked against all of them.
    - `mutations`: sets of wrong constants; with each the check must fail for some instance.
    - `without`: name of a hypothesis → draw of instances that break this one and no other; the
      check must fail for some of them.
    - `errata`: what is printed wrongly or left out.
    - `expected`, `because`: "fails" for what does not hold and has no correction, and why.
    - `instances`: how many are tried unless another number is asked for.
    """

    def register(check: Callable[..., float]) -> Statement:
        if id in REGISTERED and REGISTERED[id].check.__module__ != check.__module__:
            raise ValueError(f"id: {id!r} is taken by {REGISTERED[id].check.__module__}")
        made = Statement(
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
        )
        REGISTERED[id] = made
        return made

    return register
