"""What a run of an experiment gives back."""

import dataclasses
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit._errors import UsageError
from tacit.claims import SEED, VERDICTS, DecidedClaims
from tacit.experiments import Experiment
from tacit.reproduction._comparison import Comparison, compared
from tacit.reproduction._digest import Digest, digest_of
from tacit.reproduction._more_seeds import Effort
from tacit.reproduction._reference import in_words
from tacit.sweep import SweepSummary

if TYPE_CHECKING:
    import xarray

    import tacit.draw


_FILE = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True, eq=False, kw_only=True)
class Reproduction:
    """An experiment that was run: its dataset, its claims, its figure.

    **Arguments:**

    - `experiment`, `preset`: what was run; the experiment holds its parameters.
    - `dataset`: the cells of this experiment, as an `xarray.Dataset`.
    - `claims`: decided from the dataset; by number, or by name: `claims["k = 11: extrapolates"]`.
    - `outcomes`: how many runs ended how, and how many cells hold theory alone, "without a run".
    - `efforts`: what each undecided claim would take, by its name.
    - `rounding`: what the rounding errors of its cells depend on: processor and packages.
    - `seconds`: wall time of the run; near zero when everything was stored already.
    - `path`: the folder with the store, the figure and `claims.json`.
    - `summary`: what the sweep computed, skipped and failed at.
    - `warnings`: what the store set aside or skipped, in words.
    - `remarks`: which values no claim reads and which claims have lost their runs, in words, where
      the axes have other values than the preset.
    """

    experiment: Experiment
    preset: str
    dataset: "xarray.Dataset"
    claims: DecidedClaims
    outcomes: Mapping[str, int]
    efforts: Mapping[str, Effort]
    rounding: str
    seconds: float
    path: Path
    summary: SweepSummary
    warnings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        from tacit.reproduction._shown import reproduction_text

        return reproduction_text(self)

    def _repr_html_(self) -> str:
        from tacit.reproduction._shown import reproduction_html

        return reproduction_html(self)

    @property
    def as_expected(self) -> bool | None:
        """Whether every verdict is the expected one.

        False if one is not; None if none contradicts but some claim is undecided, for example
        because it has no runs, or if there is no claim. A claim that is at the bound contradicts
        nothing, and is an answer.
        """
        verdicts = [claim.verdict for claim in self.claims]
        if any(claim.as_expected is False for claim in self.claims):
            return False
        return None if not verdicts or "undecided" in verdicts else True

    @property
    def finding(self) -> str:
        """What was found, in sentences filled from the claims; those alone that they support."""
        finding = self.experiment.finding
        return "" if finding is None else finding.of(self.claims)

    @property
    def verdicts(self) -> dict[str, int]:
        """How many claims have which verdict."""
        counts: dict[str, int] = dict.fromkeys(VERDICTS, 0)
        for claim in self.claims:
            counts[claim.verdict] += 1
        return counts

    @property
    def results(self) -> Path:
        """The dataset on the disk, with the origin of each cell, for `xarray.open_zarr`."""
        return self.path / "store" / "results.zarr"

    def figure(self) -> "tacit.draw.Figure":
        """The figure, with a notice where a claim is undecided or came out otherwise.

        The counts of outcomes stand at the end of its caption. It shows the seeds that every cell
        has; where a claim was made from more, the caption says so.
        """
        # As a label, how each run ended goes with what is drawn of it.
        runs = self.dataset.set_coords("outcome")
        figure = _drawn(self.experiment, self.experiment.draw(runs))
        counts = ", ".join(f"{count} {name}" for name, count in self.outcomes.items())
        caption = f"{figure.caption} Outcomes: {counts}.".strip()
        shown = self.dataset.sizes.get("seed", 0)
        most = max((len(claim.values) for claim in self.claims), default=0)
        if most > shown > 0:
            caption += f" The figure shows {shown} seeds; claims were decided with up to {most}."
        notices = [figure.notice] if figure.notice else []
        undecided = [claim.name for claim in self.claims if claim.verdict == "undecided"]
        unexpected = [claim.name for claim in self.claims if claim.as_expected is False]
        notices += [f"Undecided: {', '.join(undecided)}"] if undecided else []
        notices += [f"Not as expected: {', '.join(unexpected)}"] if unexpected else []
        figure = dataclasses.replace(figure, caption=caption)
        return figure.with_notice("; ".join(notices)) if notices else figure

    def paper_figure(self) -> "tacit.draw.Figure":
        """The figure as the authors show it: their panels, from as many seeds as they had.

        It has neither title nor notice, nor what is ours in its panels. A `UsageError` if it is no
        figure of the paper, or if none of the runs that the paper shows are there.
        """
        experiment, runs = self._as_published()
        seeds = runs.sizes.get(SEED, 0)
        wanted: Any = experiment.published.get(SEED, ())
        words = f"{experiment.paper}, {experiment.figure}"
        words += f": {seeds} seed{'s' if seeds != 1 else ''}" if seeds else ""
        if len(wanted) > seeds > 0:
            words += f" of the paper's {len(wanted)}"
        return _drawn(experiment, experiment.draw_paper(runs)).published(f"{words}.")

    def tables(self, *, as_published: bool = False) -> dict[str, str]:
        """The experiment's tables by file name, of all runs or of those that the paper shows."""
        experiment, runs = self._as_published() if as_published else (self.experiment, self.dataset)
        made: Any = experiment.tables(runs)
        if not isinstance(made, Mapping) or not all(
            isinstance(name, str) and _FILE.fullmatch(name) and isinstance(text, str)
            for name, text in made.items()
        ):
            raise UsageError(
                f"{experiment.id}: tables() returned {made!r}, give texts by plain file names"
            )
        return dict(made)

    def _as_published(self) -> "tuple[Experiment, xarray.Dataset]":
        """The part of the run that the paper's own figure shows."""
        experiment = self.experiment
        if not experiment.in_paper():
            raise UsageError(
                f"{experiment.id} is {experiment.figure!r}: the paper has no such figure, so there "
                "is none to draw in its style"
            )
        kept: dict[str, Any] = {}
        for axis, values in experiment.published.items():
            wanted = experiment.parameter_named(axis).normalised(axis, values)
            kept[axis] = tuple(v for v in getattr(experiment, axis) if v in wanted)
            if not kept[axis]:
                words = ",".join(map(str, wanted))
                raise UsageError(
                    f"{experiment.id}: the paper's figure shows {axis} = {words}, which this run "
                    f"has not; run it with --set {axis}={words}"
                )
        chosen = {axis: list(values) for axis, values in kept.items()}
        return experiment.replace(**kept), self.dataset.sel(chosen)

    @functools.cached_property
    def digest(self) -> Digest:
        """The stored variables in a few numbers each; see `compare`."""
        return digest_of(self.dataset, self.experiment.stored())

    def compare(self) -> Comparison:
        """What moved since the committed reference of this preset, if there is one."""
        return compared(self)

    def to_dict(self) -> dict[str, Any]:
        """The run in JSON's types, as `--json` prints it."""
        return {**self.record(), **self.costs()}

    def costs(self) -> dict[str, Any]:
        """What changes from run to run: the time it took, and what undecided claims would take."""
        return {
            "seconds": round(self.seconds, 3),
            "efforts": {name: effort.to_dict() for name, effort in self.efforts.items()},
        }

    def record(self) -> dict[str, Any]:
        """What `claims.json` and a reference hold: nothing that changes from run to run."""
        return {
            "experiment": self.experiment.id,
            "title": self.experiment.summary,
            "paper": self.experiment.paper,
            "figure": self.experiment.figure,
            "preset": self.preset,
            "finding": self.finding,
            "claims": [claim.to_dict() for claim in self.claims],
            "outcomes": dict(self.outcomes),
            "verdicts": self.verdicts,
            "as_expected": self.as_expected,
            "parameters": in_words(self.experiment),
            "remarks": list(self.remarks),
            "digest": self.digest,
            "rounding": self.rounding,
        }


def _drawn(experiment: Experiment, figure: Any) -> "tacit.draw.Figure":
    from tacit.draw import Figure

    if not isinstance(figure, Figure):
        raise UsageError(f"{experiment.id}: draw() returned {figure!r}, give a Figure")
    return figure
