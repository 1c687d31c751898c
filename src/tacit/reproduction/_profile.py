"""Where the time of a reproduction goes: tracing, compiling, running, storing, drawing."""

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tacit._phases import OTHER, Phases, listen, listening

PHASES = ("tracing", "compiling", "running", "storing", "drawing", OTHER)

# What JAX tells of itself, by the end of the event's name.
_EVENTS = {
    "jaxpr_trace_duration": "tracing",
    "jaxpr_to_mlir_module_duration": "tracing",
    "backend_compile_duration": "compiling",
}


class Profile:
    """Wall seconds of one reproduction by what was done, and how many programs were made."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.programs = 0

    def to_dict(self) -> dict[str, Any]:
        """For JSON: seconds by phase, and `programs`."""
        seconds = {name: round(self.seconds.get(name, 0.0), 3) for name in PHASES}
        return {**seconds, "programs": self.programs}

    def words(self) -> str:
        """One line."""
        return profile_words(self.to_dict())


def profile_words(record: Mapping[str, Any]) -> str:
    """What `Profile.to_dict` holds, in one line."""
    parts = []
    for name in PHASES:
        made = f" ({record['programs']} programs)" if name == "compiling" else ""
        parts.append(f"{name} {record[name]:.1f} s{made}")
    return ", ".join(parts)


def whole_words(records: Sequence[Mapping[str, Any]]) -> str:
    """The same for several records of runs, those that have a profile, added up."""
    profiles = [record["profile"] for record in records if "profile" in record]
    names = (*PHASES, "programs")
    return profile_words({name: sum(one[name] for one in profiles) for name in names})


@contextlib.contextmanager
def profiled() -> Iterator[Profile]:
    """A profile of what happens inside, in this process; it is filled at the end.

    A program that JAX finds in its cache counts as compiled, with the time that it took to load.
    """
    _tell_of_jax()
    profile = Profile()
    with listen() as phases:
        try:
            yield profile
        finally:
            profile.seconds = phases.end()
            profile.programs = phases.counts.get("compiling", 0)


@functools.cache
def _tell_of_jax() -> None:
    """JAX's events go to whoever listens; it has no way to take a listener off again."""
    import jax

    def told(event: str, duration_secs: float, **_: Any) -> None:
        name = _EVENTS.get(event.rpartition("/")[2])
        phases: Phases | None = listening()
        if name is not None and phases is not None:
            phases.told(name, duration_secs)

    jax.monitoring.register_event_duration_secs_listener(told)
