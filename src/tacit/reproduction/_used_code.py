"""Which statements of an experiment's own file its cell is computed by."""

import ast
import builtins
from collections.abc import Iterable

from tacit._own_modules import imported_modules, own_file
from tacit.experiments import Experiment
from tacit.reproduction._tree_text import is_word, without_words

# What reads stored results, and what says how they are called and cut: neither computes a cell.
_READERS = frozenset(
    {"claims", "draw", "draw_paper", "tables", "counts", "missing", "check", "grid"}
)
_WORDS = frozenset(
    {"id", "figure", "summary", "paper", "presets", "published", "version", "batch_by", "chunk"}
)


def used_by(tree: ast.Module, kind: type[Experiment], package: str) -> list[ast.stmt]:
    """The statements that a class needs to compute, in order; all if it is not among them."""
    name = kind.__qualname__
    kept = (s for s in tree.body if not _only_run_as_a_program(s) and not is_word(s))
    body = [without_words(statement) for statement in kept]
    others = _foreign_names(body, kind.__module__, package)
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


def _foreign_names(body: Iterable[ast.stmt], home: str, package: str) -> set[str]:
    """What comes from Python, or from modules that are not the user's."""
    found = {*dir(builtins)}
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            names = imported_modules(statement, package)
            own = any(own_file(name, home) is not None for name in names)
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
