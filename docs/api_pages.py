"""The reference of the public names, one page a room, from signatures and docstrings.

The docstrings are Markdown, which Sphinx's autodoc would read as reStructuredText; pages in
Markdown show them as they are written.
"""

import importlib
import inspect
from pathlib import Path
from typing import Any

ROOMS = (
    "descent",
    "models",
    "problems",
    "problems.tasks",
    "measures",
    "theory.lowdim",
    "theory.memoryless",
    "theory.kernel",
    "theory.depth",
    "theory.connectivity",
    "theory.regimes",
    "experiments",
    "reproduction",
    "statements",
    "claims",
    "draw",
    "sweep",
    "checkpoints",
    "data",
)


def write_api_pages(folder: Path) -> None:
    """Write a page for each room, and one that lists them."""
    folder.mkdir(exist_ok=True)
    lines = ["# Reference", "", "Every public name, from its docstring.", "", "```{toctree}"]
    for room in ROOMS:
        (folder / f"{room}.md").write_text(page(room), encoding="utf-8")
        lines.append(room)
    (folder / "index.md").write_text("\n".join([*lines, "```", ""]), encoding="utf-8")


def page(room: str) -> str:
    """The page of one room."""
    module = importlib.import_module(f"tacit.{room}")
    parts = [f"# tacit.{room}", inspect.getdoc(module) or ""]
    for name in sorted(module.__all__, key=str.casefold):
        parts.append(f"## {name}\n\n{_entry(name, getattr(module, name))}")
    return "\n\n".join(parts) + "\n"


def _entry(name: str, value: Any) -> str:
    if not callable(value) or not hasattr(value, "__module__"):
        return f"```text\n{name} = {repr(value)[:200]}\n```"
    words = [_signature(name, value), inspect.getdoc(value) or ""]
    if isinstance(value, type):
        for member, function in sorted(vars(value).items()):
            function = getattr(function, "__func__", function)
            if not member.startswith("_") and inspect.isfunction(function) and function.__doc__:
                words += [_signature(f"{name}.{member}", function), inspect.getdoc(function) or ""]
    return "\n\n".join(words)


def _signature(name: str, value: Any) -> str:
    try:
        return f"```text\n{name}{inspect.signature(value)}\n```"
    except (TypeError, ValueError):
        return f"```text\n{name}\n```"
