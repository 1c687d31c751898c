"""memoryless, Figure 2: the same as Figure 1 with a teacher of order 3.

The comparison: as in fig1; and the error of a response that is right below lag k and zero from it
on, which a student must beat before it can be said to remember.
"""

import numpy as np

from tacit.experiments import Batch, fixed
from tacit.experiments.memoryless.error_curves import ErrorCurvesExperiment
from tacit.experiments.memoryless.lengths import LITERAL, RINGING, TRAINED


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
    remembers = True

    def orders(self, batch: Batch) -> np.ndarray:
        return np.full(len(batch), self.order)

    def teachers(self) -> str:
        return (
            f"Linear teacher of order {self.order}, eigenvalues of modulus {self.radius:g}, energy "
            "one"
        )

    def surprise(self, kind: str, model: str, gain: float) -> str:
        """Five lags do not tell a response of order 3; the literal start rings on as in fig1."""
        if kind == "flat":
            return UNIDENTIFIABLE
        if model == "linear":
            return RINGING if gain >= LITERAL and kind != "adversary fits" else ""
        return UNIDENTIFIABLE if kind == "remembers" else ""

    def remark(self, kind: str, model: str, gain: float) -> str:
        if model == "linear":
            return HALF if kind == "remembers" else ""
        return UNDERTRAINED if kind == "adversary fits" and self.gated_steps < TRAINED else ""


UNIDENTIFIABLE = (
    "identifiability: a response of order 3 has six free numbers and k = 5 lags are seen, so that "
    "many systems of order 3 agree with them; what a student adds beyond them is as often wrong "
    "as right. Teachers that fade fast (radius 0.5 or less) hide it: there is nothing to remember"
)
HALF = (
    "near the bound: teachers differ, and 129 of the first 200 seeds satisfy it; a hundred seeds "
    "would decide"
)
UNDERTRAINED = (
    "training: after quick's 1,500 steps about half of the students from gain 0.3 are still on the "
    "plateau before the lags that adversarial data add; after paper's 5,000 they have left it"
)
