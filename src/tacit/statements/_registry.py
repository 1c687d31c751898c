"""The registry: it finds papers by their packages and imports one only when it is asked for."""

import importlib
import pkgutil

from tacit._errors import UsageError, nearest
from tacit.statements._statement import REGISTERED, Statement

_ROOM = "tacit.statements"


def paper_names() -> list[str]:
    """The papers that have statements. None of them is imported."""
    room = importlib.import_module(_ROOM)
    return sorted(m.name for m in pkgutil.iter_modules(room.__path__) if m.name[0] != "_")


def statement_ids(paper: str | None = None) -> list[str]:
    """The ids of all statements, or of one paper's, in the order of the files."""
    papers = paper_names() if paper is None else [paper]
    return [found.id for name in papers for found in _statements_of(name)]


def find_statements(*targets: str | Statement) -> list[Statement]:
    """The statements named by papers and ids, each once; all of them if there is no target.

    A `Statement` stands for itself, registered or not.
    """
    chosen: dict[str, Statement] = {}
    for target in targets or paper_names():
        if isinstance(target, Statement):
            chosen[target.id] = target
            continue
        if not isinstance(target, str):
            raise UsageError(
                f"statement: received {target!r}, allowed is a paper, an id or a Statement"
            )
        paper = target.partition("/")[0]
        if paper not in paper_names():
            known = paper_names() if "/" not in target else statement_ids()
            raise UsageError(f"statement: {target!r} is not known, {nearest(target, known)}")
        found = {one.id: one for one in _statements_of(paper)}
        if target != paper and target not in found:
            raise UsageError(f"statement: {target!r} is not known, {nearest(target, found)}")
        chosen |= found if target == paper else {target: found[target]}
    return list(chosen.values())


def _statements_of(paper: str) -> list[Statement]:
    importlib.import_module(f"{_ROOM}.{paper}")
    return [one for one in REGISTERED.values() if one.paper == paper]
