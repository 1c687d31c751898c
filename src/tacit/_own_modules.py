"""The modules of the user's: which they are, and their text as Python has loaded it.

Python goes on with the code that it has loaded, whatever is written to a file meanwhile. So the
text of a module is kept when it is first looked at: while it is imported, if it has an experiment.
"""

import ast
import contextlib
import importlib.util
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

# By the identity of the spec, which is kept here so that it has no other; None is a script's.
_loaded: dict[int, tuple[ModuleSpec | None, bytes]] = {}
_FAMILY = 3  # words of `tacit.experiments.lowdim`


def remember_sources(name: str, home: str = "") -> None:
    """Keep the text of a module that is being imported, and of what it has imported by now."""
    module = sys.modules.get(name)
    if name.partition(".")[0] == "tacit" or id(getattr(module, "__spec__", None)) in _loaded:
        return
    with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError):
        file = own_file(name, home or name)
        if module is None or file is None:
            return
        tree = ast.parse(source_of(vars(module), file))
        for inner in imported_modules(tree, getattr(module, "__package__", None) or ""):
            remember_sources(inner, home or name)


def source_of(space: Mapping[str, Any], file: Path) -> bytes:
    """The text of the module with the names `space`, as it was when it was first looked at.

    Importing or reloading the module gives it another `__spec__`, and so another text.
    """
    spec = space.get("__spec__")
    if id(spec) not in _loaded:
        _loaded[id(spec)] = (spec, file.read_bytes())
    return _loaded[id(spec)][1]


def imported_modules(node: ast.AST, package: str) -> Iterator[str]:
    """The modules that the imports in a tree may mean, from the outermost inwards."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Import):
            for alias in inner.names:
                yield from _with_parents(alias.name)
        elif isinstance(inner, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - inner.level + 1]
            base = ".".join([*above, inner.module or ""] if inner.level else [inner.module or ""])
            base = base.strip(".")
            if base:
                yield from _with_parents(base)
                yield from (f"{base}.{alias.name}" for alias in inner.names if alias.name != "*")


def _with_parents(name: str) -> Iterator[str]:
    words = name.split(".")
    yield from (".".join(words[: i + 1]) for i in range(len(words)))


def own_file(name: str, home: str) -> Path | None:
    """The file of a module of the user's, found without importing it; None for any other.

    The user's are those that are not installed, and those of the package of the module `home`,
    wherever that is. Of tacit's they are those of the paper of `home`, in a clone.
    """
    top, words = name.partition(".")[0], home.split(".")
    built_in = words[0] == "tacit"
    mine = ".".join(words[: _FAMILY if built_in else 1])
    family = f"{name}.".startswith(f"{mine}.")
    if top in sys.stdlib_module_names or (top == "tacit" and not family):
        return None
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None) if module is not None else _found(name)
    path = Path(file).resolve() if file else None
    if path is None or path.suffix != ".py":
        return None
    return path if (family and not built_in) or _is_own(path) else None


def _found(name: str) -> str | None:
    try:
        spec: ModuleSpec | None = importlib.util.find_spec(name.partition(".")[0])
        for inward in list(_with_parents(name))[1:]:
            if spec is None or spec.submodule_search_locations is None:
                return None
            spec = PathFinder.find_spec(inward, list(spec.submodule_search_locations))
    except (ImportError, ValueError, AttributeError):
        return None
    return spec.origin if spec is not None and spec.has_location else None


def _is_own(path: Path) -> bool:
    if {"site-packages", "dist-packages"} & set(path.parts):
        return False
    return Path(sysconfig.get_paths()["stdlib"]).resolve() not in path.parents
