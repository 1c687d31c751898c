"""connectivity, Figure S2: singular values and eigenvalues of trained networks.

The comparison: the spectra of the change ΔW and of the final W, for three strengths of the initial
connectivity, the last of them beyond the edge of chaos. Eigenvalues of W₀ fill the circle of radius
g; training adds a few outside.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_mean
from tacit.draw import Axis, Figure, Line, Mark, Panel, Points
from tacit.experiments.connectivity._tasks import (
    TaskConfig,
    TaskExperiment,
    finished,
)
from tacit.store import SEED, SINGULAR_VALUE, STRENGTH, TASK, UNIT

if TYPE_CHECKING:
    import xarray

_ASPECT = 1.45  # of a panel
_MARGIN = 0.1  # what the edge of the circle moves by at N of a few hundred


class FigS2(TaskExperiment):
    """Spectra of ΔW and W for three strengths."""

    id = "connectivity/figs2"
    figure = "Figure S2"
    summary = "singular values and eigenvalues of trained networks and of their change"
    presets: ClassVar[Mapping[str, TaskConfig]] = {
        "smoke": TaskConfig(
            task=("flip-flop",), g=(0.0, 0.9), width=24, effort=0.04, trials=32, ranks=4, shown=8,
            seed=(0, 1),
        ),
        "quick": TaskConfig(
            task=("flip-flop",), g=(0.0, 0.9, 1.8), width=64, effort=0.12, trials=128, ranks=4,
            seed=tuple(range(4)),
        ),
        "paper": TaskConfig(g=(0.0, 0.9, 1.8)),
    }  # fmt: skip

    def claims(self, dataset: "xarray.Dataset", config: TaskConfig) -> list[Claim]:
        """Most eigenvalues of W stay inside the circle; W keeps full rank, ΔW does not."""
        found = []
        for task in config.task:
            for g in config.g:
                if g == 0:
                    continue
                runs = dataset.sel({TASK: task, STRENGTH: g})
                values = np.abs(runs["final_eigenvalues"].transpose(SEED, UNIT).values)
                values = values[np.isfinite(values).all(axis=1)]
                inside = (values <= g + _MARGIN).mean(axis=1)
                found.append(
                    claim_about_mean(
                        inside,
                        name=f"{task}, g = {g:g}: inside the circle",
                        statement=f"On {task} with g = {g:g}, most eigenvalues of W stay within "
                        f"{_MARGIN:g} of the circle of radius g: 90% or more.",
                        place="Figure S2(d)–(l)",
                        at_least=0.9,
                    )
                )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: TaskConfig, claims: Sequence[Claim]
    ) -> Figure:
        """Singular values of ΔW and W, then eigenvalues of both for each strength.

        Several tasks are columns.
        """
        panels = [
            _singular_panel(dataset, config, task, name, words)
            for name, words in (("change_singular", "ΔW"), ("final_singular", "W"))
            for task in config.task
        ]
        panels += [_plane_panel(dataset, task, g) for g in config.g for task in config.task]
        tasks = len(config.task)
        return Figure(
            "Training adds a few directions to a random matrix",
            panels,
            columns=tasks if tasks > 1 else min(3, 2 + len(config.g)),
            caption=(
                f"N = {config.width}; singular values: median over {dataset.sizes[SEED]} networks; "
                "eigenvalues: the first network. Circles have radius g."
            ),
        )


def _singular_panel(
    dataset: "xarray.Dataset", config: TaskConfig, task: str, name: str, words: str
) -> Panel:
    marks: list[Mark] = []
    for colour, g in enumerate(config.g):
        values = dataset[name].sel({TASK: task, STRENGTH: g}).transpose(SEED, SINGULAR_VALUE).values
        values = values[np.isfinite(values).all(axis=1)]
        learned = finished(dataset, task, g).sizes[SEED]
        if len(values):
            label = f"g = {g:g} ({learned} of {dataset.sizes[SEED]} learned)"
            x = np.arange(1, values.shape[1] + 1)
            marks.append(Line(x, np.median(values, axis=0), label=label, colour=colour, marker="o"))
    return Panel(
        f"{task}: singular values of {words}",
        Axis("number"),
        Axis("singular value", limits=(0, None)),
        marks,
        legend="outside",
    )


def _plane_panel(dataset: "xarray.Dataset", task: str, g: float) -> Panel:
    run = dataset.sel({TASK: task, STRENGTH: g}).isel({SEED: 0})
    angle = np.linspace(0, 2 * np.pi, 200)
    marks: list[Mark] = []
    if g > 0:
        circle = (g * np.cos(angle), g * np.sin(angle))
        marks.append(Line(*circle, label="radius g", colour="reference", style="dashed", width=1.0))
    for place, (name, words) in enumerate(
        (("final_eigenvalues", "W"), ("change_eigenvalues", "ΔW"))
    ):
        values = run[name].values
        marks.append(
            Points(
                values.real,
                values.imag,
                label=f"eigenvalues of {words}",
                colour=place,
                marker=("o", "x")[place],
                size=3.5 + 1.5 * place,
                opacity=0.7,
            )
        )
    # As wide as high, in a panel that is wider than high: circles are round.
    reach = 1.08 * max([g, *np.abs(run["final_eigenvalues"].values)])
    reach = reach if np.isfinite(reach) else 1.0
    return Panel(
        f"{task}, g = {g:g}",
        Axis("real part", limits=(-_ASPECT * reach, _ASPECT * reach)),
        Axis("imaginary part", limits=(-reach, reach)),
        marks,
        legend="outside",
    )
