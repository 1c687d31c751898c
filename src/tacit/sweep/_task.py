"""The work on one batch, and the executor that does it in this process."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from tacit._errors import PLACE
from tacit.store import Variable, checked_arrays, device, precision, provenance
from tacit.sweep._grid import Batch
from tacit.sweep._settings import pinned_settings

Cell = Callable[[Batch, Mapping[str, Any]], Mapping[str, Any]]

P = ParamSpec("P")
R = TypeVar("R")


class Computed(NamedTuple):
    """The arrays of a batch, and their provenance, made on the worker, which knows it best."""

    arrays: dict[str, np.ndarray]
    provenance: dict[str, Any]


@dataclass(frozen=True)
class Task:
    """Everything that travels to a worker, except the batch."""

    cell: Cell
    fixed: Mapping[str, Any]
    variables: Mapping[str, Variable] | None
    coords: Mapping[str, Sequence[Any] | np.ndarray]
    code: str | None = None
    own_x64: bool = False

    @property
    def __name__(self) -> str:  # what dashboards show
        return "tacit-batch"

    def __call__(self, batch: Batch) -> Computed:
        """Compute a batch and check it against what was declared."""
        with pinned_settings(own_x64=self.own_x64):
            return self._whole(batch)

    def _whole(self, batch: Batch) -> Computed:
        start = time.perf_counter()
        arrays = self._computed(batch)
        checked = checked_arrays(arrays, len(batch), self.variables, self.coords)
        origin = provenance(
            self.fixed,
            seconds=time.perf_counter() - start,
            device=device(),
            precision=precision(checked),
            code=self.code,
        )
        return Computed(checked, origin)

    def _computed(self, batch: Batch) -> Mapping[str, Any]:
        """What the cell returns; one that wants to end the program has failed, as any other."""
        try:
            return self.cell(batch, self.fixed)
        except (Exception, KeyboardInterrupt):
            raise
        except BaseException as error:
            ended = RuntimeError(f"the cell raised {error!r}, to end the program")
            setattr(ended, PLACE, getattr(error, PLACE, None))
            raise ended from error


class InProcess(Executor):
    """Runs each job at once, in this process. Ctrl-C is raised through `submit`."""

    slots = 0  # nothing is handed out ahead of what is being computed

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """A future that is done."""
        future: Future[R] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
