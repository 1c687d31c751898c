"""Panels of figs5, from the stored dataset."""

from typing import TYPE_CHECKING

import numpy as np

from tacit.draw import Axis, Band, HorizontalRule, Line, Mark, Panel
from tacit.experiments.connectivity.figs5 import FigS5Config, in_words, marginal
from tacit.store import SEED, SLOWER, STEP, STRENGTH, TIME

if TYPE_CHECKING:
    import xarray


def cosine_panels(dataset: "xarray.Dataset", config: FigS5Config) -> list[Panel]:
    """Rows of outputs, losses, imaginary and real parts; a column for each choice of rates."""
    wanted = marginal(config.frequency)
    columns = []
    for slower in config.slower:
        runs = dataset.sel({SLOWER: slower})
        end = f", {in_words(slower)}" if len(config.slower) > 1 else ""
        columns.append(
            [
                _output_panel(runs, config, end),
                _over_epochs(runs, config, "loss", config.fraction, end),
                _over_epochs(runs, config, "leading", wanted.imag, end),
                _over_epochs(runs, config, "largest_real", wanted.real, end),
            ]
        )
    return [panel for row in zip(*columns, strict=True) for panel in row]


def _output_panel(dataset: "xarray.Dataset", config: FigS5Config, end: str) -> Panel:
    time = dataset[TIME].values
    marks: list[Mark] = []
    for colour, g in enumerate(config.g):
        output = dataset["output"].sel({STRENGTH: g}).isel({SEED: 0}).values
        marks.append(Line(time, output, label=f"g = {g:g}", colour=colour))
    target = np.cos(2 * np.pi * config.frequency * time)
    marks.append(Line(time, target, label="target", colour="ink", style="dashed", width=1.2))
    return Panel(f"output after training{end}", Axis("time"),
                 Axis("output", limits=(-1.6, 1.6)), marks, legend="outside")  # fmt: skip


def _over_epochs(
    dataset: "xarray.Dataset", config: FigS5Config, name: str, level: float, end: str
) -> Panel:
    epochs = dataset[STEP].values.astype(float)
    marks: list[Mark] = []
    for colour, g in enumerate(config.g):
        runs = dataset.sel({STRENGTH: g})
        table = runs[name].transpose(SEED, STEP).values
        table = table.imag if name == "leading" else table.real
        table = table[np.isfinite(table).all(axis=1)]
        learned = int((runs["outcome"].values == "converged").sum())
        if len(table):
            marks += [
                Band(epochs, table.min(axis=0), table.max(axis=0), colour=colour),
                Line(
                    epochs,
                    np.median(table, axis=0),
                    label=f"g = {g:g} ({learned} of {runs.sizes[SEED]})",
                    colour=colour,
                ),
            ]
    level_words = f"{config.fraction:.0%}" if name == "loss" else "of the cosine, in Euler steps"
    marks.append(HorizontalRule(level, label=level_words))
    titles = {
        "loss": ("loss", "loss / initial loss"),
        "leading": ("largest imaginary part of W's eigenvalues", "imaginary part"),
        "largest_real": ("largest real part of W's eigenvalues", "real part"),
    }
    title, words = titles[name]
    return Panel(
        title + end,
        Axis("epoch"),
        Axis(words, scale="log" if name == "loss" else "linear"),
        marks,
        legend="outside",
    )
