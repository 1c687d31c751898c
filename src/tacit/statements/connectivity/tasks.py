"""Section S2: the noise of the Mante task, step by step."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements._shared_systems import white_sequences


def _noise(rng: np.random.Generator) -> dict[str, Any]:
    steps = int(rng.integers(2, 30))
    return {
        "n": white_sequences(rng, steps, 1)[:, :, 0],
        "dt": 10 ** rng.uniform(-2, 0),
        "rate": 0.05 / int(rng.integers(64, 1025)),  # of the paper's simulations
    }


@statement(
    "connectivity/noise",
    place="section S2, the noise of the Mante task",
    words="white noise in steps of Δt has the values n/√Δt: its integral over a time T has the "
    "variance T, however finely time is cut",
    draw=_noise,
    tolerance=1e-12,
    mutations=[{"power": 0.45}],
    errata=[
        Erratum(
            as_printed="the noise at time step k is n/√η",
            as_corrected="n/√Δt, as in the public code; η is the noise itself, and elsewhere the "
            "learning rate, with which the printed form is computed here",
            constants={"by_rate": True},
            gravity="misprint",
            glyph="the letter under the root",
        )
    ],
)
def noise(n: Array, dt: float, rate: float, *, by_rate: bool = False, power: float = 0.5) -> float:
    """The mean over equally likely sequences of white n."""
    values = n / (rate if by_rate else dt) ** power
    variance = np.mean((dt * np.sum(values, axis=1)) ** 2)
    return residual(variance, dt * n.shape[1])
