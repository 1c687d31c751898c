"""What kernel/fig4 and kernel/table1 share: parameters, variables, the paper's numbers."""

from dataclasses import dataclass
from typing import Any

from tacit.experiments._base import OUTCOME
from tacit.experiments._config import Config
from tacit.experiments._errors import UsageError
from tacit.experiments._parameter import parameter
from tacit.store import DIRECTION, MODEL, STEP, Variable

MODELS = {"rnn": "linear RNN", "scaled": "scaled convolution", "plain": "plain convolution"}
DIRECTIONS = ("x", "y")
PORTIONS = {
    "whole": "all training data (10.4 min)",
    "minutes": "4.5 minutes",
    "share": "the paper's share, 9% (1.2 min)",
}
PAPER = {  # Table 1: portion → model → R² in x and y
    "whole": {"rnn": (0.6462, 0.5911), "scaled": (0.6442, 0.5860), "plain": (0.6565, 0.6027)},
    "limited": {"rnn": (0.6043, 0.4257), "scaled": (0.6046, 0.4234), "plain": (0.5856, 0.3918)},
}
TRAINING_SHARE = 0.8  # the first part of the recording; the rest is for tests
MINUTES = 4.5
PAPER_SHARE = 0.09  # 4.5 of 51 minutes
NOTE = (
    "13 minutes of motor cortex (M1), not the paper's 51 minutes of somatosensory cortex (S1), "
    "which cannot be had; the first 80% are for training, the rest for tests."
)


@dataclass(frozen=True, kw_only=True)
class DecodingConfig(Config):
    """Parameters of kernel/fig4 and kernel/table1; the defaults are the paper's where it says."""

    portion: tuple[str, ...] = parameter(
        tuple(PORTIONS), "how much of the data is for training", choices=tuple(PORTIONS), swept=True
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(6)), "seed of the start and of the batches", low=0, swept=True
    )
    width: int = parameter(1000, "hidden units n of the RNN", low=2, high=10_000)
    steps: tuple[int, ...] = parameter(
        (0, 3, 10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500, 650, 800, 1000),
        "gradient steps at which the models are looked at",
        low=0,
        high=10**7,
    )
    length: int = parameter(15, "time steps T of a sequence", low=1, high=200, units="bins")
    batch: int = parameter(128, "sequences a step", low=1, high=100_000)
    nu_w: float = parameter(0.3, "variance ν_W of the RNN", low=0.0, high=1.0)
    rate: float = parameter(
        1e-4, "learning rate on half the squared error summed over a batch", low=1e-12, high=10.0
    )

    def check(self) -> None:
        """Steps must increase from the start."""
        pairs = zip(self.steps, self.steps[1:], strict=False)
        if self.steps[0] != 0 or any(a >= b for a, b in pairs):
            raise UsageError(f"steps: received {list(self.steps)}, they must increase from 0")


def variables() -> dict[str, Variable]:
    """What the cells store."""
    return {
        "outcome": OUTCOME,
        "r2": Variable((MODEL, STEP, DIRECTION), "1", "R² on the test sequences"),
        "train_r2": Variable((MODEL, STEP, DIRECTION), "1", "R² on the training sequences"),
        "train_sequences": Variable((), "1", "training sequences", "int64"),
    }


def coordinates(config: DecodingConfig) -> dict[str, Any]:
    """Models, steps and directions."""
    return {MODEL: tuple(MODELS), STEP: config.steps, DIRECTION: DIRECTIONS}
