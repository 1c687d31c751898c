"""The text that computes a cell: of the experiment's file what the cell needs, by name, and the
modules of the user's that this imports. Words and what reads stored results do not count.
"""

import ast
import inspect
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit._own_modules import imported_modules, own_file, source_of
from tacit.experiments import Experiment

# What reads stored results, and what says how they are called and cut: neither computes a cell.
APART = frozenset(
    (
        "claims", "finding", "findings", "ran", "draw", "draw_paper", "tables", "counts", "missing",
        "check", "grid", "id", "figure", "summary", "paper", "presets", "published", "version",
        "batch_by", "chunk", "source", "from_theory", "unpermuted", "unspecific", "_names_paper",
    )
)  # fmt: skip
_SKIPPED = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass
class Module:
    """A module of the user's: its text, the names that Python has in it, and what counts of it."""

    name: str  # "" is the experiment's own
    source: bytes
    space: Mapping[str, Any]
    at_once: bool  # imported whenever the experiment is
    statements: list[ast.stmt]

    def text(self) -> str:
        """What counts, as a text, without names that stand alone."""
        alone = [isinstance(s, ast.Expr) and isinstance(s.value, ast.Name) for s in self.statements]
        counted = (s for s, name in zip(self.statements, alone, strict=True) if not name)
        return f"{self.name}: {''.join(map(_text, counted))}"


def counted_modules(kind: type[Experiment]) -> list[Module]:
    """The modules that count, the experiment's first."""
    space = _names_around(kind)
    file = space.get("__file__")
    source = inspect.getsource(kind).encode() if file is None else source_of(space, Path(file))
    tree = _statements(source)
    names = [_defined(s) for s in tree]
    known, before = frozenset({kind.__qualname__}), frozenset[str]()
    while known != before:
        before = known
        # What is neither a definition nor an import may do anything: it counts.
        used = [
            _cut(_imported(s, known), space, known)
            for s, n in zip(tree, names, strict=True)
            if not n or n & known
        ]
        known |= _references(used)
    found = {kind.__module__: Module("", source, space, True, used)}
    _follow(found[kind.__module__], space.get("__package__") or "", known, kind.__module__, found)
    return list(found.values())


def _names_around(kind: type[Experiment]) -> Mapping[str, Any]:
    """The names of the module that a class was made in, which may have been loaded again since."""
    for member in vars(kind).values():
        space: Any = getattr(member, "__globals__", {})
        if space.get("__name__") == kind.__module__ and "__file__" in space:
            return space
    return vars(sys.modules[kind.__module__]) if kind.__module__ in sys.modules else {}


def _follow(
    module: Module, package: str, known: frozenset[str], home: str, found: dict[str, Module]
) -> None:
    for late in (False, True):  # then what functions import
        imports = [s for s in module.statements if late == isinstance(s, DEFINITIONS)]
        for name in sorted({n for s in imports for n in imported_modules(s, package)}):
            at_once = module.at_once and not late
            file = own_file(name, home)
            if file is None or (name in found and found[name].at_once >= at_once):
                continue
            space = vars(sys.modules[name]) if name in sys.modules else {}
            source = source_of(space, file) if space else file.read_bytes()
            statements = [_cut(s, space if at_once else {}, known) for s in _statements(source)]
            found[name] = Module(name, source, space, at_once, statements)
            inner = name if file.name == "__init__.py" else name.rpartition(".")[0]
            _follow(found[name], inner, known, home, found)


def _statements(source: bytes) -> list[ast.stmt]:
    """Those of a module that others than checkers of types run, without words."""
    tree, found = ast.parse(source), list[ast.stmt]()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [s for s in body if not _is_word(s)]  # type: ignore[attr-defined]
    for statement in tree.body:
        test: Any = getattr(statement, "test", None)
        test = test.left if isinstance(test, ast.Compare) else test
        alone = getattr(test, "attr", getattr(test, "id", "")) in ("__name__", "TYPE_CHECKING")
        found += statement.orelse if alone else [statement]  # type: ignore[attr-defined]
    return found


def _is_word(statement: ast.AST) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _defined(statement: ast.stmt) -> set[str]:
    """The names that a definition, an assignment or an import gives; none for anything else.

    Nor for what is decorated: the decorator may keep it in a table.
    """
    if isinstance(statement, DEFINITIONS):
        return set() if statement.decorator_list else {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {a.asname or a.name.partition(".")[0] for a in statement.names} - {"*"}
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        nodes = [n for target in targets for n in ast.walk(target)]
        plain = all(isinstance(n, ast.Name | ast.Tuple | ast.expr_context) for n in nodes)
        return {n.id for n in nodes if isinstance(n, ast.Name) and plain}
    return set()


def _imported(statement: ast.stmt, known: frozenset[str]) -> ast.stmt:
    """An import of the `known` names alone: another one beside them changes no cell."""
    if not isinstance(statement, ast.Import | ast.ImportFrom) or statement.names[0].name == "*":
        return statement
    names = [a for a in statement.names if (a.asname or a.name.partition(".")[0]) in known]
    return type(statement)(**{**dict(ast.iter_fields(statement)), "names": names})


def _cut(statement: ast.stmt, space: Mapping[str, Any], known: frozenset[str]) -> ast.stmt:
    """An experiment without what does not compute, unless that is `known`.

    One that adds nothing to its only base is that base's name.
    """
    kind = space.get(getattr(statement, "name", ""))
    experiment = inspect.isclass(kind) and issubclass(kind, Experiment)
    if not isinstance(statement, ast.ClassDef) or not experiment:
        return statement
    names = [{getattr(s, "name", "")} - {""} or _defined(s) for s in statement.body]
    parts = zip(statement.body, names, strict=True)
    body = [_member(s) for s, n in parts if not n or n - APART or n & known]
    if not body and len(statement.bases) == 1 and not statement.decorator_list:
        return ast.Expr(statement.bases[0])
    return ast.ClassDef(**{**dict(ast.iter_fields(statement)), "body": body})


def _member(member: ast.stmt) -> ast.stmt:
    """The declaration of a parameter without its values; what only claims read keeps them."""
    if not isinstance(member, ast.AnnAssign) or "ClassVar" in ast.unparse(member.annotation):
        return member  # no parameter, and in no address
    call = member.value
    if isinstance(call, ast.Call) and any(word.arg == "analysis" for word in call.keywords):
        return member
    return ast.AnnAssign(**{**dict(ast.iter_fields(member)), "value": None})


def _references(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Every name, attribute and word in some nodes; a word may name something by `getattr`."""
    every = (inner for outer in nodes for inner in ast.walk(outer))
    names = (getattr(n, "id", getattr(n, "attr", getattr(n, "value", None))) for n in every)
    return frozenset(name for name in names if isinstance(name, str))


def _text(node: Any) -> str:
    """A syntax tree as a text that does not change from one version of Python to the next."""
    if isinstance(node, ast.Constant) and node.value is None:
        return "None"
    if isinstance(node, ast.AST):
        fields = (
            f"{name}={_text(value)}"
            for name, value in ast.iter_fields(node)
            if name not in _SKIPPED and value is not None and value != []
        )
        return f"{type(node).__name__}({', '.join(fields)})"
    return f"[{', '.join(map(_text, node))}]" if isinstance(node, list) else repr(node)
