"""A loss that is measured outside: a command, or a function, that is given a file of weights."""

import math
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, final

from tacit._errors import UsageError, shown

_TOLD = 200  # characters of what a command said


@final
class Evaluation:
    """The loss of a candidate: lower is better.

    **Arguments:**

    - `measure`: a function of a path that returns a number; or a command, as one text or as a
      sequence of words. A command is run without a shell. The path of a safetensors file takes the
      place of `{}`, or is added at the end. The last line that it prints must be a number.

    NaN or infinity is a loss that no bound allows. `count` is how many there were.
    """

    def __init__(self, measure: str | Iterable[str] | Callable[[Path], Any]) -> None:
        self.count = 0
        if callable(measure):
            self._measure: Callable[[Path], float] = lambda path: float(measure(path))
            self.words = getattr(measure, "__name__", "a function")
            return
        try:
            words = shlex.split(measure) if isinstance(measure, str) else [*map(str, measure)]
        except (TypeError, ValueError) as error:
            raise UsageError(f"evaluate: received {shown(measure)}, {error}") from None
        if not words:
            raise UsageError("evaluate: received no command, give one that prints a number")
        self._words = words
        self.words = measure if isinstance(measure, str) else shlex.join(words)
        self._measure = self._run

    def __call__(self, path: Path) -> float:
        """The loss of the weights in this file."""
        self.count += 1
        return self._measure(path)

    def _run(self, path: Path) -> float:
        place = str(path)
        words = [word.replace("{}", place) for word in self._words]
        if words == self._words:
            words.append(place)
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, errors="replace", check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError as error:
            raise UsageError(
                f"evaluate: {shown(words[0])} cannot be run: {error.strerror}"
            ) from None
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip()).rpartition("\n")[2][-_TOLD:]
            raise UsageError(
                f"evaluate: {shown(self.words)} ended with exit code {done.returncode}"
                + (f": {said}" if said else "")
            )
        last = done.stdout.strip().rpartition("\n")[2].strip()
        try:
            return float(last)
        except ValueError:
            raise UsageError(
                f"evaluate: the last line that {shown(self.words)} prints must be a number, it "
                f"was {shown(last)}"
            ) from None


def evaluation(measure: Any) -> Evaluation | None:
    """An `Evaluation` of what a user gave; None for none."""
    if measure is None or isinstance(measure, Evaluation):
        return measure
    if not callable(measure) and not isinstance(measure, str | list | tuple):
        raise UsageError(
            f"evaluate: received {shown(measure)}, it must be a command or a function of a path"
        )
    return Evaluation(measure)


def allowed_loss(reference: float, max_drop: float, words: str) -> float:
    """The largest loss that is still good: `max_drop` of the size of AFTER's above it."""
    if not math.isfinite(reference):
        raise UsageError(
            f"evaluate: {shown(words)} gives {reference} for AFTER itself, it must be finite"
        )
    return reference + max_drop * abs(reference)


def scratch_folder(beside: Path | None = None) -> tempfile.TemporaryDirectory[str]:
    """A folder for candidates, gone at the end; beside an output, which then fits on the disk."""
    place = beside if beside is not None and os.path.isdir(beside) else None
    return tempfile.TemporaryDirectory(prefix=".tacit-", dir=place, ignore_cleanup_errors=True)
