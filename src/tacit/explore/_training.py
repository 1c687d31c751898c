"""A small live run: linear RNNs follow gradient flow, a piece of time for each answer."""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.draw import Axis, Band, Figure, Line, Panel, VerticalRule
from tacit.explore._lowdim import LAGS, teacher
from tacit.explore._numbers import number
from tacit.explore._section import Answer, Section
from tacit.explore._slider import Slider, powers

SEEDS = 6
WIDEST = 32
LONGEST = 12
TIMES = np.geomspace(0.1, 1e6, 57)  # where the flow is looked at
_RUNS = 8  # runs that are kept
_STEPS = 400  # of the flow in one answer: more would make it slow


@dataclass
class Run:
    """Students on their way: where they are, and their errors at the times behind them.

    `left` is the time that each of them has left until the next of `TIMES`.
    """

    order: int
    length: int
    students: Any
    trained: list[NDArray[np.float64]] = field(default_factory=list)
    later: list[NDArray[np.float64]] = field(default_factory=list)
    left: NDArray[np.float64] = field(default_factory=lambda: np.zeros(SEEDS))
    responses: NDArray[np.float64] = field(default_factory=lambda: np.zeros((SEEDS, LAGS)))

    @classmethod
    def begun(cls, *, order: int, length: int, width: int, scale: float, seed: int) -> "Run":
        """Students at their start, each with its own seed.

        All have the shape of the widest, so that one compiled program serves every width. A unit
        with Bᵢ = 0 adds Bᵢ²λᵢʲ = 0 to the response and has no gradient, neither in Bᵢ nor in λᵢ:
        it stays as it is, as if it were not there.
        """
        import equinox as eqx
        import jax
        import jax.numpy as jnp

        from tacit.models import Diagonal, random_linear_rnns

        keys = jax.vmap(jax.random.key)(np.arange(seed, seed + SEEDS))
        drawn = random_linear_rnns(Diagonal, WIDEST, scale=scale, balanced=True, keys=keys)
        with jax.enable_x64(True):
            there = jnp.asarray(np.arange(WIDEST) < width)[None, :, None]
            students = eqx.tree_at(lambda model: model.B, drawn, drawn.B * there)
        return cls(order, length, students)

    @property
    def ended(self) -> bool:
        """Whether the last time is reached."""
        return len(self.trained) == len(TIMES)

    def advance(self) -> None:
        """Follow the flow to the next time, or some way there, and look at the students.

        The flow does not depend on time itself, so that a run in pieces is one run.
        """
        import jax
        import jax.numpy as jnp

        from tacit.descent import GaussNewton, GradientFlow, Lanes, Stop, descend
        from tacit.models import impulse_responses
        from tacit.problems import PopulationLoss

        done = len(self.trained)
        if not self.left.any():
            self.left[:] = TIMES[done] - (TIMES[done - 1] if done else 0.0)
        seen = (np.arange(LONGEST) < self.length).astype(float)
        with jax.enable_x64(True):
            target = jnp.asarray(teacher(self.order, LONGEST)[:, None, None])
            problem = PopulationLoss(target, jnp.asarray(seen))
        flow = GradientFlow(GaussNewton(), rtol=1e-3, atol=1e-6, until=1.0)
        # Each student has its own time left, as its rate; one that has none left stays.
        stop = Stop(_STEPS)
        result = descend(
            Lanes(self.students), problem, flow, rate=self.left, stop=stop, progress=False
        )
        self.left *= np.where(result.outcome == "stopped", 1 - result.report["time"], 0)
        self.students = result.model.tree
        self.responses = impulse_responses(self.students, LAGS)[:, :, 0, 0]
        if self.left.any():
            return
        errors = np.abs(self.responses - teacher(self.order))
        self.trained.append(errors[:, : self.length].max(1))
        self.later.append(errors[:, self.length :].max(1))


class Runs:
    """The runs that were asked for last. One advances at a time, and only when it is asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[float, ...], Run] = OrderedDict()

    def advanced(self, **values: Any) -> Run:
        """The run with these values, one piece further unless it has ended."""
        with self._lock:
            name = tuple(values.values())
            run = self._kept.pop(name, None) or Run.begun(**values)
            if not run.ended:
                run.advance()
            while not run.trained:  # the first answer has something to show
                run.advance()
            self._kept[name] = run
            while len(self._kept) > _RUNS:
                self._kept.popitem(last=False)
            return run


_runs = Runs()


def answer(*, order: int, length: int, width: int, scale: float, seed: int) -> Answer:
    """The errors so far, and the responses as they are."""
    run = _runs.advanced(order=order, length=length, width=width, scale=scale, seed=seed)
    trained, later = np.array(run.trained), np.array(run.later)
    times = TIMES[: len(trained)]
    marks = []
    for values, name, colour in (
        (later, f"at lags {length} to {LAGS - 1}, never seen", 1),
        (trained, f"at the {length} lags that are seen", 0),
    ):
        shown = np.maximum(values, 1e-12)
        marks += [
            Band(times, shown.min(1), shown.max(1), colour=colour),
            Line(times, np.median(shown, 1), label=name, colour=colour),
        ]
    curves = Panel(
        f"The largest error of {SEEDS} students: median and range",
        Axis("time of gradient flow", scale="log", limits=(TIMES[0], TIMES[-1])),
        Axis("largest error", scale="log", limits=(1e-9, 3)),
        marks,
    )
    lags = np.arange(LAGS)
    responses = Panel(
        "Their responses now",
        Axis("lag j"),
        Axis("response"),
        [
            Band(lags, run.responses.min(0), run.responses.max(0), label="the students", colour=1),
            VerticalRule(length - 0.5, label="k lags are seen"),
            Line(lags, teacher(order), label="the teacher", marker="o"),
        ],
    )
    seen, unseen = np.median(trained[-1]), np.median(later[-1])
    words = (
        f"At time {number(times[-1])} the students are {number(seen, 2)} off at the lags that they "
        f"see, and {number(unseen, 2)} at those that they do not. The teacher has order {order}: "
        f"with k > 2d̂ = {2 * order} lags a small start finds it."
    )
    call = (
        "tacit.descend(students, PopulationLoss.of(teacher, "
        f"{length}), GradientFlow(GaussNewton(), until={times[-1]:.3g}), stop=Stop(1000))"
    )
    return Answer(words, call, Figure("", [curves, responses]), more=not run.ended)


TRAINING = Section(
    "training",
    "Train a linear RNN",
    f"{SEEDS} students learn the first k lags of a teacher's impulse response by gradient flow, "
    "now, on this computer. Do they also get the later lags right?",
    (
        Slider("length", "training length k", tuple(range(1, LONGEST + 1)), 7),
        Slider("width", "width of the students", tuple(range(1, WIDEST + 1)), 20),
        Slider(
            "scale", "scale of their start", (*powers(1e-3, 0.1, 21), 0.15, 0.2, 0.25, 0.3), 0.1
        ),
        Slider("order", "order d̂ of the teacher", (1, 2, 3, 4), 3),
        Slider("seed", "first seed", tuple(range(51)), 0),
    ),
    answer,
    waiting="JAX compiles the program, which takes some seconds the first time.",
)
