"""A bar for work that takes a while: on a terminal and in a notebook, silence anywhere else."""

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from html import escape
from typing import Protocol

from tacit._notebook import in_notebook

_WIDE = 100  # columns of a terminal that has room for what need not be said


class Bar(Protocol):
    """What the work calls as it goes on."""

    def __call__(self, fraction: float, words: str = "", more: str = "") -> None:
        """How much is done, from 0 to 1, what is done now, and more where there is room."""


def silent_bar(fraction: float, words: str = "", more: str = "") -> None:
    """Say nothing."""


@contextlib.contextmanager
def bar(show: bool | None, title: str, name: str, *, first: str = "") -> Iterator[Bar]:
    """A bar when `show` is true, or when it is None on a terminal or in a notebook.

    The title stands above it, so that a long one leaves the bar its room. `name` stands before
    it, and `first` is said until something is done. It goes away at the end. In a thread beside
    others there is none unless it is asked for: a terminal has room for one.
    """
    if show is None and threading.current_thread() is not threading.main_thread():
        yield silent_bar
    elif show is None and in_notebook():
        with _notebook_bar(title, name, first) as update:
            yield update
    elif sys.stderr.isatty() if show is None else show:
        with _terminal_bar(title, name, first) as update:
            yield update
    else:
        yield silent_bar


def part(whole: Bar, begin: float, end: float) -> Bar:
    """A bar for a part of the work, which fills the whole one from `begin` to `end`."""

    def update(fraction: float, words: str = "", more: str = "") -> None:
        whole(begin + (end - begin) * fraction, words, more)

    return update


def seconds_left(elapsed: float, fraction: float, first: str = "") -> str:
    """What is left at the pace so far, in words."""
    if fraction <= 0:
        return first
    return f"{elapsed * (1 - fraction) / fraction:.0f} s left"


@contextlib.contextmanager
def _terminal_bar(title: str, name: str, first: str) -> Iterator[Bar]:
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.text import Text

    console = Console(stderr=True, force_terminal=True)
    shown = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[state]}"),
    )
    task = shown.add_task(name, total=1.0, state=first)
    above = Text(title, style="dim", no_wrap=True, overflow="ellipsis")
    began = time.monotonic()

    def update(fraction: float, words: str = "", more: str = "") -> None:
        left = seconds_left(time.monotonic() - began, fraction, first)
        room = more if console.width >= _WIDE else ""
        shown.update(task, completed=fraction, state=_said(words, left, room))

    with Live(Group(above, shown), console=console, transient=True):
        yield update


@contextlib.contextmanager
def _notebook_bar(title: str, name: str, first: str) -> Iterator[Bar]:
    from IPython.display import HTML, display

    label = escape(", ".join(filter(None, (name, title))))
    shown = display(HTML(f"{label}: {first}" if first else label), display_id=True)
    began = time.monotonic()

    def update(fraction: float, words: str = "", more: str = "") -> None:
        left = seconds_left(time.monotonic() - began, fraction, first)
        said = escape(_said(words, left, more))
        shown.update(HTML(f'{label}<br><progress value="{fraction:.3f}"></progress> {said}'))

    try:
        yield update
    finally:
        shown.update({"text/plain": "", "text/html": ""}, raw=True)  # no line of text is left


def _said(*words: str) -> str:
    return " · ".join(filter(None, words))
