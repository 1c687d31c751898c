"""Measured inputs and outputs of four systems out of DaISy, to identify them by."""

import gzip
import os
import zlib
from typing import NamedTuple

import numpy as np

from tacit._doors import door, path, text
from tacit._errors import nearest
from tacit.data._source import DataMissingError, Source


class MeasuredSystem(NamedTuple):
    """A record (time, inputs) and (time, outputs), what its columns are, and seconds a sample."""

    inputs: np.ndarray
    outputs: np.ndarray
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    step: float


class _Columns(NamedTuple):
    inputs: dict[int, str]
    outputs: dict[int, str]
    step: float


_SYSTEMS = {
    "CD_player_arm": _Columns(
        {0: "actuator 1", 1: "actuator 2"}, {2: "tracking 1", 3: "tracking 2"}, 1.0
    ),
    "ballbeam": _Columns({0: "angle of the beam"}, {1: "position of the ball"}, 0.1),
    "dryer": _Columns({0: "power of the heater"}, {1: "temperature of the air"}, 0.08),
    "exchanger": _Columns({1: "flow of the liquid"}, {2: "temperature of the liquid"}, 1.0),
}


def _unpacked(content: bytes) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise DataMissingError(
            f"what is at DaISy's address is not packed by gzip: {error}"
        ) from None


DAISY = Source(
    name="daisy",
    files={
        "CD_player_arm.dat": "a2ef4bf51c3102487a0690c7a68d97f3b1966cd07319580011a97fc0af904eaa",
        "ballbeam.dat": "e9c48a4f7474953969d4950b4ef72558084b1995f776792ac0cbc80550e6ff42",
        "dryer.dat": "adcb2f5a1d9e174d08dd49f7f037626745b5e69cbda0bc1e8dca2a7c687d4538",
        "exchanger.dat": "cfb5a447fb573f87de33760e156cbf5da1f9802ae8a03a1b3c39ce8eb656fa6c",
    },
    address="https://ftp.esat.kuleuven.be/pub/SISTA/data",
    credit=(
        "De Moor (ed.), DaISy: Database for the Identification of Systems, ESAT/STADIUS, KU Leuven "
        "(https://homes.esat.kuleuven.be/~smc/daisy)"
    ),
    remote={
        "CD_player_arm.dat": "mechanical/CD_player_arm.dat.gz",
        "ballbeam.dat": "mechanical/ballbeam.dat.gz",
        "dryer.dat": "mechanical/dryer.dat.gz",
        "exchanger.dat": "process_industry/exchanger.dat.gz",
    },
    convert=_unpacked,
)
"""A public database that asks to be cited."""


@door(name=text, path=path)
def daisy(name: str, path: str | os.PathLike[str] | None = None) -> MeasuredSystem:
    """A measured system by its name: CD_player_arm, ballbeam, dryer or exchanger.

    From `path`, from `TACIT_DATA`, or fetched before by `tacit data fetch daisy`. The sampling time
    of the CD player's arm is not known, and is taken as 1.
    """
    if name not in _SYSTEMS:
        raise ValueError(f"name: received {name!r}, {nearest(name, _SYSTEMS)}")
    table = np.loadtxt(DAISY.folder(path) / f"{name}.dat")
    inputs, outputs, step = _SYSTEMS[name]
    return MeasuredSystem(
        table[:, list(inputs)],
        table[:, list(outputs)],
        tuple(inputs.values()),
        tuple(outputs.values()),
        step,
    )
