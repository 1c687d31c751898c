"""What is said while a sweep goes on."""

import sys
from typing import TYPE_CHECKING

from tacit.cli._text import plain

if TYPE_CHECKING:
    from rich.console import Console

    from tacit.sweep import SweepEvent

SHARED = "what it computes is shared"


class Narrator:
    """Shows events: trouble on standard error, and a line for each batch beside the results."""

    def __init__(self, console: "Console", experiment: str) -> None:
        self._console = console
        self.experiment = experiment
        self._waiting = ""

    def __call__(self, event: "SweepEvent") -> None:
        """Show one event."""
        if event.kind == "started":
            if self._console.is_terminal and "tacit.descent" in sys.modules:
                place = f"batch {event.done + 1}/{event.total}"
                sys.modules["tacit.descent"].set_progress_place(place)
        elif event.kind == "computed":
            # One line whatever the width: a long label is cut on a terminal, and whole when piped.
            words = f"  batch {event.done}/{event.total}  {plain(event.batch.label)}"
            if self._console.is_terminal:
                width = self._console.width
                line = words if len(words) <= width else f"{words[: width - 1]}…"
                self._console.print(line, style="dim", markup=False, highlight=False)
            else:
                self._console.file.write(f"{words}\n")
        elif event.kind == "failed":
            where = f"; {event.remedy}" if event.remedy else ""
            say(f"batch {event.batch.label} failed: {event.message}{where}")
        elif event.kind == "retried":
            say(f"batch {event.batch.label} raised {event.message}")
        elif event.kind == "waiting" and (event.remedy or not self._waiting):
            self._waiting = event.message
            say(f"{event.message} ({event.batch.label}): {event.remedy or SHARED}")


def say(sentence: str) -> None:
    """A sentence on standard error."""
    print(f"tacit: {plain(sentence)}", file=sys.stderr, flush=True)
