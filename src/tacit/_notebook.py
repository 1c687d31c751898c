"""What notebooks and prompts show of an object: small tables in HTML, and few lines of text."""

import sys
from collections.abc import Iterable, Sequence
from html import escape

MOST_LINES = 10
"""Of the text that stands for an object at a prompt."""

_WIDTH = 100
_CELL = "text-align:left;vertical-align:top;padding:2px 12px 2px 0"


def html_table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str = ""
) -> str:
    """A table as HTML; a cell that is `Html` stands as it is, any other is text."""
    head = "".join(f'<th scope="col" style="{_CELL}">{escape(word)}</th>' for word in headers)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{_cell(cell)}</td>' for cell in row) + "</tr>"
        for row in rows
    )
    words = f'<caption style="text-align:left">{escape(caption)}</caption>' if caption else ""
    top = f"<thead><tr>{head}</tr></thead>" if headers else ""
    return f"<table>{words}{top}<tbody>{body}</tbody></table>"


class Html(str):
    """Text that is HTML already."""


def _cell(cell: object) -> str:
    return str(cell) if isinstance(cell, Html) else escape(str(cell))


def few_lines(first: str, others: Iterable[str], *, more: str = "and {count} more") -> str:
    """A text of at most ten lines of at most a hundred characters; `more` counts what is left."""
    lines = [shortened(line) for line in others]
    room = MOST_LINES - 1
    if len(lines) > room:
        left = len(lines) - (room - 1)
        lines = [*lines[: room - 1], more.format(count=left)]
    return "\n".join([shortened(first, _WIDTH), *(f"  {line}" for line in lines)])


def shortened(text: str, most: int = _WIDTH - 2) -> str:
    """One line of text, with … where it is too long."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this, which can show pictures."""
    running = sys.modules.get("IPython")
    shell = running.get_ipython() if running is not None else None
    return shell is not None and hasattr(shell, "kernel")
