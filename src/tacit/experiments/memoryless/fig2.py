"""memoryless, Figure 2: the same as Figure 1 with a teacher of order 3.

The comparison: as in fig1; and the error of a response that is right below lag k and zero from it
on, drawn beside those of students.
"""

import numpy as np

from tacit.experiments import Batch, fixed
from tacit.experiments.memoryless.error_curves import ErrorCurvesExperiment
from tacit.experiments.memoryless.lengths import LITERAL


class Fig2(ErrorCurvesExperiment):
    """Error against sequence length, teacher of order 3, plain and adversarial data."""

    id, figure = "memoryless/fig2", "Figure 2"

    order: int = fixed(3, "order of the teacher", low=1, high=20)

    presets = {
        "smoke": dict(model=("linear", "lstm"), seed=range(2), width=8, gated_width=4, steps=100,
                      gated_steps=20, sequences=10, gate=1.0),
        "quick": dict(seed=range(24), steps=5_000, gated_steps=1_500, sequences=32),
        "paper": dict(adversarial_length=15),
    }  # fmt: skip
    title = "A teacher of order 3: what is learned at length 5 says little about later lags"
    has_memory = True

    def orders(self, batch: Batch) -> np.ndarray:
        return np.full(len(batch), self.order)

    def teachers(self) -> str:
        return (
            f"Linear teacher of order {self.order}, eigenvalues of modulus {self.radius:g}, energy "
            "one"
        )

    def surprise(self, kind: str, model: str, gain: float) -> str:
        """Five lags do not tell a response of order 3."""
        return UNIDENTIFIABLE if kind == "flat" else ""

    def remark(self, kind: str, model: str, gain: float) -> str:
        """The literal start rings on as in fig1, whatever the data."""
        rings = (kind, model) == ("adversary is worse", "linear") and gain >= LITERAL
        return RINGS_TOO if rings else ""


UNIDENTIFIABLE = (
    "identifiability: a response of order 3 has six free numbers and k = 5 lags are seen, so that "
    "many systems of order 3 agree with them; what a student adds beyond them is as often wrong "
    "as right. Teachers that fade fast (radius 0.5 or less) hide it: there is nothing to remember"
)
RINGS_TOO = (
    "near the bound: from gain 1 plain training rings on as well (see fig1), and which of the two "
    "errors is larger is little more than chance"
)
