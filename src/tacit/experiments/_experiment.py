"""What an experiment is: its parameters, a cell, claims and a figure."""

import abc
import dataclasses
import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

import numpy as np

from tacit._doors import door, text
from tacit._errors import UsageError, nearest, shown
from tacit._own_modules import remember_sources
from tacit.claims import Claim, Finding
from tacit.experiments._parameter import METADATA, Parameter, fixed, swept
from tacit.store import MOST_CELLS, Variable
from tacit.sweep import Batch, Grid

if TYPE_CHECKING:  # for `tacit list` and `tacit --help`, which import neither
    import xarray

    from tacit.draw import Figure

_MOST_SEEDS = 100_000
_TOO_MANY = _MOST_SEEDS + 1
_OUTCOME = Variable("how the run ended", dtype="str")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(swept, fixed))
class Experiment(abc.ABC):
    """One figure (or table) as its parameters, a cell, claims and a figure.

    ```python
    class Decay(Experiment):
        id, figure, summary = "mine/decay", "ours", "final loss against the learning rate"

        rate: tuple[float, ...] = swept((1e-3, 1e-2), "learning rate", low=0)
        seed: tuple[int, ...] = swept(range(8), "seed of the start", low=0)
        steps: int = fixed(1000, "steps of descent", low=1)

        presets = {"smoke": dict(seed=range(2)), "quick": {}, "paper": dict(seed=range(50))}

        def variables(self): ...
        def cell(self, batch): ...
    ```

    Every subclass is made a frozen dataclass whose fields are its parameters, declared with `swept`
    (an axis of the grid) or `fixed`. Values are checked and brought to their kind when an
    experiment is made, so that one that exists is a valid one. A subclass gives an inherited
    parameter another default with `steps: int = 500`, without saying the rest again.

    **Class attributes:**

    - `id`: `paper/figure`, lower case; also the folder of its results.
    - `figure`: the place in the paper; `paper` is the first part of the id unless it is given.
    - `summary`: what is compared, in a line; by default the first line of the docstring.
    - `finding`: what was found, in sentences whose numbers come from the claims; a `Finding`.
    - `from_theory`: the stored variables that theory gives. Claims are tried on data without their
      effect (`tools/specificity`), in which these stay and what was measured changes places along
      each swept axis, but for those in `unpermuted` (axis → why). A claim that holds there all the
      same is named in `unspecific` (its name, or a pattern → why).
    - `version`: raise it whenever the same parameters would give other results.
    - `presets`: named values of parameters (`smoke`, `quick`, `paper`); others keep their defaults.
    - `batch_by`, `chunk`: how the grid is cut into batches, see `tacit.sweep.Grid`.
    - `at_once`: how many batches are computed at a time on an accelerator, in threads: one trains
      there while others compile, or are measured by the host. They share the device's memory.
    - `published`: what the paper's own figure shows of an axis, where that is less than all:
      `dict(seed=range(10), method="adam")`. `tacit figure --style paper` draws these runs.
    - `depends_on`: files that cells are computed from, beside the experiment's own: cells of other
      contents are refused as those of other code are.
    """

    id: ClassVar[str]
    paper: ClassVar[str]
    figure: ClassVar[str]
    summary: ClassVar[str]
    finding: ClassVar[Finding | None] = None
    from_theory: ClassVar[Sequence[str]] = ()
    unpermuted: ClassVar[Mapping[str, str]] = {}
    unspecific: ClassVar[Mapping[str, str]] = {}
    version: ClassVar[int] = 1
    presets: ClassVar[Mapping[str, Mapping[str, Any]]]
    batch_by: ClassVar[str | tuple[str, ...]] = ()
    chunk: ClassVar[Mapping[str, int]] = {}
    at_once: ClassVar[int] = 1
    published: ClassVar[Mapping[str, Any]] = {}
    depends_on: ClassVar[str | tuple[str, ...]] = ()

    source: ClassVar[str | None] = None
    """How a worker process finds it: an id or a file; None if it can only be pickled."""

    _names_paper: ClassVar[bool] = False  # whether the class or a base of it gives `paper`

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        remember_sources(cls.__module__)  # now: a file may be another when its code has a turn
        own = vars(cls)
        words = own.get("__doc__")
        if "source" not in own:
            cls.source = None  # a subclass is not found where its base is
        if "paper" in own:
            cls._names_paper = True
        elif isinstance(own.get("id"), str) and not cls._names_paper:
            cls.paper = cls.id.partition("/")[0]
        if words and "summary" not in own:
            cls.summary = _first_line(words)
        _take_new_defaults(cls)
        dataclasses.dataclass(frozen=True, kw_only=True)(cls)

    def __post_init__(self) -> None:
        self._normalise()
        self._check_size()
        self.check()

    def _check_size(self) -> None:
        """Refuse a grid that is too large before anything is laid out by it."""
        axes = self.axes()
        count = math.prod(len(values) for values in axes.values())
        if count > MOST_CELLS:
            sizes = " × ".join(f"{len(values):,} {name}" for name, values in axes.items())
            raise UsageError(
                f"{self.id}: {count:,} cells are asked for ({sizes}), at most {MOST_CELLS:,} are "
                "possible: give fewer values"
            )

    def _normalise(self) -> None:
        for name, spec in self.parameters().items():
            object.__setattr__(self, name, spec.normalised(name, getattr(self, name)))

    # What an author writes.

    @abc.abstractmethod
    def variables(self) -> Mapping[str, Variable]:
        """The stored quantities with their dimensions beyond the grid's; `outcome` is added."""

    def coordinates(self) -> Mapping[str, Sequence[Any] | np.ndarray]:
        """The values along those further dimensions; they may depend on fixed parameters only."""
        return {}

    @abc.abstractmethod
    def cell(self, batch: Batch) -> Mapping[str, Any]:
        """Compute a batch: arrays by name, with the batch along the leading axis, and `outcome`.

        The experiment's swept fields hold the values of this batch alone: a cell's result may
        depend on its own parameters, never on which others happen to be in the grid. A cell that
        returns no `outcome` has converged.
        """

    def ran(self, runs: "xarray.Dataset") -> "xarray.DataArray":
        """Which cells hold a run; by default all. The others hold theory alone, and did not end."""
        return runs["outcome"] != ""

    def counts(self, runs: "xarray.Dataset") -> "xarray.DataArray":
        """Which runs count in claims and figures; by default all but diverged and failed ones."""
        return runs["outcome"].isin(("converged", "stopped", "stalled"))

    def counted(self, runs: "xarray.Dataset", name: str) -> "xarray.DataArray":
        """A stored variable with NaN for the runs that do not count."""
        return runs[name].where(self.counts(runs))

    def claims(self, runs: "xarray.Dataset") -> Iterable[Claim]:
        """The claims, decided from the stored dataset; see `tacit.claims.Claims`. None by default.

        `runs` holds the cells of this experiment and, for each, the declared variables.
        """
        return ()

    def draw(self, runs: "xarray.Dataset") -> "Figure":
        """The figure; by default every stored number against the first swept axis."""
        from tacit.experiments._default_figure import default_figure

        return default_figure(self, runs)

    def draw_paper(self, runs: "xarray.Dataset") -> "Figure":
        """The figure from which the paper's own is made by leaving out what is `ours` in it.

        By default it is that of `draw`; `runs` and the experiment hold what is `published` alone.
        """
        return self.draw(runs)

    def tables(self, runs: "xarray.Dataset") -> Mapping[str, str]:
        """Tables as files, name to text, that `tacit figure` writes beside the figure."""
        return {}

    def check(self) -> None:  # noqa: B027, most experiments have nothing to check
        """Raise a `UsageError` where parameters contradict each other; for subclasses."""

    def missing(self) -> str | None:
        """What this machine lacks to run it, such as a data set, in one sentence; None if nothing.

        `tacit reproduce --all` then skips it with that sentence; asked for by its id, it is refused
        with the same sentence.
        """
        return None

    def grid(self) -> Grid:
        """The cells, and how they are cut into batches."""
        by = (self.batch_by,) if isinstance(self.batch_by, str) else self.batch_by
        return Grid(self.axes(), batch_by=by, chunk=self.chunk)

    # What the rest of tacit asks of it.

    @classmethod
    def in_paper(cls) -> bool:
        """Whether it is a figure or a table of the paper, and not one beyond it."""
        return cls.figure.startswith(("Figure", "Table")) and "beyond" not in cls.figure

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """What is known of each parameter, in the order of declaration."""
        found = {}
        for entry in fields_of(cls):
            if METADATA not in entry.metadata:
                raise UsageError(
                    f"{cls.__name__}.{entry.name}: declare it with swept(…) or fixed(…)"
                )
            found[entry.name] = entry.metadata[METADATA]
        return found

    @classmethod
    def parameter_named(cls, name: str) -> Parameter:
        """What is known of one parameter; a wrong name is a `UsageError` with the nearest ones."""
        known = cls.parameters()
        if name not in known:
            raise UsageError(f"{name}: there is no such parameter, {nearest(name, known)}")
        return known[name]

    @classmethod
    @door(answer="any", name=text)
    def from_preset(cls, name: str, *, seeds: int | range | None = None, **overrides: Any) -> Self:
        """The experiment at a preset, with other seeds and other values if given: see `replace`."""
        if name not in cls.presets:
            hint = nearest(name, cls.presets)
            raise UsageError(f"preset: {cls.id} has no preset {shown(name)}, {hint}")
        return cls(**cls.presets[name]).replace(seeds=seeds, **overrides)

    @classmethod
    def for_batch(cls, values: Mapping[str, Any]) -> Self:
        """The experiment as a batch sees it; parameters that are not in `values` keep defaults.

        It is not checked: `check` is about the whole grid and the parameters of analysis, and the
        experiment that the batch belongs to has passed it.
        """
        made = object.__new__(cls)
        defaults = {entry.name: entry.default for entry in fields_of(cls)}
        for name, value in {**defaults, **values}.items():
            object.__setattr__(made, name, value)
        made._normalise()
        return made

    def replace(self, *, seeds: int | range | None = None, **overrides: Any) -> Self:
        """The experiment with other values; a swept parameter takes several or one.

        `seeds` are 0, …, N − 1 for a number N, or a range: `range(100, 160)`.
        """
        for name in overrides:
            self.parameter_named(name)
        if seeds is not None:
            if "seed" in overrides:
                raise UsageError(
                    f"seeds: received {seeds} and values for seed, give one of the two"
                )
            spec = self.parameters().get("seed")
            if spec is None or not spec.swept:
                raise UsageError(f"seeds: received {seeds}, but this experiment has no seeds")
            values = range(min(seeds, _TOO_MANY)) if type(seeds) is int else seeds
            if not isinstance(values, range) or not values or len(values[:_TOO_MANY]) == _TOO_MANY:
                raise UsageError(
                    f"seeds: received {shown(seeds)}, allowed is an integer from 1 to "
                    f"{_MOST_SEEDS}, or a range of as many"
                )
            overrides["seed"] = tuple(values)
        return dataclasses.replace(self, **overrides)  # type: ignore[type-var]

    def axes(self) -> dict[str, tuple[Any, ...]]:
        """The axes of the grid: swept parameters and their values."""
        return {n: getattr(self, n) for n, spec in self.parameters().items() if spec.swept}

    def constants(self) -> dict[str, Any]:
        """The parameters that all cells share, without those of analysis only."""
        return {
            name: getattr(self, name)
            for name, spec in self.parameters().items()
            if not spec.swept and not spec.analysis
        }

    def stored(self) -> dict[str, Variable]:
        """The declared variables, with `outcome` among them."""
        return {"outcome": _OUTCOME, **self.variables()}


def fields_of(kind: type[Experiment]) -> tuple[dataclasses.Field[Any], ...]:
    """The fields of the dataclass that every experiment is."""
    return dataclasses.fields(kind)  # type: ignore[arg-type]


def _take_new_defaults(kind: type[Experiment]) -> None:
    """Take `steps: int = 5`, or `steps = 5`, as the inherited parameter with another default."""
    inherited = {
        entry.name: entry
        for base in reversed(kind.__mro__[1:])
        if dataclasses.is_dataclass(base)
        for entry in dataclasses.fields(base)
    }
    annotations = dict(inspect.get_annotations(kind))
    for name, entry in inherited.items():
        value = vars(kind).get(name, entry)
        if isinstance(value, dataclasses.Field) or METADATA not in entry.metadata:
            continue  # declared in full, or wrongly: `parameters` says so
        try:
            default = entry.metadata[METADATA].normalised(name, value)
        except UsageError as error:
            raise UsageError(f"{kind.__name__}.{error}") from None
        annotations.setdefault(name, entry.type)
        setattr(kind, name, dataclasses.field(default=default, metadata=entry.metadata))
    kind.__annotations__ = annotations


def _first_line(docstring: str) -> str:
    """The first line as a phrase: no full stop, and no capital unless a name begins it."""
    line = docstring.strip().splitlines()[0].rstrip(".")
    return line if line[1:2].isupper() else line[:1].lower() + line[1:]
