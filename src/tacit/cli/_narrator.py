"""What the command line says about a sweep while it runs."""

import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from tacit.sweep import SweepEvent


class Narrator:
    """Shows events on standard error: trouble always, progress only on a terminal."""

    def __init__(self, console: "Console", experiment: str) -> None:
        self._console = console
        self._experiment = experiment
        self._stored = 0
        self._total: int | None = None
        self._waiting = False

    def __call__(self, event: "SweepEvent") -> None:
        """Show one event."""
        self._total = event.total
        self._stored += event.kind in ("computed", "skipped")
        if event.kind == "computed" and self._console.is_terminal:
            self._console.print(f"  [dim]{event.done}/{event.total} {event.batch.label}[/dim]")
        elif event.kind == "failed":
            _say(f"batch {event.batch.label} failed: {event.message}")
        elif event.kind == "retried":
            _say(f"batch {event.batch.label} raised {event.message}")
        elif event.kind == "waiting" and not self._waiting:
            self._waiting = True
            _say(f"{event.message} already ({event.batch.label}): what it computes is shared")

    def interrupted(self, arguments: Sequence[str]) -> None:
        """Say what Ctrl-C left, and how to resume: without --fresh, which starts again."""
        kept = (
            f"{self._stored} of {self._total} batches of {self._experiment} are stored"
            if self._total is not None
            else "nothing was being computed"
        )
        command = shlex.join(["tacit", *(word for word in arguments if word != "--fresh")])
        _say(f"interrupted: {kept}; to go on from there: {command}")


def _say(sentence: str) -> None:
    print(f"tacit: {sentence}", file=sys.stderr, flush=True)
