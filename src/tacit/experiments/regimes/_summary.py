"""Medians over the runs that ended at the train error asked for."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.store import SEED

if TYPE_CHECKING:
    import xarray


def counted(dataset: "xarray.Dataset", name: str) -> "xarray.DataArray":
    """A number of every run, NaN where the run did not reach its train error."""
    return dataset[name].where(dataset["outcome"] == "converged")


def medians(dataset: "xarray.Dataset", name: str, *dims: str) -> np.ndarray:
    """Medians over converged seeds, by `dims`; NaN where fewer than half of the seeds converged."""
    values = counted(dataset, name)
    enough = 2 * values.notnull().sum(SEED) >= dataset.sizes[SEED]
    return values.median(SEED, skipna=True).where(enough).transpose(*dims).values


def present(values: "xarray.DataArray") -> np.ndarray:
    """The values that are there, flat."""
    flat = np.ravel(values.values)
    return flat[~np.isnan(flat)]


def unconverged(dataset: "xarray.Dataset") -> str:
    """How many runs ended otherwise, in words; empty if none."""
    words = dataset["outcome"].values
    lost, total = int(np.sum((words != "converged") & (words != ""))), int(np.sum(words != ""))
    return f"{lost} of {total} runs did not converge and are left out" if lost else ""


def limit(side: str, bound: float) -> dict[str, Any]:
    """The bound of a claim by the name of its side, `at_most` or `at_least`."""
    return {side: bound}
