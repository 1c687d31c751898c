"""Parameters of every experiment of many small flows to zero loss (`_flowed.py` runs them)."""

from dataclasses import dataclass

from tacit.experiments._config import Config
from tacit.experiments._parameter import parameter


@dataclass(frozen=True, kw_only=True)
class FlowConfig(Config):
    """When a run has converged and counts, and how far the two solvers go."""

    goal: float = parameter(
        1e-14,
        "loss of a converged run, times the smallest observed |w*|² where that is below one",
        low=0.0,
        high=1.0,
    )
    gate: float = parameter(
        1e-10, "runs with a larger loss do not count", low=0.0, high=1.0, analysis=True
    )
    tolerance: float = parameter(1e-8, "relative tolerance of the flow", low=1e-12, high=1e-2)
    tail_tolerance: float = parameter(
        1e-5, "relative tolerance of the implicit solver", low=1e-12, high=1e-2
    )
    attempts: int = parameter(
        600, "steps of the explicit solver at most; what is slower is stiff", low=1, high=10_000_000
    )
    tail_attempts: int = parameter(
        10_000, "steps of the implicit solver at most", low=1, high=10_000_000
    )
