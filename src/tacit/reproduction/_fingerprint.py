"""The fingerprint of the code that computes an experiment's cells.

Two files have one fingerprint when their cells are computed by the same syntax tree: comments,
formatting and docstrings do not count, nor does what runs on stored results only (claims, figure,
tables), nor the declared values of parameters, which are in the address of a cell.
"""

import ast
import builtins
import functools
import hashlib
import importlib.util
import inspect
import sys
import sysconfig
import textwrap
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from tacit._errors import UsageError
from tacit._version import __version__
from tacit.experiments import Experiment
from tacit.reproduction._edited import edited_function

_BUILT_IN = f"tacit {__version__}"
# What reads stored results, and what says how they are called and cut: neither computes a cell.
_READERS = frozenset(
    {"claims", "draw", "draw_paper", "tables", "counts", "missing", "check", "grid"}
)
_WORDS = frozenset(
    {"id", "figure", "summary", "paper", "presets", "published", "version", "batch_by", "chunk"}
)
_SKIPPED = frozenset({"ctx", "kind", "type_comment", "type_ignores"})


@functools.cache
def fingerprint(kind: type[Experiment]) -> str | None:
    """A digest of the code behind `cell`; the package's version if built in; None if unknown.

    It covers the file of the experiment, as far as its cell uses it, and the modules of the user's
    that this imports, wherever they are; not the standard library and installed packages.
    """
    if kind.__module__.partition(".")[0] == "tacit":
        return _BUILT_IN
    trees = _Trees()
    try:
        trees.add_experiment(kind)
    except UsageError:
        raise
    except (OSError, SyntaxError, ValueError, TypeError, RecursionError):
        return None  # typed at a prompt, or not to be found any more
    return hashlib.blake2b("\n".join(trees.texts).encode(), digest_size=16).hexdigest()


def is_built_in(code: str | None) -> bool:
    """Whether a fingerprint is that of an experiment that came with tacit."""
    return code is not None and code.startswith("tacit ")


class _Trees:
    """The syntax trees that count, as texts, one for each module."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._seen: set[str] = set()

    def add_experiment(self, kind: type[Experiment]) -> None:
        module = sys.modules.get(kind.__module__)
        file = getattr(module, "__file__", None)
        if file is None:
            tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
        else:
            tree = ast.parse(_source(kind.__module__, Path(file)))
        statements = _used_by(tree, kind)
        self._seen.add(kind.__module__)
        self.texts.append("".join(_text(statement) for statement in statements))
        self._follow(statements, getattr(module, "__package__", None) or "")

    def _follow(self, statements: Iterable[ast.AST], package: str) -> None:
        names = {name for s in statements for name in _imported(s, package)}
        for name in sorted(names - self._seen):
            self._seen.add(name)
            file = _own_file(name)
            if file is None:
                continue
            tree = ast.parse(_source(name, file))
            self.texts.append(f"{name}: {_text(tree)}")
            inner = name if file.name == "__init__.py" else name.rpartition(".")[0]
            self._follow([tree], inner)


# Which statements of the experiment's own file count.


def _used_by(tree: ast.Module, kind: type[Experiment]) -> list[ast.AST]:
    """The statements that a class needs to compute, in order; all if it is not among them."""
    name = kind.__qualname__
    kept = (s for s in tree.body if not _only_run_as_a_program(s) and not _is_word(s))
    body = [_without_words(statement) for statement in kept]
    others = _foreign_names(body)
    # What a decorator of the user's own is given, it may keep in a table that the cell reads.
    defined = [None if _decorators(s) - others else _defined(s) for s in body]
    classes = {s.name: s for s in body if isinstance(s, ast.ClassDef)}
    if name not in classes:
        return list(body)
    passed = {name}
    while (base := _stands_for(classes[name])) in classes.keys() - passed:
        passed.add(base)
        name = base
    # Only what is an experiment has claims, and parameters for fields.
    kinds = {k.__name__ for k in kind.__mro__ if issubclass(k, Experiment)}

    def counted(positions: Iterable[int], known: frozenset[str]) -> list[ast.stmt]:
        chosen = (body[i] for i in sorted(positions))
        return [_cell_only(s, known) if _class_name(s) in kinds else s for s in chosen]

    # What is neither a definition nor an import may do anything: it counts.
    used = {i for i, names in enumerate(defined) if names is None or name in names}
    while True:
        known = _references(counted(used, frozenset()))
        known = _references(counted(used, known))
        more = {i for i, names in enumerate(defined) if names and names & known} - used
        if not more:
            return [*counted(used, known)]
        used |= more


def _class_name(statement: ast.stmt) -> str | None:
    return statement.name if isinstance(statement, ast.ClassDef) else None


def _foreign_names(body: Iterable[ast.stmt]) -> set[str]:
    """What comes from Python, or from modules that are not the user's."""
    found = {*dir(builtins)}
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            own = any(_own_file(name) is not None for name in _imported(statement, ""))
            found |= set() if own else _defined(statement) or set()
    return found


def _decorators(statement: ast.stmt) -> set[str]:
    """The names that the decorators of a definition begin with."""
    found = set()
    for node in getattr(statement, "decorator_list", ()):
        while isinstance(node, ast.Attribute | ast.Call):
            node = node.func if isinstance(node, ast.Call) else node.value
        found.add(node.id if isinstance(node, ast.Name) else "")
    return found


def _stands_for(kind: ast.ClassDef) -> str:
    """The one base of a class that adds nothing to it that computes; else nothing."""
    counted = _cell_only(kind, frozenset())
    alone = isinstance(counted, ast.ClassDef) and not counted.body and not kind.decorator_list
    base = kind.bases[0] if alone and len(kind.bases) == 1 and not kind.keywords else None
    return base.id if isinstance(base, ast.Name) else ""


def _only_run_as_a_program(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.If)
        and isinstance(statement.test, ast.Compare)
        and isinstance(statement.test.left, ast.Name)
        and statement.test.left.id == "__name__"
    )


def _defined(statement: ast.stmt) -> set[str] | None:
    """The names that a definition, an assignment or an import gives; None for anything else."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        if any(alias.name == "*" for alias in statement.names):
            return None  # any name may be from there
        return {(a.asname or a.name.partition(".")[0]) for a in statement.names}
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = [n for target in targets for n in ast.walk(target)]
        plain = all(
            isinstance(n, ast.Name | ast.Tuple | ast.List | ast.expr_context) for n in names
        )
        return {n.id for n in names if isinstance(n, ast.Name)} if plain else None
    return None


def _references(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Every name, attribute and word in some nodes; a word may name something by `getattr`."""
    found = set()
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return frozenset(found)


def _cell_only(statement: ast.stmt, known: frozenset[str]) -> ast.stmt:
    """An experiment without what runs on stored results only, unless that is used."""
    assert isinstance(statement, ast.ClassDef)
    body = [_member(s) for s in statement.body if _named(s) is None or _named(s) in known]
    fields = {name: value for name, value in ast.iter_fields(statement) if name != "body"}
    return ast.ClassDef(**fields, body=body)


def _named(member: ast.stmt) -> str | None:
    """The name of a member of a class that does not compute; None for all others."""
    if isinstance(member, ast.FunctionDef) and member.name in _READERS:
        return member.name
    names = _defined(member) if isinstance(member, ast.Assign | ast.AnnAssign) else None
    return next(iter(names)) if names and names <= _WORDS else None


def _member(member: ast.stmt) -> ast.stmt:
    """The declaration of a parameter without its values; what only claims read keeps them."""
    if not isinstance(member, ast.AnnAssign) or member.value is None:
        return member
    if "ClassVar" in ast.unparse(member.annotation):
        return member  # no parameter, and in no address
    call = member.value
    if isinstance(call, ast.Call) and any(word.arg == "analysis" for word in call.keywords):
        return member
    return ast.AnnAssign(
        target=member.target, annotation=member.annotation, value=None, simple=member.simple
    )


# Texts of trees.


def _without_words(node: Any) -> Any:
    """The same tree without docstrings and other statements that are a word alone."""
    for inner in ast.walk(node):
        body = getattr(inner, "body", None)
        if isinstance(body, list):
            inner.body = [s for s in body if not _is_word(s)]  # type: ignore[attr-defined]
    return node


def _is_word(statement: ast.AST) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _text(node: Any) -> str:
    """A syntax tree as a text that does not change from one version of Python to the next."""
    if isinstance(node, ast.Module):
        node = _without_words(node)
    if isinstance(node, ast.AST):
        fields = (
            f"{name}={_text(value)}"
            for name, value in ast.iter_fields(node)
            if name not in _SKIPPED and value is not None and value != []
        )
        if isinstance(node, ast.Constant) and node.value is None:
            return "None"
        return f"{type(node).__name__}({', '.join(fields)})"
    if isinstance(node, list):
        return f"[{', '.join(map(_text, node))}]"
    return repr(node)


# Imports, and whose they are.


_loaded: dict[str, tuple[ModuleSpec, bytes]] = {}


def _source(name: str, file: Path) -> bytes:
    """The text of a module; of one that is loaded as it was when it was first looked at.

    Python goes on with the code that it has loaded, whatever is written to the file meanwhile;
    importing or reloading the module gives it another `__spec__`.
    """
    spec = getattr(sys.modules.get(name), "__spec__", None)
    if spec is None:
        return file.read_bytes()
    if name not in _loaded or _loaded[name][0] is not spec:
        source = file.read_bytes()
        changed = edited_function(sys.modules[name], source)
        if changed is not None:
            raise UsageError(
                f"experiment: {file.name} was edited after it was imported ({changed} is another "
                "there than here): import it again, in a new process or by importlib.reload"
            )
        _loaded[name] = (spec, source)
    return _loaded[name][1]


def _imported(node: ast.AST, package: str) -> Iterator[str]:
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


def _own_file(name: str) -> Path | None:
    """The file of a module of the user's, found without importing it; None for any other."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or top == "tacit":
        return None
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None) if module is not None else _found(name)
    path = Path(file).resolve() if file else None
    return path if path is not None and path.suffix == ".py" and _is_own(path) else None


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
    library = Path(sysconfig.get_paths()["stdlib"]).resolve()
    return library not in path.parents
