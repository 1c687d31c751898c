"""Panels of figs4, from the stored dataset."""

from typing import TYPE_CHECKING

import numpy as np

from tacit.draw import Axis, HorizontalRule, Line, Mark, Panel, Points, Shade, VerticalRule
from tacit.experiments.connectivity.figs4 import FATES, SHOWN, FigS4Config
from tacit.store import MODE, SEED, STEP, STRENGTH, TARGET

if TYPE_CHECKING:
    import xarray

COLOURS = {"smooth": 0, "recovered": 2, "stuck": 4, "diverged": 1}
AROUND = 30  # epochs before a crossing that are shown


def explosion_panels(dataset: "xarray.Dataset", config: FigS4Config) -> list[Panel]:
    """Losses of the hardest target, shares, eigenvalues, gradients around the crossing."""
    target = max(config.target)
    weak, strong = min(config.g), max(config.g)
    return [
        _loss_panel(dataset, target, weak),
        _loss_panel(dataset, target, strong),
        _share_panel(dataset, config),
        _eigenvalue_panel(dataset, target, weak),
        _eigenvalue_panel(dataset, target, strong),
        _crossing_panel(dataset),
    ]


def _loss_panel(dataset: "xarray.Dataset", target: float, g: float) -> Panel:
    runs = dataset.sel({TARGET: target, STRENGTH: g})
    fates = runs["fate"].values
    table = runs["loss"].transpose(SEED, STEP).values
    epochs = runs[STEP].values.astype(float)
    marks: list[Mark] = []
    for fate in FATES:
        chosen = table[fates == fate]
        for losses in chosen:
            label = f"{fate} ({len(chosen)} of {len(fates)})"
            marks.append(
                Line(epochs, losses, label=label, colour=COLOURS[fate], width=1.2, opacity=0.7)
            )
        if fate == "diverged":
            ends = np.array([np.flatnonzero(np.isfinite(losses))[-1] for losses in chosen], int)
            marks.append(
                Points(
                    epochs[ends],
                    chosen[np.arange(len(chosen)), ends],
                    colour=COLOURS[fate],
                    marker="x",
                    size=6.0,
                )
            )
    return Panel(
        f"loss, ẑ = {target:g}, g = {g:g}",
        Axis("epoch"),
        Axis("loss / initial loss", scale="log", limits=(1e-6, None)),
        marks,
        legend="outside",
        note="crosses: the last finite loss" if (fates == "diverged").any() else None,
    )


def _share_panel(dataset: "xarray.Dataset", config: FigS4Config) -> Panel:
    """The share of each fate, with its interval, at every target and strength."""
    from tacit.claims._intervals import fraction_interval

    settings = [(target, g) for target in config.target for g in config.g]
    marks: list[Mark] = []
    for shift, fate in enumerate(FATES):
        xs, shares = [], []
        for place, (target, g) in enumerate(settings):
            fates = dataset["fate"].sel({TARGET: target, STRENGTH: g}).values
            count, total = int((fates == fate).sum()), len(fates)
            x = place + 0.16 * (shift - 1.5)
            low, high = fraction_interval(count, total)
            marks.append(Line([x, x], [low, high], colour=COLOURS[fate], width=1.2, opacity=0.6))
            xs.append(x)
            shares.append(count / total)
        marks.append(Points(xs, shares, label=fate, colour=COLOURS[fate], size=6.0))
    ticks = {float(k): f"ẑ={target:g}, g={g:g}" for k, (target, g) in enumerate(settings)}
    if len(settings) > 4:
        ticks = {float(k): f"{target:g}, {g:g}" for k, (target, g) in enumerate(settings)}
    return Panel(
        "what became of the networks",
        Axis("ẑ, g", ticks=ticks),
        Axis("share of the networks", limits=(-0.02, 1.02)),
        marks,
        legend="outside",
        note="bars: 95% intervals",
    )


def _eigenvalue_panel(dataset: "xarray.Dataset", target: float, g: float) -> Panel:
    """Leading real parts of one network, the first that diverged if there is one."""
    runs = dataset.sel({TARGET: target, STRENGTH: g})
    fates = runs["fate"].values
    place = int(np.argmax(fates == "diverged"))  # the first network if none did
    run = runs.isel({SEED: place})
    epochs = run[STEP].values.astype(float)
    values = run["real_parts"].transpose(STEP, MODE).values
    marks: list[Mark] = [HorizontalRule(1.0, label="one")]
    subscripts = "₁₂₃₄₅"
    for number, shade in zip(range(SHOWN), Shade.family(SHOWN), strict=True):
        marks.append(Line(epochs, values[:, number], label=f"λ{subscripts[number]}", colour=shade))
    if np.isfinite(run["crossing"].item()):
        marks.append(VerticalRule(run["crossing"].item(), label="crossing", style="dotted"))
    return Panel(
        f"eigenvalues, ẑ = {target:g}, g = {g:g}, one network ({fates[place]})",
        Axis("epoch"),
        Axis("real part"),
        marks,
        legend="outside",
    )


def _crossing_panel(dataset: "xarray.Dataset") -> Panel:
    """Gradients around the epoch at which an eigenvalue crossed one, and of those without one."""
    fates = dataset["fate"].values.ravel()
    crossing = dataset["crossing"].values.ravel()
    gradients = dataset["gradient"].transpose(..., STEP).values.reshape(len(fates), -1)
    marks: list[Mark] = [VerticalRule(0.0, label="Re λ₁ crosses 1")]
    for fate in FATES:
        chosen = np.flatnonzero((fates == fate) & np.isfinite(crossing))
        for row in chosen:
            first = int(crossing[row])
            epochs = np.arange(max(0, first - AROUND), min(gradients.shape[1], first + 11))
            marks.append(
                Line(
                    epochs - first,
                    gradients[row, epochs],
                    label=f"{fate} ({len(chosen)})",
                    colour=COLOURS[fate],
                    width=1.2,
                    opacity=0.7,
                )
            )
    return Panel(
        "gradients of the networks with a crossing",
        Axis("epochs after the crossing"),
        Axis("norm of the gradient / initial norm", scale="log"),
        marks,
        legend="outside",
        note=f"{int(np.isfinite(crossing).sum())} of {len(crossing)} networks, all targets and g",
    )
