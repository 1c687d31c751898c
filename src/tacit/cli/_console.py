"""Where commands print: as wide as the terminal, and whole lines when piped."""

import os
import textwrap
from typing import TYPE_CHECKING

from tacit.cli._text import plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_PIPED = 200  # columns for a table that nobody's terminal has to hold
NARROW = 100  # a terminal with fewer has no room for what only completes a table


def open_console(*, stderr: bool) -> "Console":
    """The console of a command; `COLUMNS` has the last word on its width."""
    from rich.console import Console

    console = Console(stderr=stderr, soft_wrap=False)
    if not console.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        console.width = _PIPED
    return console


def open_table() -> "Table":
    """An empty table without rules between columns: a narrow terminal has no room for them."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0), show_edge=False)


def hung(words: object, width: int | None, *, indent: int = 2, hang: int = 2) -> str:
    """A sentence in lines of at most `width`, later ones further in; None leaves it in one line."""
    first = " " * indent
    if width is None:
        return f"{first}{plain(words)}"
    lines = textwrap.wrap(
        plain(words),
        max(width, 20),
        initial_indent=first,
        subsequent_indent=" " * (indent + hang),
        break_on_hyphens=False,
    )
    return "\n".join(lines)


def tell(
    console: "Console", words: object, *, indent: int = 2, hang: int = 2, style: str = ""
) -> None:
    """Print a sentence; words that are users' are neither markup nor commands to the terminal."""
    whole = not console.is_terminal and console.width >= _PIPED
    text = hung(words, None if whole else console.width, indent=indent, hang=hang)
    console.print(text, markup=False, highlight=False, soft_wrap=True, style=style)
