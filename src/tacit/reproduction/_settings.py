"""Settings from the command line: `name=v1,v2`, with `5..20` or `5:20` for integers."""

import re
from collections.abc import Iterable
from typing import Any

from tacit._errors import UsageError, shown
from tacit.experiments import Experiment, Parameter

_RANGE = re.compile(r"(-?\d+)(?::|\.\.)(-?\d+)")
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_MOST_VALUES = 100_000


def parse_setting(experiment: type[Experiment], text: str) -> tuple[str, Any]:
    """The name and the value or values of `name=v1,v2`, as the experiment's parameter holds them.

    A range of integers includes both its ends. Wrong names and values are `UsageError`s.
    """
    name, equals, words = (part.strip() for part in text.partition("="))
    if not equals or not name or not words:
        raise UsageError(f"set: received {shown(text)}, the form is name=value or name=v1,v2")
    spec = experiment.parameter_named(name)
    values: list[Any] = []
    for word in words.split(","):
        values += _values(name, spec, word.strip())
        if len(values) > _MOST_VALUES:
            raise UsageError(
                f"{name}: received too many values, at most {_MOST_VALUES} are allowed"
            )
    return name, spec.normalised(name, values)


def parse_settings(experiment: type[Experiment], texts: Iterable[str]) -> dict[str, Any]:
    """Several settings, each parameter at most once."""
    settings: dict[str, Any] = {}
    for text in texts:
        name, value = parse_setting(experiment, text)
        if name in settings:
            raise UsageError(f"{name}: received twice, give all its values in one setting")
        settings[name] = value
    return settings


def parse_seeds(text: str | None) -> int | range | None:
    """`60` for the seeds 0 … 59, or a range with both its ends: `100..159`."""
    if text is None:
        return None
    word = text.strip()
    if match := _RANGE.fullmatch(word):
        return _range("seeds", word, int(match[1]), int(match[2]))
    try:
        return int(word)
    except ValueError:
        raise UsageError(
            f"seeds: received {shown(text)}, allowed is an integer N for the seeds 0 … N − 1, or a "
            "range A..B"
        ) from None


def _range(name: str, word: str, first: int, last: int) -> range:
    if not 0 <= last - first < _MOST_VALUES:
        raise UsageError(
            f"{name}: received the range {shown(word)}, it must go upwards and hold at most "
            f"{_MOST_VALUES} values"
        )
    return range(first, last + 1)


def _values(name: str, spec: Parameter, word: str) -> list[Any]:
    if spec.kind is int and (match := _RANGE.fullmatch(word)):
        return list(_range(name, word, int(match[1]), int(match[2])))
    if spec.kind is str:
        return [word]
    if spec.kind is bool:
        if word.lower() in _TRUE + _FALSE:
            return [word.lower() in _TRUE]
    else:
        for kind in (int, float):
            try:
                return [kind(word)]
            except ValueError:
                continue
    raise UsageError(f"{name}: received {shown(word)}, allowed is {spec.allowed}")
