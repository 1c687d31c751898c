"""In which regime a recurrence is, or will be, trained: the kernel's, the rich one, or between."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import numpy as np

from tacit._doors import door, instance
from tacit._types import x64_for
from tacit.estimators._one_thread import one_thread
from tacit.measures import hankel, kernel_rotation, numerical_rank
from tacit.models import DiagonalSSM
from tacit.problems import (
    CentredResponse,
    LazyPrediction,
    PopulationLoss,
    RatedResponse,
    lazy_prediction,
)

LAZY, RICH = 0.1, 1.0  # of the kernel's predicted change
STILL, TURNED = 0.05, 0.2  # of its rotation since the start
TOLERANCE = 0.01  # Hankel singular values above this part of the largest are counted
_EQUAL = {"A": 1.0, "B": 1.0, "C": 1.0}
_KNOBS = {
    "C": "C ten times smaller at the start",
    "A": "the rate of A ten times larger",
    "width": "half as many modes",
    "k": "training lags half as many again",
}


@dataclass(frozen=True)
class Regime:
    """A point on the map of kernel and rich regimes, and what to expect there.

    - `length`: k, the trained lags. `kappa_start`, `kappa`: κ at the start and now, the move that
      the fit still asks for relative to the parameters.
    - `change`: by how much the kernel would change over the fit, predicted at the start.
    - `rotation`: 1 − cosine between the kernels of the start and now; 0 for a model at its start.
    - `rank`: the Hankel rank of the model's response now.
    - `train_error`: relative error on the trained lags now.
    - `beyond`: relative error beyond k that the start's kernel predicts; NaN if the problem has no
      lags there.
    - `corner`: "kernel", "between" or "rich".
    - `knobs`: the predicted change with one thing altered, by its name in words.
    - `expect`: one sentence.
    """

    length: int
    kappa_start: float
    kappa: float
    change: float
    rotation: float
    rank: int
    train_error: float
    beyond: float = field(metadata={"nan": True})
    corner: str
    knobs: Mapping[str, float]
    expect: str

    def __str__(self) -> str:
        lines = [
            f"{self.corner} regime at k = {self.length}",
            f"  κ {self.kappa_start:.3g} at the start, {self.kappa:.3g} now",
            f"  kernel: predicted change {self.change:.3g}, rotation so far {self.rotation:.3g}",
            f"  Hankel rank {self.rank}, train error {self.train_error:.3g}",
            *(f"  {name}: predicted change {value:.3g}" for name, value in self.knobs.items()),
            self.expect,
        ]
        return "\n".join(lines)


@door(problem=instance(PopulationLoss, RatedResponse, CentredResponse))
@one_thread
def regime(
    model: Any,
    problem: Any,
    *,
    rates: Mapping[str, float] = _EQUAL,
    start: Any = None,
) -> Regime:
    """Where a linear recurrence stands on the map, and what to expect beyond its training length.

    ```python
    layer = DiagonalSSM.random(LRURing(0.4, 0.999), 16, key=jax.random.key(0))
    problem = PopulationLoss.of(teacher, 12, longest=36)
    print(tacit.regime(layer, problem, rates={"A": 0.1, "B": 1, "C": 1}))
    ```

    A model at its start is judged by the predicted change of its kernel (kernel up to 0.1, rich
    from 1 on), a trained one by how far its kernel has turned since the start (up to 0.05, from 0.2
    on). With A frozen it is the kernel's regime: the modes stay those of the start. The numbers are
    of gradient flow; under Adam they are an estimate.

    **Arguments:**

    - `model`: a `DiagonalSSM`, `LinearRNN` or `ScaledLinearRNN`, as it is now.
    - `problem`: what it is trained on, `PopulationLoss`, `RatedResponse` or `CentredResponse`.
      Lags after the trained ones, if it has them, tell what the kernel would make of them.
    - `rates`: the learning rates of A, B and C; only their ratios matter.
    - `start`: the model before training; `model` itself if it has not been trained.
    """
    begun = model if start is None else start
    if type(begun) is not type(model):
        raise ValueError(
            f"start: received {type(start).__name__}, it must be a {type(model).__name__}, as "
            "model is"
        )
    target, mask, centred = _target(problem)
    given: dict[str, Any] = {"rates": rates, "centred": centred}
    length = int(mask.sum())
    first = lazy_prediction(begun, target, length=length, **given)
    shapes, earlier = ([x.shape for x in jax.tree.leaves(m)] for m in (model, begun))
    if shapes != earlier:
        raise ValueError(
            f"start: received arrays of the shapes {earlier}, they must be those of model, "
            f"{shapes}: it is that model, earlier"
        )
    now = first if start is None else _now(model, begun, target, length, given)
    learned = _response(model, len(target)) - centred * _response(begun, len(target))
    rotation = 0.0 if start is None else kernel_rotation(first.kernel, now.kernel)
    change = float(first.change)
    size = np.linalg.norm(target[:length])
    train_error = float(np.linalg.norm((learned - target)[:length]) / size) if size else 0.0
    rank = 0
    if np.any(learned):
        rank = int(numerical_rank(hankel(learned), tolerance=TOLERANCE))
    trained = start is not None
    low, high, measured = (STILL, TURNED, rotation) if trained else (LAZY, RICH, change)
    corner = "kernel" if measured <= low else "rich" if measured >= high else "between"
    if rates["A"] == 0:  # whatever B and C do, the modes are those of the start
        corner = "kernel"
    beyond = _beyond(np.asarray(first.response), target, length)
    knobs = {} if trained else _knobs(begun, target, length, given)
    return Regime(
        length=length,
        kappa_start=float(first.kappa),
        kappa=float(now.kappa),
        change=change,
        rotation=float(rotation),
        rank=rank,
        train_error=train_error,
        beyond=beyond,
        corner=corner,
        knobs=knobs,
        expect=_sentence(corner, length, rank, beyond, change, knobs, trained),
    )


def _target(problem: Any) -> tuple[np.ndarray, np.ndarray, bool]:
    """The response to learn, (lags, outputs, inputs), the trained lags, and whether it is centred.

    A centred output is divided by γ: what the model's own response has to gain is γ L*.
    """
    target, mask = np.asarray(problem.target, np.float64), np.asarray(problem.mask) > 0
    if isinstance(problem, CentredResponse):
        return float(problem.gamma) * target[:, None, None], mask, True
    if np.any(mask[1:] > mask[:-1]) or not mask.any():
        raise ValueError(
            f"problem: received the mask {mask.astype(int)}, it must train on its first lags, one "
            "or more, without a gap"
        )
    return target, mask, False


def _now(model: Any, begun: Any, target: Any, length: int, given: dict[str, Any]) -> LazyPrediction:
    """The prediction from where the model is; what is centred stays centred at the start."""
    if not given["centred"]:
        return lazy_prediction(model, target, length=length, **given)
    wanted = target + _response(begun, len(target))
    return lazy_prediction(model, wanted, length=length, rates=given["rates"])


def _response(model: Any, lags: int) -> np.ndarray:
    with x64_for(model):
        return np.asarray(model.impulse_response(lags), np.float64)


def _beyond(found: np.ndarray, target: np.ndarray, length: int) -> float:
    """NaN means that there are no lags, and nothing else."""
    size = np.linalg.norm(target[length:])
    if size == 0:
        return float("nan")
    error = float(np.linalg.norm((found - target)[length:]) / size)
    return float("inf") if np.isnan(error) else error


def _knobs(model: Any, target: Any, length: int, given: dict[str, Any]) -> dict[str, float]:
    """The predicted change of the kernel with one thing altered at a time."""
    found = {}
    rates = dict(given["rates"])
    if getattr(model, "C", None) is not None:
        with x64_for(model):
            smaller = eqx.tree_at(lambda m: m.C, model, model.C / 10)
        found["C"] = lazy_prediction(smaller, target, length=length, **given)
    if rates["A"] > 0:
        faster = {**given, "rates": {**rates, "A": 10 * rates["A"]}}
        found["A"] = lazy_prediction(model, target, length=length, **faster)
    if isinstance(model, DiagonalSSM) and model.modes > 1:
        half = jax.tree.map(
            lambda leaf: leaf[::2] if leaf.shape[0] == model.modes else leaf, model.spectrum
        )
        narrow = DiagonalSSM(half, model.B[:, ::2], model.C[:, :, ::2])
        found["width"] = lazy_prediction(narrow, target, length=length, **given)
    longer = length + (length + 1) // 2
    if longer <= len(target):
        found["k"] = lazy_prediction(model, target, length=longer, **given)
    return {_KNOBS[name]: float(value.change) for name, value in found.items()}


def _sentence(
    corner: str,
    length: int,
    rank: int,
    beyond: float,
    change: float,
    knobs: Mapping[str, float],
    trained: bool,
) -> str:
    """What to expect beyond k, and which knob moves it."""
    known = "" if np.isnan(beyond) else f" (predicted error {beyond:.2g}; zero's is 1)"
    best = max(knobs, key=lambda name: knobs[name], default="")
    better = best and knobs[best] > 1.2 * change
    move = f" What moves it most is {best}." if better else ""
    if corner == "kernel":
        fate = "continued" if trained else "will continue"
        move = move or " Train A, and start C smaller." * (not trained)
        return (
            f"Beyond k = {length} the modes of the start {fate}, not those of the target{known}:"
            f" do not expect extrapolation.{move}"
        )
    if corner == "rich":
        order = f"its Hankel rank is {rank}" if trained else "its order is not known yet"
        return (
            f"The kernel {'turned' if trained else 'will turn'}: expect a system of low order that "
            f"goes on beyond k = {length} if k is above twice that order ({order})."
        )
    return (
        f"Between the regimes: beyond k = {length} expect a part of the target and a part of the "
        f"start{known}.{move}"
    )
