"""Verify statements: margins, verdicts, and whether anything unexpected happened."""

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tacit._doors import SEEDS, door, flag, function, whole
from tacit._errors import UsageError, shown
from tacit._notebook import few_lines, html_table
from tacit.claims import Claim
from tacit.claims._shown import bound_words
from tacit.statements._erratum import EDITIONS, Erratum
from tacit.statements._instance import (
    Instance,
    broken_hypotheses,
    draw_instance,
    read_instance,
)
from tacit.statements._registry import find_statements
from tacit.statements._sharpness import Sharpness, sharpness_of
from tacit.statements._statement import Statement
from tacit.statements._trial import DrawInstance, Trial, margin_of, try_statement

CORRECTED: Literal["holds with a correction"] = "holds with a correction"

_MOST_INSTANCES = 1_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Verified:
    """The result for one statement.

    **Arguments:**

    - `statement`: the statement that was checked.
    - `claim`: the worst margin against its bound, as the record that experiments use.
    - `worst`: the instance with the worst margin.
    - `printed`: for each erratum the trial of the printed form, which should fail.
    - `mutants`: whether the check caught each mutation and each broken hypothesis; empty unless
      mutations were asked for.
    - `seconds`: wall time.
    - `replayed`: whether this is a single instance from a file. A printed form may hold for it.
    """

    statement: Statement
    claim: Claim
    worst: Instance
    printed: tuple[tuple[Erratum, Trial], ...] = ()
    mutants: tuple[tuple[str, bool], ...] = ()
    seconds: float = 0.0
    replayed: bool = False

    @property
    def verdict(self) -> str:
        """`holds`, `holds with a correction` or `fails`."""
        wrong_in_print = any(not trial.met for _, trial in self.printed)
        return CORRECTED if self.claim.verdict == "holds" and wrong_in_print else self.claim.verdict

    @property
    def expected(self) -> str:
        """The verdict that the statement should have."""
        return CORRECTED if self.statement.errata else self.statement.expected

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is as expected, each erratum is shown and each mutant is caught."""
        if self.replayed:
            return self.claim.as_expected is True
        shown = all(not trial.met for _, trial in self.printed)
        caught = all(caught for _, caught in self.mutants)
        return self.verdict == self.expected and shown and caught

    @property
    def sharpness(self) -> Sharpness | None:
        """Which changes of its constants the check notices, from the record of the package."""
        return sharpness_of(self.statement)

    def to_dict(self) -> dict[str, Any]:
        """The record in JSON's types."""
        claim, sharpness = self.claim.to_dict(), self.sharpness
        return {
            "id": self.statement.id,
            "paper": self.statement.paper,
            "place": self.statement.place,
            "words": self.statement.words,
            "instances": self.claim.samples,
            "worst_margin": claim["measured"],
            "verdict": self.verdict,
            "expected": self.expected,
            "because": self.statement.because,
            "as_expected": self.as_expected,
            "seconds": round(self.seconds, 4),
            "correction": [
                {
                    "place": erratum.place or self.statement.place,
                    "as_printed": erratum.as_printed,
                    "as_corrected": erratum.as_corrected,
                    "gravity": erratum.gravity,
                    "right_in": erratum.right_in,
                    "glyph": erratum.glyph,
                    "edition": erratum.edition or EDITIONS.get(self.statement.paper, ""),
                    "worst_margin_as_printed": _json_number(trial.margin),
                    "shown": not trial.met,
                }
                for erratum, trial in self.printed
            ],
            "mutants": dict(self.mutants),
            "sharpness": None if sharpness is None else sharpness.to_dict(),
            "claim": claim,
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class Verification:
    """The results for all statements that were checked, with the `seed` of their instances."""

    statements: tuple[Verified, ...]
    seed: int
    seconds: float

    def __repr__(self) -> str:
        ranked = sorted(self.statements, key=lambda one: one.as_expected)
        return few_lines(self._headline(), (" · ".join(_row(one)[:3]) for one in ranked))

    def _repr_html_(self) -> str:
        headers = ("statement", "verdict", "worst margin", "instances", "place")
        return html_table(headers, map(_row, self.statements), caption=self._headline())

    def _headline(self) -> str:
        good = sum(one.as_expected for one in self.statements)
        words = "as expected" if self.as_expected else f"{good} as expected"
        noun = "statement" if len(self.statements) == 1 else "statements"
        return f"Verification: {len(self.statements)} {noun}, {words} (seed {self.seed})"

    @property
    def as_expected(self) -> bool:
        """Whether every statement came out as expected."""
        return all(one.as_expected for one in self.statements)

    def to_dict(self) -> dict[str, Any]:
        """The record in JSON's types: what `--json` prints."""
        return {
            "statements": [one.to_dict() for one in self.statements],
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "as_expected": self.as_expected,
        }


@door(
    answer="any",
    instances=whole(1),
    seed=whole(0, SEEDS),
    mutations=flag,
    progress=function,
    draw=function,
)
def verify(
    *targets: str | Statement,
    instances: int | None = None,
    seed: int = 0,
    mutations: bool = False,
    progress: Callable[[Statement], None] | None = None,
    draw: DrawInstance | None = None,
) -> Verification:
    """Check statements of the papers on random instances.

        tacit.verify("memoryless/lemma3.1", instances=100).statements[0].verdict

    **Arguments:**

    - `targets`: papers, ids or `Statement` objects; all statements if there is no target.
    - `instances`: how many for each statement; the statement's own number by default.
    - `seed`: of the instances.
    - `mutations`: whether to show also that wrong constants and broken hypotheses are caught.
    - `progress`: called with each statement before it is checked.
    - `draw`: as for `try_statement`; by default each instance of a statement is drawn once.
    """
    if instances is not None:
        _require_integer("instances", instances, 1)
        if instances > _MOST_INSTANCES:
            raise UsageError(
                f"instances: received {shown(instances)}, at most {_MOST_INSTANCES:,} are possible"
            )
    _require_integer("seed", seed, 0)
    chosen = find_statements(*targets)
    start = time.perf_counter()
    results = []
    for statement in chosen:
        if progress is not None:
            progress(statement)
        share = draw or functools.cache(draw_instance)
        results.append(_verify_one(statement, instances, seed, mutations, share))
    seconds = time.perf_counter() - start
    return Verification(statements=tuple(results), seed=seed, seconds=seconds)


def replay(path: str | Path) -> Verification:
    """Check the single instance in a file."""
    instance = read_instance(Path(path))
    found = find_statements(instance.statement)
    if [one.id for one in found] != [instance.statement]:
        raise UsageError(
            f"replay: received {str(path)!r} for {instance.statement!r}, allowed is an instance of "
            "one statement"
        )
    statement = found[0]
    if instance.without not in ("", *statement.without):
        raise UsageError(
            f"replay: received {str(path)!r} without {instance.without!r}, allowed are the "
            f"hypotheses that {statement.id} is tried without: {sorted(statement.without)}"
        )
    if broken := [b for b in broken_hypotheses(statement, instance) if b != instance.without]:
        raise UsageError(
            f"replay: received {str(path)!r}, allowed is an instance of {statement.id}; this one "
            "breaks the hypothesis " + " and ".join(repr(name) for name in broken)
        )
    start = time.perf_counter()
    margin = margin_of(statement, instance)
    trial = Trial(1, margin, instance, statement.is_met(margin))
    printed = tuple(
        (erratum, Trial(1, value, instance, statement.is_met(value)))
        for erratum in statement.errata
        if erratum.constants
        for value in [margin_of(statement, instance, erratum.constants)]
    )
    seconds = time.perf_counter() - start
    result = Verified(
        statement=statement,
        claim=_claim(statement, trial),
        worst=instance,
        printed=printed,
        seconds=seconds,
        replayed=True,
    )
    return Verification(statements=(result,), seed=instance.seed, seconds=seconds)


def _verify_one(
    statement: Statement, instances: int | None, seed: int, mutations: bool, draw: DrawInstance
) -> Verified:
    start = time.perf_counter()
    trial = try_statement(statement, instances=instances, seed=seed, draw=draw)
    printed = tuple(
        (erratum, try_printed(statement, erratum, instances=instances, seed=seed, draw=draw))
        for erratum in statement.errata
    )
    mutants = tuple(try_mutants(statement, seed=seed, draw=draw).items()) if mutations else ()
    return Verified(
        statement=statement,
        claim=_claim(statement, trial),
        worst=trial.worst,
        printed=printed,
        mutants=mutants,
        seconds=time.perf_counter() - start,
    )


def try_printed(
    statement: Statement,
    erratum: Erratum,
    *,
    instances: int | None = None,
    seed: int = 0,
    draw: DrawInstance = draw_instance,
) -> Trial:
    """Try the form that the paper prints. The arguments are those of `try_statement`.

    If it holds on these instances, up to the statement's own number are tried until one fails.
    """
    options: dict[str, Any] = {
        "seed": seed,
        "draw": draw,
        "constants": erratum.constants,
        "without": erratum.without or "",
    }
    trial = try_statement(statement, instances=instances, **options)
    if trial.met and trial.instances < statement.instances:
        trial = try_statement(statement, **options, until_failure=True)
    return trial


def try_mutants(
    statement: Statement, *, seed: int = 0, draw: DrawInstance = draw_instance
) -> dict[str, bool]:
    """Whether the check catches each mutation and each broken hypothesis."""
    options: dict[str, Any] = {"seed": seed, "until_failure": True, "draw": draw}
    caught = {}
    for mutation in statement.mutations:
        name = ", ".join(f"{key}={value!r}" for key, value in mutation.items())
        trial = try_statement(statement, constants=mutation, **options)
        caught[name] = not trial.met
    for hypothesis in statement.without:
        trial = try_statement(statement, without=hypothesis, **options)
        caught[f"without: {hypothesis}"] = not trial.met
    return caught


def _claim(statement: Statement, trial: Trial) -> Claim:
    return Claim(
        name=statement.id,
        statement=statement.words,
        place=statement.place,
        measured=trial.margin,
        low=trial.margin,
        high=trial.margin,
        relation=statement.relation,
        bound=statement.bound,
        expected=statement.expected,
        because=statement.because,
        samples=trial.instances,
    )


def _row(one: Verified) -> tuple[str, str, str, str, str]:
    """What a line on a statement says."""
    verdict = one.verdict if one.as_expected else f"{one.verdict}, expected: {one.expected}"
    margin = f"{one.claim.measured:.3g} {bound_words(one.claim)}"
    return one.statement.id, verdict, margin, str(one.claim.samples), one.statement.place


def _json_number(value: float) -> float | str:
    return value if abs(value) < float("inf") else repr(value)


def _require_integer(name: str, value: Any, low: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise UsageError(
            f"{name}: received {shown(value)}, allowed is an integer of at least {low}"
        )
