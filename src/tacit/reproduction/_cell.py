"""An experiment's cell as the function that a sweep calls, here or in a worker process."""

import contextlib
import functools
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit._errors import PLACE
from tacit.experiments import OUTCOMES, Batch, Experiment
from tacit.reproduction._fingerprint import fingerprint
from tacit.reproduction._registry import find_experiment, place_in_own_file

_THIS_PROCESS = uuid.uuid4().hex


@dataclass(frozen=True)
class ExperimentCell:
    """An experiment's cell as the sweep's function.

    A worker finds the class by its source, an id or a file, and makes the experiment there from
    plain values: the classes of a user's file have no name that another process could import.
    """

    experiment: type[Experiment] | str
    version: int
    values: Mapping[str, Any]
    code: str | None = None
    made_in: str = _THIS_PROCESS

    def __call__(self, batch: Batch, fixed: Mapping[str, Any]) -> Mapping[str, Any]:
        kind = self._kind()
        if kind.version != self.version:
            raise ValueError(
                f"this worker has version {kind.version} of {kind.id}, the run needs version "
                f"{self.version}: install the same tacit (or the same file) there"
            )
        if not self._is_same(kind):
            raise ValueError(
                f"this worker has other code of {kind.id} than the run was started with, or cannot "
                "read it: install the same tacit and the same files there, and start the workers "
                "and the run again"
            )
        own = {name: batch.values(name) for name in batch.cells[0]}
        try:
            arrays = kind.for_batch({**self.values, **own}).cell(batch)
        except BaseException as error:
            with contextlib.suppress(AttributeError):  # of an exception with slots
                setattr(error, PLACE, place_in_own_file(error))
            raise
        if not isinstance(arrays, Mapping):
            raise ValueError(
                f"cell: returned {type(arrays).__name__}, give a dict of arrays by name"
            )
        arrays = {"outcome": ["converged"] * len(batch), **arrays}
        words = {str(word) for word in np.ravel(arrays["outcome"])}
        if not words <= set(OUTCOMES):
            wrong = sorted(words - set(OUTCOMES))
            raise ValueError(f"outcome: received {wrong}, allowed are {list(OUTCOMES)}")
        return arrays

    def _kind(self) -> type[Experiment]:
        """The class as it is here; one of a file that was edited since is loaded again."""
        if not isinstance(self.experiment, str):
            return self.experiment
        kind = _class_at(self.experiment)
        if not self._is_same(kind):
            _class_at.cache_clear()
            kind = _class_at(self.experiment)
        _free_programs_of_others(kind)
        return kind

    def _is_same(self, kind: type[Experiment]) -> bool:
        """Whether the code is that of the run, which is what its parts will tell of it."""
        here = kind is self.experiment and self.made_in == _THIS_PROCESS
        if self.code is None or here:
            return True
        return _code_here(kind.for_batch(self.values)) == self.code


# Once in each process: what a file's functions have compiled must last from batch to batch.
_class_at = functools.cache(find_experiment)
_code_here = functools.cache(fingerprint)

_at_work: list[type[Experiment]] = []


def _free_programs_of_others(kind: type[Experiment]) -> None:
    """Let a worker that comes to another experiment forget what it compiled for the last one."""
    if _at_work != [kind]:
        if _at_work:
            free_programs()
        _at_work[:] = [kind]


def free_programs() -> None:
    """Let go of the programs that an experiment has compiled; the next one compiles its own.

    Each takes a hundred memory maps or so, of which Linux allows a process 65,530: about sixty
    experiments in one process came to more.
    """
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
