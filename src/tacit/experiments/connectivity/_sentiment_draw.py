"""Panels of connectivity/fig5 and connectivity/figs6, from the stored dataset."""

from typing import TYPE_CHECKING

import numpy as np

from tacit.draw import Axis, Band, HorizontalRule, Line, Mark, Panel
from tacit.experiments.connectivity._sentiment import (
    MATRICES,
    SPLITS,
    TRUNCATIONS,
    learned,
)
from tacit.store import KEPT, MATRIX, RANK, SEED, SINGULAR_VALUE, SPLIT, STEP

if TYPE_CHECKING:
    import xarray

_SPECTRA: dict[str, tuple[str, int | str]] = {
    "initial_singular": ("W₀", "muted"),
    "final_singular": ("W", 0),
    "change_singular": ("ΔW", 1),
}
_SPLIT_WORDS = {"train": "training", "dev": "validation"}


def spread(
    x: np.ndarray, table: np.ndarray, label: str, colour: int | str, style: str = "solid"
) -> list[Mark]:
    """Median and range over networks, where there are numbers."""
    kept = np.isfinite(table).all(axis=0)
    if not len(table) or not kept.any():
        return []
    middle = np.median(table[:, kept], axis=0)
    return [
        Band(x[kept], table[:, kept].min(axis=0), table[:, kept].max(axis=0), colour=colour),
        Line(x[kept], middle, label=label, colour=colour, style=style),
    ]


def singular_panel(dataset: "xarray.Dataset", matrix: str) -> Panel:
    """All singular values of one matrix, before and after, and of its change."""
    runs = learned(dataset)
    marks: list[Mark] = []
    for name, (words, colour) in _SPECTRA.items():
        table = runs[name].sel({MATRIX: matrix}).transpose(SEED, SINGULAR_VALUE).values
        style = "dashed" if name == "initial_singular" else "solid"
        marks += spread(runs[SINGULAR_VALUE].values.astype(float), table, words, colour, style)
    return Panel(
        MATRICES[matrix],
        Axis("number"),
        Axis("singular value", limits=(0, None)),
        marks,
        legend="outside",
    )


def curve_panel(dataset: "xarray.Dataset", name: str, words: str) -> Panel:
    """Loss or accuracy against epochs, on training and validation sentences, of all networks."""
    marks: list[Mark] = []
    for colour, split in enumerate(SPLITS):
        x = dataset["epoch"].isel({SEED: 0}).values
        table = dataset[name].sel({SPLIT: split}).transpose(SEED, STEP).values
        marks += spread(x, table, _SPLIT_WORDS[split], colour)
    return Panel(words, Axis("epoch"), Axis(words), marks, legend="outside")


def truncation_panel(dataset: "xarray.Dataset", split: str) -> Panel:
    """Accuracy when the change, or the whole, is truncated at a rank."""
    runs = learned(dataset)
    x = runs[RANK].values.astype(float)
    marks: list[Mark] = []
    for colour, (kept, words) in enumerate(TRUNCATIONS.items()):
        table = runs["truncated_accuracy"].sel({SPLIT: split, KEPT: kept}).transpose(SEED, RANK)
        marks += spread(x, table.values, words, (1, 0)[colour])
    if runs.sizes[SEED]:
        whole = float(runs["final_accuracy"].sel({SPLIT: split}).median())
        mixed = float(runs["shuffled_accuracy"].sel({SPLIT: split}).median())
        marks += [
            HorizontalRule(whole, label="as trained", colour="ink"),
            HorizontalRule(mixed, label="W₀ shuffled", colour=2, style="dotted"),
        ]
    ticks = [rank for rank in (0, 2, 4, 6, 8, 10, 20, 50, 100, 200, 500, 1000) if rank <= x[-1]]
    return Panel(
        f"{_SPLIT_WORDS[split]} accuracy after truncation",
        Axis("rank kept", scale="symlog", threshold=10, ticks=ticks, limits=(0, x[-1])),
        Axis("accuracy"),
        marks,
        legend="outside",
    )
