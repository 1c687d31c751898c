"""The fingerprint of the code that computes an experiment's cells.

Two files have one fingerprint when their cells are computed by the same syntax tree: comments,
formatting and docstrings do not count, nor does what runs on stored results only (claims, figure,
tables), nor the declared values of parameters, which are in the address of a cell.
"""

import ast
import hashlib
import inspect
import sys
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tacit._errors import UsageError
from tacit._own_modules import imported_modules, own_file, source_of
from tacit._version import __version__
from tacit.experiments import Experiment
from tacit.reproduction._edited import edited_function, functions_in
from tacit.reproduction._live_values import DEFINITIONS, put_live_values, read_texts
from tacit.reproduction._tree_text import tree_text
from tacit.reproduction._used_code import used_by

_BUILT_IN = f"tacit {__version__}"


def fingerprint(kind: type[Experiment]) -> str | None:
    """A digest of the code behind `cell`; the package's version if built in; None if unknown.

    It covers the file of the experiment, as far as its cell uses it, and the modules of the user's
    that this imports, wherever they are, and those of its own package; not the standard library and
    other installed packages. It is that of the code that Python has loaded, with the constants
    that it has now, and the data that these modules have read from files when they were imported.
    """
    if kind.__module__.partition(".")[0] == "tacit":
        return _BUILT_IN
    try:
        texts = _Trees(kind).texts()
    except UsageError:
        raise
    except (OSError, SyntaxError, ValueError, TypeError, RecursionError):
        return None  # typed at a prompt, or not to be found any more
    return hashlib.blake2b("\n".join(texts).encode(), digest_size=16).hexdigest()


def is_built_in(code: str | None) -> bool:
    """Whether a fingerprint is that of an experiment that came with tacit."""
    return code is not None and code.startswith("tacit ")


class _Trees:
    """The syntax trees that count: the experiment's own file, and the modules that it imports."""

    def __init__(self, kind: type[Experiment]) -> None:
        self._kind = kind
        self._space = _names_around(kind)
        self._package: str = self._space.get("__package__") or ""
        file = self._space.get("__file__")
        if file is None:
            source = textwrap.dedent(inspect.getsource(kind)).encode()
        else:
            source = source_of(self._space, Path(file))
        self._tree = ast.parse(source)
        # The names of the modules in the order in which they are found: trees, and what they hold.
        self._others: dict[str, tuple[ast.Module, Mapping[str, Any]]] = {}
        self._sources = {file: source}
        used = used_by(ast.parse(source), kind, self._package)
        self._follow(used, self._package, {kind.__module__})
        self._refuse_edited()

    def texts(self) -> list[str]:
        """What counts, as texts, one for each module."""
        set_elsewhere = {
            node.attr
            for tree in (self._tree, *(tree for tree, _ in self._others.values()))
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }
        put_live_values(self._tree, self._space, set_elsewhere)
        used = used_by(self._tree, self._kind, self._package)
        found = ["".join(map(tree_text, used)), *read_texts(used, self._space)]
        at_once = self._imported_at_once(used)
        for name, (tree, space) in self._others.items():
            put_live_values(tree, space, set_elsewhere)
            found.append(f"{name}: {tree_text(tree)}")
            read = read_texts(tree.body, space) if name in at_once else ()
            found += (f"{name}.{words}" for words in read)
        return found

    def _imported_at_once(self, used: Iterable[ast.AST]) -> set[str]:
        """The modules that are there whenever the experiment's is: no function imports them."""
        found: set[str] = set()
        left = [(used, self._package)]
        while left:
            statements, package = left.pop()
            outside = (s for s in statements if not isinstance(s, DEFINITIONS))
            names = {n for s in outside for n in imported_modules(s, package)}
            for name in (names & self._others.keys()) - found:
                found.add(name)
                tree, space = self._others[name]
                left.append((tree.body, space.get("__package__") or ""))
        return found

    def _follow(self, statements: Iterable[ast.AST], package: str, seen: set[str]) -> None:
        names = {name for s in statements for name in imported_modules(s, package)}
        for name in sorted(names - seen):
            seen.add(name)
            file = own_file(name, self._kind.__module__)
            if file is None:
                continue
            module = sys.modules.get(name)
            space = vars(module) if module is not None else {}
            source = source_of(space, file) if module is not None else file.read_bytes()
            self._sources[space.get("__file__")] = source
            tree = ast.parse(source)
            self._others[name] = tree, space
            inner = name if file.name == "__init__.py" else name.rpartition(".")[0]
            self._follow([tree], inner, seen)

    def _refuse_edited(self) -> None:
        """A file that has other functions than Python has loaded is no witness of what runs."""
        modules = {self._kind.__module__, *self._others}
        spaces = [{"": self._kind}, self._space, *(space for _, space in self._others.values())]
        functions = (function for space in spaces for function in functions_in(space, modules))
        changed = edited_function(functions, self._sources)
        if changed is not None:
            raise UsageError(
                f"experiment: {Path(changed.__code__.co_filename).name} was edited after it was "
                f"imported ({changed.__code__.co_qualname} is another there than here): import it "
                "again, in a new process or by importlib.reload"
            )


def _names_around(kind: type[Experiment]) -> Mapping[str, Any]:
    """The names of the module that a class was made in, which may have been loaded again since."""
    for member in vars(kind).values():
        space: Any = getattr(member, "__globals__", {})
        if space.get("__name__") == kind.__module__ and "__file__" in space:
            return space
    return vars(sys.modules[kind.__module__]) if kind.__module__ in sys.modules else {}
