"""A syntax tree as a text, without what does not compute."""

import ast
from typing import Any

_SKIPPED = frozenset({"ctx", "kind", "type_comment", "type_ignores"})


def without_words(node: Any) -> Any:
    """The same tree without docstrings and other statements that are a word alone."""
    for inner in ast.walk(node):
        body = getattr(inner, "body", None)
        if isinstance(body, list):
            inner.body = [s for s in body if not is_word(s)]  # type: ignore[attr-defined]
    return node


def is_word(statement: ast.AST) -> bool:
    """Whether a statement is a text alone, as a docstring is."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def tree_text(node: Any) -> str:
    """A syntax tree as a text that does not change from one version of Python to the next."""
    if isinstance(node, ast.Module):
        node = without_words(node)
    if isinstance(node, ast.AST):
        fields = (
            f"{name}={tree_text(value)}"
            for name, value in ast.iter_fields(node)
            if name not in _SKIPPED and value is not None and value != []
        )
        if isinstance(node, ast.Constant) and node.value is None:
            return "None"
        return f"{type(node).__name__}({', '.join(fields)})"
    if isinstance(node, list):
        return f"[{', '.join(map(tree_text, node))}]"
    return repr(node)
