"""A result as an xarray dataset, labelled by the grid that its lanes came from."""

from typing import Any

import numpy as np
import xarray

from tacit.descent._lanes import Lanes
from tacit.descent._result import DescentResult


def as_dataset(result: DescentResult[Any]) -> xarray.Dataset:
    """See `DescentResult.to_xarray`."""
    lanes = result.model if isinstance(result.model, Lanes) else None
    coordinates: dict[str, Any] = {}
    if lanes is not None:
        axes = lanes.axes or (("lane", tuple(range(lanes.count))),)
        coordinates = {name: np.array(values) for name, values in axes}
    names = tuple(coordinates)
    sizes = tuple(values.size for values in coordinates.values())
    variables: dict[str, tuple[tuple[str, ...], np.ndarray]] = {}

    def add(name: str, values: np.ndarray, *more: str) -> None:
        values = np.asarray(values)
        own = values.shape[(lanes is not None) :]
        extra = tuple(f"{name}_{place}" for place in range(len(own) - len(more)))
        variables[name] = (names + more + extra, values.reshape(sizes + own))

    for name in ("loss", "best_loss", "best_step", "steps", "outcome"):
        add(name, getattr(result, name))
    for name, values in result.report.items():
        add(f"report_{name}", values)
    if result.records:
        along = "step" if result.record_times is None else "time"
        times = result.record_times
        coordinates[along] = result.record_steps if times is None else times
        for name, values in result.records.items():
            add(f"recorded_{name}", values, along)
    clash = set(names) & (set(variables) | {"step", "time"})
    if clash:
        raise ValueError(
            f"axes: received {sorted(clash)}, they must not name other parts of a result; rename "
            "these axes of Lanes.grid"
        )
    return xarray.Dataset(variables, coordinates)
