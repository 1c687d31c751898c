"""Progress of a descent: a bar on a terminal and in a notebook, silence anywhere else."""

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from tacit._doors import door, text
from tacit._notebook import in_notebook

_WIDE = 100  # columns of a terminal that has room for the losses too


class Progress(Protocol):
    """What the loop calls between segments, with how far it has come."""

    def __call__(self, *, done: int, lanes: int, step: int, steps: int, loss: np.ndarray) -> None:
        """`done` of `lanes` lanes have ended; the clock stands at `step` of at most `steps`."""


def _silent(*, done: int, lanes: int, step: int, steps: int, loss: np.ndarray) -> None:
    """Say nothing."""


def loss_range(loss: np.ndarray) -> str:
    """The span of the finite losses, in words short enough for a bar."""
    finite = loss[np.isfinite(loss)]
    return f"loss {finite.min():.1e} … {finite.max():.1e}" if finite.size else "loss –"


_place = ""


@door(words=text)
def set_progress_place(words: str) -> None:
    """Say where in a larger run the descents of this process stand: "batch 3/9"."""
    global _place
    _place = words


def seconds_left(elapsed: float, fraction: float) -> str:
    """What is left at the pace so far, in words."""
    if fraction <= 0:
        return "compiling"
    return f"{elapsed * (1 - fraction) / fraction:.0f} s left"


@contextlib.contextmanager
def progress_bar(show: bool | None, title: str) -> Iterator[Progress]:
    """A bar when `show` is true, or when it is None on a terminal or in a notebook.

    The title stands above it, so that a long one leaves the bar its room.
    """
    if show is None and in_notebook():
        with _notebook_bar(title) as update:
            yield update
    elif sys.stderr.isatty() if show is None else show:
        with _terminal_bar(title) as update:
            yield update
    else:
        yield _silent


@contextlib.contextmanager
def _terminal_bar(title: str) -> Iterator[Progress]:
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as RichProgress
    from rich.text import Text

    console = Console(stderr=True, force_terminal=True)
    bar = RichProgress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[state]}"),
    )
    task = bar.add_task(_place or "descent", total=1.0, state="compiling")
    above = Text(title, style="dim", no_wrap=True, overflow="ellipsis")
    began = time.monotonic()

    def update(*, done: int, lanes: int, step: int, steps: int, loss: np.ndarray) -> None:
        fraction = 1.0 if done == lanes else step / max(steps, 1)
        left = seconds_left(time.monotonic() - began, fraction)
        words = f"{done}/{lanes} lanes · {left}"
        if console.width >= _WIDE:
            words += f" · {loss_range(loss)}"
        bar.update(task, completed=fraction, state=words)

    with Live(Group(above, bar), console=console, transient=True):
        yield update


@contextlib.contextmanager
def _notebook_bar(title: str) -> Iterator[Progress]:
    """A bar below the cell, which goes when the descent has ended."""
    from html import escape

    from IPython.display import HTML, display

    name = escape(", ".join(filter(None, (_place, title))))
    shown = display(HTML(f"{name}: compiling"), display_id=True)
    began = time.monotonic()

    def update(*, done: int, lanes: int, step: int, steps: int, loss: np.ndarray) -> None:
        fraction = 1.0 if done == lanes else step / max(steps, 1)
        left = seconds_left(time.monotonic() - began, fraction)
        words = f"{done}/{lanes} lanes · {left} · {loss_range(loss)}"
        shown.update(HTML(f'{name}<br><progress value="{fraction:.3f}"></progress> {words}'))

    try:
        yield update
    finally:
        shown.update({"text/plain": "", "text/html": ""}, raw=True)  # no line of text is left
