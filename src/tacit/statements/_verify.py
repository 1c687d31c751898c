"""Verify statements: margins, verdicts, and whether anything unexpected happened."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tacit._errors import UsageError
from tacit.claims import Claim
from tacit.statements._instance import Instance, broken_hypotheses, read_instance
from tacit.statements._registry import find_statements
from tacit.statements._statement import Erratum, Statement
from tacit.statements._trial import Trial, margin_of, try_statement

CORRECTED: Literal["holds with a correction"] = "holds with a correction"


@dataclass(frozen=True, eq=False, kw_only=True)
class Verified:
    """A statement that was checked.

    **Arguments:**

    - `statement`: what was checked.
    - `claim`: the record that experiments use: the worst margin against the bound.
    - `worst`: the instance with the worst margin.
    - `printed`: for each erratum the trial of the printed form, which should fail.
    - `mutants`: for each mutation, and each hypothesis left out, whether the check caught it;
      empty when that was not asked for.
    - `seconds`: wall time.
    - `replayed`: whether it is one instance from a file, for which a printed form may well hold.
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
        """The verdict that is known to come out."""
        return CORRECTED if self.statement.errata else self.statement.expected

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one, each erratum shown, each mutant caught."""
        if self.replayed:
            return self.claim.as_expected
        shown = all(not trial.met for _, trial in self.printed)
        caught = all(caught for _, caught in self.mutants)
        return self.verdict == self.expected and shown and caught

    def to_dict(self) -> dict[str, Any]:
        """The record in JSON's types."""
        claim = self.claim.to_dict()
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
                    "worst_margin_as_printed": _json_number(trial.margin),
                    "shown": not trial.met,
                }
                for erratum, trial in self.printed
            ],
            "mutants": dict(self.mutants),
            "claim": claim,
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class Verification:
    """Statements that were checked, with the `seed` of their instances."""

    statements: tuple[Verified, ...]
    seed: int
    seconds: float

    @property
    def as_expected(self) -> bool:
        """Whether nothing unexpected happened."""
        return all(one.as_expected for one in self.statements)

    def to_dict(self) -> dict[str, Any]:
        """The record in JSON's types: what `--json` prints."""
        return {
            "statements": [one.to_dict() for one in self.statements],
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "as_expected": self.as_expected,
        }


def verify(
    *targets: str,
    instances: int | None = None,
    seed: int = 0,
    mutations: bool = False,
    progress: Callable[[Statement], None] | None = None,
) -> Verification:
    """Check statements of the papers on random instances.

        tacit.verify("memoryless/lemma3.1", instances=100).statements[0].verdict

    **Arguments:**

    - `targets`: papers or ids; everything when there is none.
    - `instances`: how many of each; the statement's own number unless given.
    - `seed`: of the instances.
    - `mutations`: whether to try also that wrong constants and broken hypotheses are caught.
    - `progress`: called with each statement before it is checked.
    """
    if instances is not None:
        _require_integer("instances", instances, 1)
    _require_integer("seed", seed, 0)
    chosen = find_statements(*targets)
    begun = time.perf_counter()
    done = []
    for one in chosen:
        if progress is not None:
            progress(one)
        done.append(_verified(one, instances, seed, mutations))
    return Verification(statements=tuple(done), seed=seed, seconds=time.perf_counter() - begun)


def replay(path: str | Path) -> Verification:
    """Check the one instance that a file holds."""
    instance = read_instance(Path(path))
    found = find_statements(instance.statement)
    if [one.id for one in found] != [instance.statement]:
        raise UsageError(f"replay: {str(path)!r} names {instance.statement!r}, not a statement")
    statement = found[0]
    if instance.without not in ("", *statement.without):
        raise UsageError(
            f"replay: {str(path)!r} leaves out {instance.without!r}, which is no hypothesis that "
            f"{statement.id} is tried without"
        )
    if broken := [b for b in broken_hypotheses(statement, instance) if b != instance.without]:
        raise UsageError(
            f"replay: {str(path)!r} is no instance of {statement.id}, it breaks the hypothesis "
            + " and ".join(repr(name) for name in broken)
        )
    begun = time.perf_counter()
    margin = margin_of(statement, instance)
    trial = Trial(1, margin, instance, statement.is_met(margin))
    printed = tuple(
        (erratum, Trial(1, value, instance, statement.is_met(value)))
        for erratum in statement.errata
        if erratum.constants
        for value in [margin_of(statement, instance, erratum.constants)]
    )
    seconds = time.perf_counter() - begun
    verified = Verified(
        statement=statement,
        claim=_claim(statement, trial),
        worst=instance,
        printed=printed,
        seconds=seconds,
        replayed=True,
    )
    return Verification(statements=(verified,), seed=instance.seed, seconds=seconds)


def _verified(statement: Statement, instances: int | None, seed: int, mutations: bool) -> Verified:
    begun = time.perf_counter()
    trial = try_statement(statement, instances=instances, seed=seed)
    printed = tuple(
        (erratum, try_printed(statement, erratum, instances=instances, seed=seed))
        for erratum in statement.errata
    )
    mutants = tuple(try_mutants(statement, seed=seed).items()) if mutations else ()
    return Verified(
        statement=statement,
        claim=_claim(statement, trial),
        worst=trial.worst,
        printed=printed,
        mutants=mutants,
        seconds=time.perf_counter() - begun,
    )


def try_printed(
    statement: Statement, erratum: Erratum, *, instances: int | None = None, seed: int = 0
) -> Trial:
    """The printed form on as many instances; on more, up to the usual number, until it fails."""
    options: dict[str, Any] = {
        "seed": seed,
        "constants": erratum.constants,
        "without": erratum.without or "",
    }
    trial = try_statement(statement, instances=instances, **options)
    if trial.met and trial.instances < statement.instances:
        trial = try_statement(statement, **options, until_failure=True)
    return trial


def try_mutants(statement: Statement, *, seed: int = 0) -> dict[str, bool]:
    """Whether the check catches each mutation, and each hypothesis that is left out."""
    caught = {}
    for mutation in statement.mutations:
        name = ", ".join(f"{key}={value!r}" for key, value in mutation.items())
        trial = try_statement(statement, seed=seed, constants=mutation, until_failure=True)
        caught[name] = not trial.met
    for hypothesis in statement.without:
        trial = try_statement(statement, seed=seed, without=hypothesis, until_failure=True)
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


def _json_number(value: float) -> float | str:
    return value if abs(value) < float("inf") else repr(value)


def _require_integer(name: str, value: Any, low: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise UsageError(f"{name}: received {value!r}, allowed is an integer, at least {low}")
