"""memoryless, Figure 2: the same as Figure 1 with a teacher of order 3.

The comparison: as in fig1; and the error of a response that is right below lag k and zero from it
on, which a student must beat before it can be said to remember.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from tacit.experiments._parameter import parameter
from tacit.experiments.memoryless import fig1
from tacit.experiments.memoryless._by_length import ByLength
from tacit.experiments.memoryless._lengths import LITERAL, LengthsConfig
from tacit.experiments.memoryless.fig1 import RINGING


@dataclass(frozen=True, kw_only=True)
class Fig2Config(LengthsConfig):
    """Parameters of memoryless/fig2: those of fig1 and the teacher's order."""

    order: int = parameter(3, "order of the teacher", low=1, high=20)


def _same(config: LengthsConfig) -> Fig2Config:
    values = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    return Fig2Config(**values)


class Fig2(ByLength):
    """Error against length for a teacher with memory."""

    id = "memoryless/fig2"
    paper = "memoryless"
    figure = "Figure 2"
    summary = "error against sequence length, teacher of order 3, plain and adversarial data"
    Config = Fig2Config
    presets: ClassVar[Mapping[str, Fig2Config]] = {
        "smoke": dataclasses.replace(_same(fig1.SMOKE), model=("linear", "lstm")),
        "quick": _same(fig1.QUICK),
        "paper": _same(fig1.PAPER),
    }
    title = "A teacher of order 3: what is learned at length 5 says little about later lags"
    place = "Figure 2"

    def order(self, config: Fig2Config) -> int:
        """The teacher's order."""
        return config.order

    def surprise(self, kind: str, model: str, gain: float, config: LengthsConfig) -> str:
        """Five lags do not tell a response of order 3; the literal start rings on as in fig1."""
        if kind == "flat":
            return UNIDENTIFIABLE
        if model == "linear":
            return RINGING if gain >= LITERAL and kind != "adversary fits" else ""
        return UNIDENTIFIABLE if kind == "remembers" else ""


UNIDENTIFIABLE = (
    "identifiability: a response of order 3 has six free numbers and k = 5 lags are seen, so that "
    "many systems of order 3 agree with them; what a student adds beyond them is as often wrong "
    "as right. Teachers that fade fast (radius 0.5 or less) hide it: there is nothing to remember"
)
