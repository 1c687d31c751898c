"""The figure of regimes/width, from its stored dataset."""

from typing import TYPE_CHECKING

import numpy as np

from tacit.draw import Axis, Figure, Heatmap, HorizontalRule, Line, Mark, Panel
from tacit.experiments._lines import median_line
from tacit.experiments.regimes._setting import LEVEL
from tacit.experiments.regimes._summary import counted, medians, unconverged
from tacit.store import GAMMA, SEED, WIDTH

if TYPE_CHECKING:
    import xarray

    from tacit.experiments.regimes.width import WidthConfig


def draw_width(dataset: "xarray.Dataset", config: "WidthConfig") -> Figure:
    """The plane, and cuts along γ = 1 and along lines of one γ₀."""
    ordered = dataset.sortby([WIDTH, GAMMA])
    lost = unconverged(dataset)
    return Figure(
        "Wider is lazier at γ = 1; along γ ∝ √n width matters little",
        [_plane(ordered), _cuts(ordered)],
        caption=(
            f"Linear RNNs with their output divided by γ and centred, trained by gradient flow on "
            f"k = {config.length} lags of a teacher of order 3 until their relative error there is "
            f"{config.goal:g}. Medians over {len(config.seed)} starts. Oblique lines: "
            "γ = γ₀ √n at one κ, computed without training; dashed frame: γ = 1. "
            f"Hatched: fewer than half of the runs converged. {lost}"
        ).strip(),
        size=(11.4, 5.6),
    )


def _per_kappa(dataset: "xarray.Dataset") -> float:
    """γ₀ at κ = 1, from the stored κ, which is proportional to γ₀."""
    first = dataset.isel({WIDTH: 0, GAMMA: 0})
    gamma0 = float(first[GAMMA]) / np.sqrt(float(first[WIDTH]))
    return gamma0 / float(first["kappa"].median(SEED))


def _plane(dataset: "xarray.Dataset") -> Panel:
    widths, gammas = dataset[WIDTH].values.astype(float), dataset[GAMMA].values
    table = np.round(medians(dataset, "error", GAMMA, WIDTH), 2)
    x, y = Axis("", scale="log").edges(widths), Axis("", scale="log").edges(gammas)
    marks: list[Mark] = [
        Heatmap(
            widths,
            gammas,
            table,
            label="relative error on the lags after k",
            limits=(0, 1),
            annotate=True,
        )
    ]
    edge = _per_kappa(dataset)
    for kappa in (0.3, 1.0, 3.0):
        line = np.geomspace(x[0], x[-1], 60)
        values = kappa * edge * np.sqrt(line)
        inside = (values >= y[0]) & (values <= y[-1])
        if inside.sum() < 2:
            continue
        bold = kappa == 1.0
        marks.append(
            Line(
                line[inside],
                values[inside],
                label="κ = 1" if bold else "κ = 0.3 and 3",
                colour="warning" if bold else "ink",
                width=2.4 if bold else 1.0,
            )
        )
    if 1.0 in gammas:  # a frame, so that the numbers in the row can be read
        row = int(np.flatnonzero(gammas == 1.0)[0])
        for end in y[row : row + 2]:
            marks.append(HorizontalRule(end, label="γ = 1: the kernel paper", colour="ink"))
    return Panel(
        "how wrong beyond k",
        Axis("hidden units n", scale="log", ticks={w: f"{w:g}" for w in widths}),
        Axis("γ", scale="log", ticks={float(g): f"{g:g}" for g in gammas}),
        marks,
        legend="outside",
    )


def _cuts(dataset: "xarray.Dataset") -> Panel:
    widths = dataset[WIDTH].values
    gammas = [float(gamma) for gamma in dataset[GAMMA].values]
    error = counted(dataset, "error")
    marks: list[Mark] = [HorizontalRule(LEVEL, label="½")]
    if 1.0 in gammas:
        table = error.sel({GAMMA: 1.0}).transpose(WIDTH, SEED).values
        marks += median_line(widths, table, label="γ = 1", colour="warning")
    # Lines of one γ₀ from the narrowest student on: every fourfold width has twice the γ.
    every = [int(w) for w in widths if np.log2(w / widths[0]) % 2 == 0]
    shown = [g for g in gammas if g in (0.5, 1.0, 2.0, 4.0)]
    for colour, gamma in enumerate(shown):
        pairs = [(w, gamma * np.sqrt(w / widths[0])) for w in every]
        pairs = [(w, g) for w, g in pairs if g in gammas]
        if len(pairs) < 2:
            continue
        table = np.stack([error.sel({WIDTH: w, GAMMA: g}).values for w, g in pairs])
        marks += median_line(
            [w for w, _ in pairs],
            table,
            label=f"γ₀ = {gamma / np.sqrt(widths[0]):g}",
            colour=colour,
            style="dashed",
        )
    return Panel(
        "cuts: along γ = 1, and along one γ₀",
        Axis("hidden units n", scale="log", ticks={float(w): f"{w:g}" for w in widths}),
        Axis("relative error on the lags after k", limits=(0, None)),
        marks,
        legend="outside",
        note="bands: the middle half of the starts",
    )
