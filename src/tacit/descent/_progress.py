"""Progress of a descent: a bar on a terminal, silence anywhere else."""

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Protocol

import numpy as np


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


@contextlib.contextmanager
def progress_bar(show: bool | None, title: str) -> Iterator[Progress]:
    """A Rich bar when `show` is true, or when it is None and standard error is a terminal."""
    if not (sys.stderr.isatty() if show is None else show):
        yield _silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    bar = RichProgress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[lanes]}  {task.fields[loss]}  {task.fields[left]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True, force_terminal=True),
        transient=True,
    )
    task = bar.add_task(title, total=1.0, lanes="", loss="compiling", left="")
    began = time.monotonic()

    def update(*, done: int, lanes: int, step: int, steps: int, loss: np.ndarray) -> None:
        fraction = step / max(steps, 1)
        left = (time.monotonic() - began) * (1 - fraction) / max(fraction, 1e-9)
        bar.update(
            task,
            completed=1.0 if done == lanes else fraction,
            lanes=f"{done}/{lanes} lanes done",
            loss=loss_range(loss),
            left=f"at most {left:.0f} s left",
        )

    with bar:
        yield update
