"""`tacit reproduce --pdb`: where a cell raises, the debugger opens."""

import pdb
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Debugged(Executor):
    """Runs each job at once, in this process; where one raises, the debugger opens.

    When it is left the run ends as by Ctrl-C: what was computed is stored.
    """

    slots = 0  # nothing is handed out ahead of what is being computed

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """A future that is done."""
        future: Future[R] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            open_debugger(error)
            raise KeyboardInterrupt from error
        return future


def open_debugger(error: BaseException) -> None:
    """Show an error and look at it where it was raised."""
    traceback.print_exception(error, file=sys.stderr)
    pdb.post_mortem(error.__traceback__)
