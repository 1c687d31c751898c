"""Where statements are found: each public file of this room is a paper."""

import importlib
import pkgutil

from tacit._errors import UsageError, nearest
from tacit.statements._statement import REGISTERED, Statement

_ROOM = "tacit.statements"


def paper_names() -> list[str]:
    """The papers that have statements, without importing one."""
    room = importlib.import_module(_ROOM)
    return sorted(m.name for m in pkgutil.iter_modules(room.__path__) if m.name[0] != "_")


def statement_ids(paper: str | None = None) -> list[str]:
    """Every known id, or those of one paper, in the order of the files."""
    papers = paper_names() if paper is None else [paper]
    return [made.id for name in papers for made in _of_paper(name)]


def find_statements(*targets: str) -> list[Statement]:
    """The statements of papers and ids, each once; all of them for no target."""
    chosen: dict[str, Statement] = {}
    for target in targets or paper_names():
        paper = target.partition("/")[0]
        if paper not in paper_names():
            known = paper_names() if "/" not in target else statement_ids()
            raise UsageError(f"statement: {target!r} is not known, {nearest(target, known)}")
        found = {made.id: made for made in _of_paper(paper)}
        if target != paper and target not in found:
            raise UsageError(f"statement: {target!r} is not known, {nearest(target, found)}")
        chosen |= found if target == paper else {target: found[target]}
    return list(chosen.values())


def _of_paper(paper: str) -> list[Statement]:
    importlib.import_module(f"{_ROOM}.{paper}")
    return [made for made in REGISTERED.values() if made.paper == paper]
