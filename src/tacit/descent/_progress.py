"""Progress of a descent: a bar on a terminal and in a notebook, silence anywhere else."""

import contextlib
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from tacit._doors import door, text
from tacit._progress_bar import bar


class Progress(Protocol):
    """What the loop calls between segments, with how far it has come."""

    def __call__(self, *, done: int, lanes: int, step: int, steps: int, loss: np.ndarray) -> None:
        """`done` of `lanes` lanes have ended; the clock stands at `step` of at most `steps`."""


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


@contextlib.contextmanager
def progress_bar(show: bool | None, title: str) -> Iterator[Progress]:
    """A bar when `show` is true, or when it is None on a terminal or in a notebook."""
    with bar(show, title, _place or "descent", first="compiling") as update:

        def told(*, done: int, lanes: int, step: int, steps: int, loss: np.ndarray) -> None:
            fraction = 1.0 if done == lanes else step / max(steps, 1)
            update(fraction, f"{done}/{lanes} lanes", loss_range(loss))

        yield told
