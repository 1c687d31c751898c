"""Learning curves of an RNN and of the kernels that predict it, as fig1 and fig2 draw them."""

from typing import TYPE_CHECKING

import numpy as np

from tacit.draw import Axis, HorizontalRule, Line, Mark, Panel
from tacit.experiments.kernel._dynamics import MODELS, DynamicsConfig
from tacit.store import MODEL, SEED, STEP, WIDTH

if TYPE_CHECKING:
    import xarray

_STYLES = {"rnn": "solid", "limit": "dashed", "start": "dotted"}
KERNELS = ("limit", "start")


def curve_panel(
    dataset: "xarray.Dataset", config: DynamicsConfig, *, quantity: str, title: str, scale: str
) -> Panel:
    """Errors along the epochs for the first seed: its curves, not a mean of different teachers."""
    runs = dataset.isel({SEED: 0}).sel({WIDTH: max(config.width)})
    epochs = np.array(config.epochs, float)
    marks: list[Mark] = [
        Line(
            epochs,
            runs[quantity].sel({MODEL: name}).values,
            label=words,
            colour=place,
            style=_STYLES[name],
            width=3.2 if name == "rnn" else 1.8,
            opacity=0.45 if name == "rnn" else 1.0,
        )
        for place, (name, words) in enumerate(MODELS.items())
    ]
    if quantity == "test":
        marks.append(HorizontalRule(float(runs["noise"]), label="the noise itself"))
    first = 1.0 if scale == "symlog" else None
    return Panel(
        title,
        Axis("epoch", scale=scale, threshold=first or 1.0),
        Axis("mean squared error", scale="log"),
        marks,
    )


def momentary_gap(dataset: "xarray.Dataset", kernel: str, quantity: str) -> "xarray.DataArray":
    """|error of the RNN − error of the kernel model| over the latter, at every epoch."""
    rnn, model = (dataset[quantity].sel({MODEL: name}) for name in ("rnn", kernel))
    return abs(rnn - model) / model


def initial_gap(dataset: "xarray.Dataset", kernel: str, quantity: str) -> "xarray.DataArray":
    """The same difference over the error at the start."""
    rnn, model = (dataset[quantity].sel({MODEL: name}) for name in ("rnn", kernel))
    return abs(rnn - model) / rnn.isel({STEP: 0})
