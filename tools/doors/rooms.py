"""Every public name of every public room."""

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

ROOMS = (
    "tacit",
    *(f"tacit.theory.{paper}" for paper in (
        "connectivity", "depth", "kernel", "lowdim", "memoryless", "regimes",
    )),
    *(f"tacit.{room}" for room in (
        "measures", "models", "problems", "problems.tasks", "descent", "claims", "draw", "data",
        "store", "sweep", "experiments", "checkpoints",
    )),
)  # fmt: skip


def doors() -> Iterator[tuple[str, Any]]:
    """Functions and classes, each under the first name that it is public by, without `tacit.`."""
    seen: set[int] = set()
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in module.__all__:
            door = getattr(module, name)
            called = inspect.isroutine(door) or inspect.isclass(door)
            if not called or id(door) in seen or _is_error(door):
                continue
            seen.add(id(door))
            yield f"{room}.{name}".removeprefix("tacit."), door


def found(name: str) -> Any:
    """The function, class or method of a recorded call."""
    parts = name.split(".")
    for cut in range(len(parts), -1, -1):
        try:
            thing: Any = importlib.import_module(".".join(["tacit", *parts[:cut]]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            thing = getattr(thing, part)
        return thing
    raise AttributeError(name)


def _is_error(door: Any) -> bool:
    return inspect.isclass(door) and issubclass(door, BaseException)
