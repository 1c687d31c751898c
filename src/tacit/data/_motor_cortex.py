"""A recording from motor cortex with the hand's velocity."""

import os

import numpy as np

from tacit._doors import door, path
from tacit.data._recording import Recording
from tacit.data._source import Source

M1_FLINT = Source(
    name="m1_flint_run1",
    files={
        "x.csv": "9bd0d05589750cbfdaaacb0f848b4ed73ff42e2cf1aa17671e49a22d9ce5006d",
        "z.csv": "dc93cd54f4188b731e4323307505a2004fcf7347c67561624af04f3a1ce4518f",
    },
    address=(
        "https://raw.githubusercontent.com/burkh4rt/DKF-implementations/"
        "2f19111211277065dd2255833fad80bf824d8307/data"
    ),
    credit=(
        "Flint, Lindberg, Jordan, Miller and Slutzky, J. Neural Eng. 2012 (shared through CRCNS), "
        "as prepared by Burkhart and others"
    ),
)


@door(path=path)
def motor_cortex(path: str | os.PathLike[str] | None = None) -> Recording:
    """Thirteen minutes of a macaque's primary motor cortex (M1), run 1 of Flint and others.

    Spike counts in bins of 100 ms as ten principal components, each of mean zero and variance one,
    and the velocity of the hand in two directions. From `path`, or from `TACIT_DATA`.
    """
    folder = M1_FLINT.folder(path)
    x, z = (np.loadtxt(folder / file, delimiter=",") for file in ("x.csv", "z.csv"))
    return Recording(x, z, 0.1)
