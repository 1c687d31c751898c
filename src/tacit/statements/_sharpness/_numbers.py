"""Which numbers in the source of a check count, and how they are put into a table.

A number counts where it is part of arithmetic, is handed to an elementary function or to `slack`
or `residual`, or stands in a list with a formula. It does not count where it is an index, a shape,
a bound of a loop, a threshold of a comparison, a step or a tolerance (below 1e-5 or above 1e5), or
where it is a choice of the check: a line that ends in `# chosen`, or a constant of the module.
"""

import ast
from dataclasses import dataclass
from typing import Any

TABLE = "_numbers_of_the_check"
_LEAST, _MOST = 1e-5, 1e5
_MARK = b"# chosen"
_LONGEST = 72  # characters of the source around a number

# functions whose arguments are grids, ends of intervals and options, not formulas
_CHOICES = frozenset(("arange", "linspace", "round", "solve_ivp", "quad", "brentq", "errstate"))
# functions that may be handed a number of the formula by itself
_WITH_NUMBERS = frozenset(
    (
        *("sqrt", "exp", "log", "cosh", "sinh", "tanh", "slack", "residual", "max", "min"),
        *("maximum", "minimum", "where", "array", "append", "hypot", "complex"),
    )
)


@dataclass(frozen=True)
class Number:
    """A number in the source: the function it is in, the source around it, and its value."""

    place: str
    text: str
    value: float


class Table(list[Any]):
    """The values of the numbers. It remembers which of them were read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: set[int] = set()

    def __getitem__(self, index: Any) -> Any:
        self.read.add(index)
        return super().__getitem__(index)


class Rewriter(ast.NodeTransformer):
    """Replaces each number of a function that counts by a look into the table."""

    def __init__(self, place: str, lines: list[bytes], numbers: list[Number], table: Table) -> None:
        self.place, self.lines, self.numbers, self.table = place, lines, numbers, table
        self.around: list[ast.AST] = []

    def visit(self, node: ast.AST) -> Any:
        """Visit a node, with those around it at hand."""
        self.around.append(node)
        try:
            return super().visit(node)
        finally:
            self.around.pop()

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """A number becomes an entry of the table, if it counts."""
        if not self._counts(node):
            return node
        self.numbers.append(Number(self.place, self._text(), node.value))  # type: ignore[arg-type]
        self.table.append(node.value)
        entry = ast.Subscript(
            ast.Name(TABLE, ast.Load()), ast.Constant(len(self.table) - 1), ast.Load()
        )
        return ast.copy_location(entry, node)

    def _counts(self, node: ast.Constant) -> bool:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        if not _LEAST <= abs(value) <= _MOST or _MARK in self.lines[node.lineno - 1]:
            return False
        around = [one for one in self.around[:-1] if not isinstance(one, ast.UnaryOp)]
        if isinstance(around[-1], ast.Call):
            return _name_of(around[-1].func) in _WITH_NUMBERS
        if isinstance(around[-1], ast.List | ast.Tuple):
            return _list_counts(around)
        return isinstance(around[-1], ast.BinOp)

    def _text(self) -> str:
        """The largest expression around a number that is short enough."""
        found = ""
        for node in reversed(self.around[:-1]):
            if not isinstance(node, ast.BinOp | ast.UnaryOp | ast.Call | ast.List | ast.Tuple):
                break
            text = " ".join(self._source_of(node).split())
            if len(text) > _LONGEST and found:
                break
            found = text
        return found if len(found) <= _LONGEST else found[: _LONGEST - 1] + "…"

    def _source_of(self, node: ast.expr) -> str:
        """The source of an expression; the columns of a syntax tree count bytes."""
        assert node.end_lineno is not None
        lines = self.lines[node.lineno - 1 : node.end_lineno]
        lines = [*lines[:-1], lines[-1][: node.end_col_offset]]
        lines[0] = lines[0][node.col_offset :]
        return b"\n".join(lines).decode()

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Whole-number arithmetic and repeated lists hold no formula."""
        whole = isinstance(node.op, ast.Mod | ast.FloorDiv | ast.BitAnd | ast.BitOr)
        repeated = isinstance(node.left, ast.List) or isinstance(node.right, ast.List)
        if whole or (repeated and isinstance(node.op, ast.Mult) and _is_plain(node.left)):
            return node
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Indices do not count."""
        node.value = self.visit(node.value)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Thresholds do not count."""
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        """Keys do not count."""
        node.values = [self.visit(value) for value in node.values]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Options do not count, nor does the scale that a residual is divided by."""
        name = _name_of(node.func)
        node.func = self.visit(node.func)
        node.args = [
            self.visit(arg) if name not in _CHOICES or isinstance(arg, ast.Lambda) else arg
            for arg in node.args
        ]
        for keyword in node.keywords:
            plain = isinstance(keyword.value, ast.Constant)
            if not plain and name not in _CHOICES and (name, keyword.arg) != ("residual", "scale"):
                keyword.value = self.visit(keyword.value)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        """What a loop runs over, written out, is a choice."""
        if not isinstance(node.iter, ast.Tuple | ast.List):
            node.iter = self.visit(node.iter)
        node.body = [self.visit(one) for one in node.body]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Decorators, defaults and annotations stay out."""
        node.decorator_list, node.returns = [], None
        node.body = [self.visit(one) for one in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Annotations stay out."""
        if node.value is not None:
            node.value = self.visit(node.value)
        return node


def _list_counts(around: list[ast.AST]) -> bool:
    """A list counts where it holds a formula or is compared with what was found."""
    while isinstance(around[-1], ast.List | ast.Tuple):
        if not _is_plain(around[-1]):
            return True
        around = around[:-1]
    return isinstance(around[-1], ast.Call) and _name_of(around[-1].func) in ("residual", "slack")


def _name_of(function: ast.AST) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_plain(node: ast.AST) -> bool:
    """Whether an expression consists of constants alone."""
    if isinstance(node, ast.UnaryOp):
        return _is_plain(node.operand)
    if isinstance(node, ast.List | ast.Tuple):
        return all(_is_plain(item) for item in node.elts)
    return isinstance(node, ast.Constant)
