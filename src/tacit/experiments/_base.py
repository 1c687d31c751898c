"""What an experiment is: parameters, a grid, a cell, claims and a figure."""

import abc
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim
from tacit.experiments._config import Config as AnyConfig
from tacit.store import PRESENT, Variable
from tacit.sweep import Batch, Grid

if TYPE_CHECKING:
    import xarray

    import tacit.draw

OUTCOMES = ("converged", "stopped", "diverged", "stalled", "failed")
"""How a cell may end; `failed` is for one that raised, with its batch and alone."""

OUTCOME = Variable((), "1", "how the run ended", "str")
"""The declaration of the variable `outcome` that every experiment has."""

_ID = re.compile(r"[a-z0-9][a-z0-9_-]*(/[a-z0-9][a-z0-9_-]*)*")
# The names that `reproduce` and the dataset keep for themselves.
_RESERVED = frozenset(
    {"content", "experiment", "executor", "fresh", "origins", "preset", "progress", "results"}
    | {"retries", "seeds", "version"}
)


class Experiment(abc.ABC):
    """One figure (or table) of a paper as a grid of cells with claims.

    A subclass sets the class attributes and the five methods; the class must be importable
    without JAX, which only `cell` may import, inside itself.

    **Class attributes:**

    - `id`: `paper/figure`, lower case; also the folder of its results.
    - `paper`, `figure`, `summary`: the source, the place in it, and what is compared, in a line.
    - `version`: raise it whenever the same parameters would give other results.
    - `Config`, `presets`: the parameters, and their named values (`smoke`, `quick`, `paper`).
    - `batch_by`, `chunk`: how the grid is cut into batches, see `tacit.sweep.Grid`.
    """

    id: ClassVar[str]
    paper: ClassVar[str]
    figure: ClassVar[str]
    summary: ClassVar[str]
    version: ClassVar[int] = 1
    Config: ClassVar[type[AnyConfig]]
    presets: ClassVar[Mapping[str, AnyConfig]]
    batch_by: ClassVar[tuple[str, ...]] = ()
    chunk: ClassVar[Mapping[str, int]] = {}

    source: str | None = None
    """How a worker process finds it: an id or a file; None if it can only be pickled."""

    def __init__(self) -> None:
        _check(self)

    @abc.abstractmethod
    def variables(self, config: Any) -> dict[str, Variable]:
        """The stored quantities, with their dimensions beyond the grid's; among them `outcome`."""

    def coordinates(self, config: Any) -> dict[str, Sequence[Any] | np.ndarray]:
        """The values along those further dimensions; they may depend on fixed parameters only."""
        return {}

    @abc.abstractmethod
    def cell(self, batch: Batch, config: Any) -> Mapping[str, Any]:
        """Compute a batch: arrays by name, with the batch along the leading axis.

        In `config` the swept fields hold the values of this batch alone: a cell's result may
        depend on its own parameters, never on which others happen to be in the grid.
        """

    @abc.abstractmethod
    def claims(self, dataset: "xarray.Dataset", config: Any) -> list[Claim]:
        """The claims, decided from the stored dataset."""

    @abc.abstractmethod
    def draw(
        self, dataset: "xarray.Dataset", config: Any, claims: Sequence[Claim]
    ) -> "tacit.draw.Figure":
        """The figure, drawn from the stored dataset."""

    def missing(self) -> str | None:
        """What it needs and this machine has not, such as a data set, in one sentence; else None.

        `tacit reproduce --all` then passes over it with that sentence; asked for by name it is
        refused with it.
        """
        return None

    def grid(self, config: AnyConfig) -> Grid:
        """The cells of a config and how they are cut into batches."""
        return Grid(config.axes(), batch_by=self.batch_by, chunk=self.chunk)


def _check(experiment: Experiment) -> None:
    """Check what a subclass declares, where an experiment is made."""
    kind = type(experiment)
    words = ("id", "paper", "figure", "summary", "Config", "presets")
    missing = [name for name in words if not getattr(kind, name, None)]
    if missing:
        raise ValueError(f"{kind.__name__} lacks the class attributes {missing}")
    if not _ID.fullmatch(kind.id):
        raise ValueError(f"{kind.__name__}.id is {kind.id!r}, the form is 'paper/figure'")
    if isinstance(kind.version, bool) or not isinstance(kind.version, int) or kind.version < 1:
        raise ValueError(f"{kind.__name__}.version is {kind.version!r}, it must be 1 or more")
    for name, config in kind.presets.items():
        if not isinstance(config, kind.Config):
            raise ValueError(f"{kind.__name__}.presets[{name!r}] is not a {kind.Config.__name__}")
        experiment.grid(config)  # its own checks: axes there, batch_by and chunk among them
    taken = sorted((_RESERVED | {PRESENT}) & kind.Config.parameters().keys())
    if taken:
        raise ValueError(f"{kind.Config.__name__} has fields {taken}, names that tacit keeps")
