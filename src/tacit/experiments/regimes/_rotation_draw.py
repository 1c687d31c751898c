"""The figure of regimes/rotation, from its stored dataset."""

from typing import TYPE_CHECKING

import numpy as np

from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, Points, Shade, VerticalRule
from tacit.experiments._lines import median_line
from tacit.experiments.regimes._setting import LEVEL
from tacit.experiments.regimes._summary import counted, unconverged
from tacit.store import GAMMA0, LENGTH, SEED, WIDTH

if TYPE_CHECKING:
    import xarray

    from tacit.experiments.regimes.rotation import RotationConfig

ROTATION = "rotation, 1 − cosine"


def draw_rotation(dataset: "xarray.Dataset", config: "RotationConfig") -> Figure:
    """Rotation along γ₀ by width, along κ by length, and the error that goes with it."""
    ordered = dataset.sortby([WIDTH, LENGTH, GAMMA0])
    lost = unconverged(dataset)
    return Figure(
        "The kernel turns at κ of order one, at every width",
        [_by_width(ordered), _by_length(ordered), _change(ordered), _error(ordered)],
        columns=2,
        caption=(
            "1 − cosine between the kernels (Gram matrices of the trained lags) of start and end, "
            "between 0 and 1. Linear RNNs with centred outputs, trained by gradient flow on the "
            f"teacher of regimes/map until their relative train error is {config.goal:g}. Lines "
            f"are medians over {len(config.seed)} starts, bands the middle half. {lost}"
        ).strip(),
        size=(10.4, 8.4),
    )


def _by_width(dataset: "xarray.Dataset") -> Panel:
    k = int(dataset[LENGTH].values[-1])
    gamma0 = dataset[GAMMA0].values
    turned = counted(dataset, "rotation").sel({LENGTH: k})
    marks: list[Mark] = []
    for colour, width in enumerate(dataset[WIDTH].values):
        table = turned.sel({WIDTH: width}).transpose(GAMMA0, SEED).values
        marks += median_line(gamma0, table, label=f"n = {width}", colour=colour)
    middle = turned.median(SEED).median(WIDTH).values
    first = middle[0] * (gamma0 / gamma0[0]) ** 2
    shown = first <= 1
    marks.append(
        Line(gamma0[shown], first[shown], label="∝ γ₀²", colour="reference", style="dashed")
    )
    return Panel(
        f"one curve at all widths, k = {k}",
        Axis("γ₀ = γ/√n", scale="log"),
        Axis(ROTATION, scale="log", limits=(None, 1.5)),
        marks,
        legend="outside",
    )


def _by_length(dataset: "xarray.Dataset") -> Panel:
    width = int(dataset[WIDTH].values[-1])
    chosen = dataset.sel({WIDTH: width})
    turned = counted(chosen, "rotation")
    marks: list[Mark] = [VerticalRule(1.0, label="κ = 1", colour="warning", style="solid")]
    for colour, k in enumerate(dataset[LENGTH].values):
        kappa = chosen["kappa"].sel({LENGTH: k}).median(SEED).values
        table = turned.sel({LENGTH: k}).transpose(GAMMA0, SEED).values
        marks += median_line(kappa, table, label=f"k = {k}", colour=colour)
    return Panel(
        f"it begins at κ of order one, n = {width}",
        Axis("κ = γ₀ × the teacher's norm in the kernel", scale="log"),
        Axis(ROTATION, limits=(0, 1)),
        marks,
        legend="outside",
    )


def _change(dataset: "xarray.Dataset") -> Panel:
    k, width = int(dataset[LENGTH].values[-1]), int(dataset[WIDTH].values[-1])
    chosen = dataset.sel({LENGTH: k, WIDTH: width})
    gamma0 = dataset[GAMMA0].values
    marks: list[Mark] = [HorizontalRule(1.0, label="1")]
    for colour, (name, words) in enumerate(
        {"rotation": "rotation", "change": "relative change, ‖G − G⁰‖/‖G⁰‖"}.items()
    ):
        table = counted(chosen, name).transpose(GAMMA0, SEED).values
        marks += median_line(gamma0, table, label=words, colour=colour)
    return Panel(
        "why rotation: the relative change has no end",
        Axis("γ₀ = γ/√n", scale="log"),
        Axis("of the kernel", scale="log"),
        marks,
        legend="outside",
        note=f"n = {width}, k = {k}",
    )


def _error(dataset: "xarray.Dataset") -> Panel:
    """Every start as a point, in the colour of its γ₀."""
    k = int(dataset[LENGTH].values[-1])
    error, turned = counted(dataset, "error"), counted(dataset, "rotation")
    scales = dataset[GAMMA0].values
    marks: list[Mark] = [HorizontalRule(LEVEL, label="error ½")]
    for shade, gamma0 in zip(Shade.family(len(scales)), scales, strict=True):
        place = {LENGTH: k, GAMMA0: gamma0}
        marks.append(
            Points(
                np.ravel(turned.sel(place).values),
                np.ravel(error.sel(place).values),
                label=f"γ₀ = {gamma0:g}",
                colour=shade,
                size=4.5,
                opacity=0.75,
            )
        )
    return Panel(
        f"what turning buys, k = {k}",
        Axis(ROTATION, scale="log", limits=(None, 1.5)),
        Axis("relative error on the lags after k", limits=(0, None)),
        marks,
        legend="outside",
        note="every start of every width",
    )
