"""What fig1, fig2 and fig5 share: parameters, variables, and the runs that count."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.experiments._base import OUTCOME
from tacit.experiments._config import Config
from tacit.experiments._errors import UsageError
from tacit.experiments._parameter import parameter
from tacit.store import ITERATE, TIME, Variable

if TYPE_CHECKING:
    import xarray

MODELS = {"linear": "linear RNN", "gru": "GRU", "lstm": "LSTM"}
DATAS = {"plain": "plain data", "adversarial": "adversarial data"}
ITERATES = ("last", "best")
LITERAL = 1.0  # Xavier's own gain
TRAINED = 5_000  # steps after which a GRU or LSTM has settled; quick stops before
SMALL = 0.01  # of the teacher's energy, which is one: below it a student extrapolates


@dataclass(frozen=True, kw_only=True)
class LengthsConfig(Config):
    """Parameters of figures that train at length k; the paper leaves steps and batches open."""

    model: tuple[str, ...] = parameter(
        tuple(MODELS), "the student", choices=tuple(MODELS), swept=True
    )
    data: tuple[str, ...] = parameter(
        tuple(DATAS), "what it is trained on", choices=tuple(DATAS), swept=True
    )
    gain: tuple[float, ...] = parameter(
        (1.0, 0.3), "Xavier's gain: state weights start at gain/√d", low=1e-4, high=4.0, swept=True
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(10)), "seed of teacher, student and data", low=0, swept=True
    )
    width: int = parameter(30, "width d of the linear student", low=2, high=1000)
    gated_width: int = parameter(30, "width d of GRU and LSTM", low=2, high=1000)
    length: int = parameter(5, "training length k", low=2, high=100)
    adversarial_length: int = parameter(
        10, "length up to which adversarial targets go", low=3, high=200
    )
    horizon: int = parameter(15, "longest sequence that is looked at", low=3, high=500)
    radius: float = parameter(0.9, "modulus of the teacher's eigenvalues", low=0.01, high=0.999)
    rate: float = parameter(1e-3, "Adam's learning rate", low=1e-8, high=1.0)
    steps: int = parameter(10_000, "steps of Adam, linear student", low=1, high=10_000_000)
    goal: float = parameter(
        1e-16, "loss at which a linear student has converged", low=0.0, high=1.0
    )
    gated_steps: int = parameter(5_000, "steps of Adam, GRU and LSTM", low=1, high=10_000_000)
    sequences: int = parameter(
        64, "fresh sequences at each step, GRU and LSTM", low=1, high=100_000
    )
    gate: float = parameter(
        0.01,
        "runs with a larger mean squared error at length k do not count",
        low=0.0,
        high=1.0,
        analysis=True,
    )

    def check(self) -> None:
        """There must be lengths to extrapolate to, and steps to lie about."""
        for name in ("adversarial_length", "horizon"):
            if getattr(self, name) <= self.length:
                raise UsageError(
                    f"{name}: received {getattr(self, name)}, it must exceed the length, "
                    f"{self.length}"
                )


def length_variables() -> dict[str, Variable]:
    """The errors at every length of the student, and of two to compare it with."""
    return {
        "outcome": OUTCOME,
        "error": Variable((ITERATE, TIME), "1", "mean squared error of the last output"),
        "forgetful_error": Variable(
            (TIME,), "1", "the error of a response that is right below lag k and zero from it on"
        ),
        "zero_error": Variable((TIME,), "1", "the error of the zero response"),
        "final_loss": Variable((), "1", "training loss at the end, with its ½"),
        "steps_taken": Variable((), "1", "steps of Adam", "int64"),
    }


def counted(dataset: "xarray.Dataset", config: LengthsConfig, *, iterate: str) -> "xarray.Dataset":
    """One iterate, with the errors of runs that did not learn length k left out."""
    chosen = dataset.sel({ITERATE: iterate})
    learned = chosen["error"].sel({TIME: config.length}) <= config.gate
    return chosen.assign(error=chosen["error"].where(learned))
