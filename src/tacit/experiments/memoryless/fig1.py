"""memoryless, Figure 1: does a student of a memoryless teacher stay right beyond its length?

The comparison: mean squared error for lengths 1 … 15 after training at length 5, plain against
adversarial data, for a linear RNN, a GRU and an LSTM of width 30; from Xavier's start (the text's;
state weights of standard deviation 1/√d), from that of Keras's layers, whose Adam the text names
(orthogonal state weights, forget bias one), and from a smaller one (gain 0.3, ours).
"""

from typing import Any

from tacit.experiments import Finding
from tacit.experiments.memoryless.error_curves import ErrorCurvesExperiment
from tacit.experiments.memoryless.lengths import RINGING


class Fig1(ErrorCurvesExperiment):
    """Error against sequence length, memoryless teacher, plain and adversarial data."""

    id, figure = "memoryless/fig1", "Figure 1"
    finding = Finding(
        "As the paper says, students with gates stay right beyond their length from Xavier's "
        "start: a GRU's mean squared error there is {gru|holds}, where the zero response has "
        "about one.",
        "An LSTM's error beyond its length is {lstm|holds}.",
        "A linear student from Xavier's start does not stay right, since its state rings on "
        "({linear|fails}); from a smaller one it does ({small|holds}).",
        "Adversarial data fit as well and lead to a larger error beyond: {worse|holds} times "
        "(GRU).",
        gru="GRU, xavier: flat",
        lstm="LSTM, xavier: flat",
        linear="linear RNN, xavier: flat",
        small="linear RNN, small: flat",
        worse="GRU, xavier: adversary is worse",
    )
    presets = {
        "smoke": dict(model=("linear", "gru"), seed=range(2), width=8, gated_width=4, steps=100,
                      gated_steps=20, sequences=10, gate=1.0),
        "quick": dict(seed=range(14), steps=5_000, gated_steps=1_500, sequences=32),
        "paper": dict(start=("xavier", "keras", "small"), adversarial_length=15),
    }  # fmt: skip
    title = "A memoryless teacher: gated students extrapolate, linear ones from a small start"

    def teachers(self) -> str:
        return "Memoryless teacher, w* = 1"

    def surprise(self, kind: str, model: str, start: str, **teacher: Any) -> str:
        """The literal start of a linear student rings on."""
        rings = kind == "flat" and model == "linear" and self.rings(start)
        return RINGING if rings else ""

    def remark(self, kind: str, model: str, start: str) -> str:
        """Quick stops while gated students still learn."""
        return STILL_LEARNS if kind == "flat" and not self.settled(model) else ""


STILL_LEARNS = (
    "near the bound: so early the error beyond k is still falling, and at `paper` it is well below"
)
