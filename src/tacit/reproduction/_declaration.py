"""What is asked of an experiment's declaration, before anything runs."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from tacit._doors import door, instance, subclass, text
from tacit._errors import UsageError
from tacit.experiments import Experiment, Parameter
from tacit.store import PRESENT, Plan, Variable, is_id

_KINDS = (bool, int, float, str)
# The names that `reproduce` and the dataset use themselves; those of `Experiment` are kept too.
_RESERVED = frozenset(
    {
        "accept_changed",
        "content",
        "experiment",
        "executor",
        "fresh",
        "origins",
        "preset",
        "progress",
        "results",
    }
    | {"retries", "seeds", "version", PRESENT, "outcome"}
)


@door(kind=subclass(Experiment))
def check_experiment(kind: type[Experiment]) -> None:
    """Check what a class declares, so that a wrong declaration is named before anything runs."""
    name = kind.__name__
    kept = _RESERVED | set(dir(Experiment)) | Experiment.__annotations__.keys()
    taken = sorted(kept & {entry.name for entry in _fields_of(kind)})
    if taken:
        raise UsageError(f"{name} has fields {taken}: tacit uses these names itself, choose others")
    lacking = [
        word for word in ("id", "figure", "summary", "presets") if not getattr(kind, word, 0)
    ]
    if lacking:
        raise UsageError(f"{name} lacks the class attributes {lacking}")
    if not is_id(kind.id):
        raise UsageError(
            f"{name}.id is {kind.id!r:.100}, the form is 'paper/figure', at most 200 characters"
        )
    for word in ("version", "at_once"):
        value = getattr(kind, word)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise UsageError(f"{name}.{word} is {value!r}, it must be a whole number from 1 on")
    for entry in _fields_of(kind):
        _check_annotation(name, entry, kind.parameters()[entry.name])
    _check_published(kind)
    for preset, values in kind.presets.items():
        if not isinstance(values, Mapping):
            raise UsageError(f"{name}.presets[{preset!r}] is {values!r}, give a dict of parameters")
        unknown = sorted(values.keys() - kind.parameters().keys())
        if unknown:
            raise UsageError(
                f"{name}.presets[{preset!r}] names {unknown}, which are not parameters"
            )
        try:
            made = kind(**values)
        except ValueError as error:
            raise UsageError(f"{name}.presets[{preset!r}]: {error}") from error
        try:
            made.grid()  # its own checks: axes there, batch_by and chunk among them
        except ValueError as error:
            raise UsageError(f"{name}.{error}") from error
        if made.missing() is None:  # without its data it may not know what it stores
            planned(made, preset)


def _fields_of(kind: type[Experiment]) -> tuple[dataclasses.Field[Any], ...]:
    """The fields of the dataclass that every experiment is."""
    return dataclasses.fields(kind)  # type: ignore[arg-type]


def _check_published(kind: type[Experiment]) -> None:
    for axis, values in kind.published.items():
        spec = kind.parameters().get(axis)
        if spec is None or not spec.swept:
            raise UsageError(f"{kind.__name__}.published names {axis!r}, which is not swept")
        try:
            spec.normalised(axis, values)
        except UsageError as error:
            raise UsageError(f"{kind.__name__}.published: {error}") from None


def _check_annotation(name: str, entry: dataclasses.Field[Any], spec: Parameter) -> None:
    """The kind of a parameter is its default's; the annotation, where it is a plain one, agrees."""
    written = entry.type.__name__ if isinstance(entry.type, type) else str(entry.type)
    plain = {word for kind in _KINDS for word in (kind.__name__, f"tuple[{kind.__name__}, ...]")}
    default: Any = entry.default
    one = spec.kind.__name__
    meant = f"tuple[{one}, ...]" if spec.many else one
    if written not in plain or written == meant:
        return
    remedy = f"annotate it as {meant}"
    if written == meant.replace("int", "float"):
        remedy = f"write {tuple(map(float, default)) if spec.many else float(default)}"
    raise UsageError(
        f"{name}.{entry.name} is annotated as {written}, but its default {default!r} is "
        f"{meant}: {remedy}"
    )


@door(answer="any", experiment=instance(Experiment), name=text)
def planned(experiment: Experiment, name: str) -> Plan:
    """The grid with what is declared of its cells, checked before anything runs."""
    for method in ("variables", "coordinates"):
        given: Any = getattr(experiment, method)()
        if not isinstance(given, Mapping):
            raise UsageError(f"{experiment.id}: {method}() returned {given!r}, give a dict")
    variables, coords = experiment.stored(), experiment.coordinates()
    for variable, words in variables.items():
        if not isinstance(words, Variable):
            raise UsageError(
                f"{experiment.id}: variables() has {words!r} for {variable!r}, give a Variable: "
                'Variable("what it is")'
            )
    if variables["outcome"].dims:
        raise UsageError(f"{experiment.id}: 'outcome' is one word per cell, without dimensions")
    parameters = experiment.parameters()
    names = [*parameters, *coords, *variables, PRESENT]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            f"{experiment.id}: {twice} are used twice among the names of parameters, coordinates "
            "and variables; rename one of each"
        )
    attrs = {n: {"long_name": p.doc, "units": p.units} for n, p in parameters.items()}
    return Plan(experiment.axes(), experiment.constants(), variables, coords, attrs, name)
