"""Where the time of a run goes: a clock for each kind of work, of which one runs at a time.

Without a `Phases` that listens, `phase` costs nothing that could be noticed.
"""

import contextlib
import functools
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

OTHER = "other"


class Phases:
    """Wall seconds by the name of what was done, each moment counted once."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.counts: dict[str, int] = {}
        self._names = [OTHER]
        self._since = time.perf_counter()
        self._told: list[tuple[float, float]] = []  # the start and length of what JAX has told

    def _note(self, name: str, seconds: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def _switch(self) -> None:
        now = time.perf_counter()
        self._note(self._names[-1], now - self._since)
        self._since = now

    @contextlib.contextmanager
    def at(self, name: str) -> Iterator[None]:
        """What happens inside is counted under `name`, and not under what is around it."""
        self._switch()
        self._names.append(name)
        try:
            yield
        finally:
            self._switch()
            self._names.pop()

    def told(self, name: str, seconds: float) -> None:
        """Something that has just ended took `seconds`; it goes off what is being done.

        What was told of it before, from within, is not counted twice.
        """
        start = time.perf_counter() - seconds
        within = 0.0
        while self._told and self._told[-1][0] >= start:
            within += self._told.pop()[1]
        self._told.append((start, seconds))
        self._note(name, seconds - within)
        self._note(self._names[-1], within - seconds)
        self.counts[name] = self.counts.get(name, 0) + 1

    def end(self) -> dict[str, float]:
        """All seconds until now."""
        self._switch()
        return {name: max(seconds, 0.0) for name, seconds in self.seconds.items()}


_LISTENING: ContextVar[Phases | None] = ContextVar("phases", default=None)


def listening() -> Phases | None:
    """The clocks that run, if any."""
    return _LISTENING.get()


@contextlib.contextmanager
def listen() -> Iterator[Phases]:
    """Clocks for what happens inside."""
    phases = Phases()
    before = _LISTENING.set(phases)
    try:
        yield phases
    finally:
        _LISTENING.reset(before)


@contextlib.contextmanager
def phase(name: str) -> Iterator[None]:
    """Count what happens inside under `name`, if somebody listens."""
    phases = _LISTENING.get()
    if phases is None:
        yield
        return
    with phases.at(name):
        yield


def counted_as(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The same for a whole function."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            with phase(name):
                return function(*args, **kwargs)

        return wrapped

    return decorate
