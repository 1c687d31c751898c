"""A polished model at each order, and which order to take."""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from tacit._progress_bar import Bar, silent_bar
from tacit.estimators._block_model import BlockModel, from_matrices, simulate
from tacit.estimators._noise import coloured_criterion, effective_samples, noise_floor
from tacit.estimators._normal_equations import linear_fit
from tacit.estimators._polish import RADIUS, Polished, loss_of, polish
from tacit.estimators._records import Records
from tacit.estimators._system_starts import (
    Matrices,
    arx_system,
    hankel_values,
    observer_lags,
    observer_response,
    realised,
    stabilised,
    subspace_system,
    truncated,
)

Floats = np.ndarray
Start = Callable[[int], Matrices]
_LOOK, _STEPS, _FEWER = 8, 60, 20  # steps of every start, of the best and of the second after that
_ENOUGH, _LAST = 5000, 10  # numbers that most steps see, and the steps that see all
_POLES = (0.99, 0.9, 0.5, -0.5, -0.9)  # a new one begins at the best of these
_EVIDENCE = 6.0  # a difference of the criterion that is worth a word (Kass and Raftery, 1995)


@dataclass(frozen=True)
class Candidate:
    """The best model found at one order, and what the criterion says of it."""

    order: int
    model: BlockModel
    loss: float
    start: str
    hankel: Floats
    criterion: float = np.inf

    @property
    def label(self) -> str:
        """What tells it apart from the others."""
        return f"order {self.order}"


@dataclass(frozen=True)
class OrderChoice:
    """The chosen candidate among all, orders that are nearly as likely, and the noise floor.

    `floor` is in the units of the Hankel values: one below it cannot be told from noise.
    """

    chosen: Candidate
    tried: tuple[Candidate, ...]
    interval: tuple[int, int]
    floor: float
    effective: float  # samples that the errors are worth, which are fewer if they are coloured
    ahead: dict[str, float] = field(default_factory=dict)  # errors in gaps, by label
    instead_of: str = ""  # the label that had to give way, where one simulates better ahead

    @property
    def identifiable(self) -> bool:
        """Whether the smallest Hankel value stands above the noise floor."""
        return not self.chosen.order or bool(self.chosen.hankel[-1] > self.floor)


def as_blocks(system: Matrices, records: Records) -> BlockModel:
    """A system's poles and output map, mirrored into the circle, with the rest by least squares."""
    stable = stabilised(system)
    drives = records.driven[0].shape[1]
    outputs = records.outputs[0].shape[1]
    form = from_matrices(
        stable.A,
        np.zeros((len(stable.A), drives)),
        stable.C,
        np.zeros((outputs, records.inputs + 1)),
    )
    return linear_fit(form, records)


def as_matrices(model: BlockModel, inputs: int) -> Matrices:
    """The system of a model, without initial states and offset."""
    return Matrices(model.A, model.B[:, :inputs], model.C, model.D[:, :-1])


def starts_of(
    records: Records, wide: Callable[[], Matrices] | None, response: Floats | None
) -> dict[str, Start]:
    """What to polish from, by name: each gives a system of any order or fails.

    What takes time is done when it is first asked for.
    """

    @cache
    def observed() -> Floats:
        if response is not None:
            return response
        lags = observer_lags(records)
        return observer_response(records, lags, 2 * max(lags, 20))

    found: dict[str, Start] = {}
    if wide is not None:
        descend = wide
        network = cache(lambda: stabilised(descend()))
        found["gradient"] = lambda order: truncated(network(), order)
    found["ARX"] = lambda order: arx_system(records, order)
    found["OKID"] = lambda order: realised(observed(), order)
    found["subspace"] = lambda order: subspace_system(records, order)
    return found


def static(records: Records) -> BlockModel:
    """The model without states: a gain and an offset."""
    outputs, drives = records.outputs[0].shape[1], records.driven[0].shape[1]
    blank = BlockModel(
        (),
        np.zeros((0, drives)),
        np.zeros((outputs, 0)),
        np.zeros((outputs, records.inputs + 1)),
    )
    return linear_fit(blank, records)


def extended(model: BlockModel, records: Records) -> BlockModel:
    """The model with one pole more, the best of a few: its loss is no larger than before."""
    errors = np.concatenate(errors_of(model, records))
    direction = np.linalg.svd(errors, full_matrices=False)[2][0]
    found = []
    for pole in _POLES:
        A = np.pad(model.A, ((0, 1), (0, 1)))
        A[-1, -1] = pole
        C = np.concatenate([model.C, direction[:, None]], axis=1)
        form = from_matrices(A, np.pad(model.B, ((0, 1), (0, 0))), C, model.D)
        found.append(linear_fit(form, records))
    return min(found, key=lambda one: loss_of(one, records))


def candidates(
    records: Records,
    orders: Sequence[int],
    starts: dict[str, Start],
    tell: Bar = silent_bar,
    only: dict[int, str] | None = None,
) -> list[Candidate]:
    """The best model at each order; each order also starts from the one before it.

    `only` names the start to take at each order, which saves time.
    """
    found: list[Candidate] = []
    costs = np.cumsum([0, *(1 + order for order in orders)])
    for place, order in enumerate(orders):
        tell(float(costs[place] / costs[-1]), f"order {order}")
        given = []
        if found and found[-1].order == order - 1:
            with contextlib.suppress(np.linalg.LinAlgError, ValueError):
                given = [extended(found[-1].model, records)]
        some = starts
        if only is not None:
            some = {name: start for name, start in starts.items() if name == only.get(order)}
        one = candidate(order, records, some, given)
        if one is not None:
            found.append(one)
    return found


def candidate(
    order: int, records: Records, starts: dict[str, Start], given: Iterable[BlockModel] = ()
) -> Candidate | None:
    """All starts polished a little, the two best to the end."""
    if order == 0:
        model = static(records)
        return Candidate(0, model, loss_of(model, records), "none", np.zeros(0))
    begun = [("the order before", model) for model in given if model.is_stable(RADIUS)]
    for name, start in starts.items():
        with contextlib.suppress(np.linalg.LinAlgError, ValueError):
            model = as_blocks(start(order), records)
            if model.order == order and model.is_stable(RADIUS):
                begun.append((name, model))
    best = _polished(begun, records)
    if best is None:
        return None
    hankel = hankel_values(as_matrices(best.model, records.inputs))
    return Candidate(order, best.model, best.loss, best.start, hankel)


def _polished(begun: list[tuple[str, BlockModel]], records: Records) -> Polished | None:
    """Every start polished a little, the best to the end, the second with fewer steps.

    Of long records a part is enough for that; the last steps see all of it.
    """
    part = records.last(_ENOUGH)
    if part is not records:
        begun = [(name, linear_fit(model, part)) for name, model in begun]
    looked = [polish(model, part, steps=_LOOK, name=name) for name, model in begun]
    looked = sorted((one for one in looked if np.isfinite(one.loss)), key=lambda one: one.loss)
    ended = [
        polish(one.model, part, steps=steps, name=one.start)
        for one, steps in zip(looked, (_STEPS, _FEWER), strict=False)
    ]
    if not ended:
        return None
    best = min(ended, key=lambda one: one.loss)
    if part is not records:
        return polish(linear_fit(best.model, records), records, steps=_LAST, name=best.start)
    if best is not ended[0]:
        best = polish(best.model, records, steps=_STEPS - _FEWER, name=best.start)
    return best


def judged(records: Records, tried: Sequence[Candidate]) -> list[Candidate]:
    """Each with −2 log likelihood + k log N: BIC of coloured errors, k counting the system only."""
    outputs = records.outputs[0].shape[1]
    price = np.log(max(records.samples, 2))
    found = []
    for one in tried:
        # An order more is a column of C and a row of B, initial states among it.
        count = one.order * (records.drives + outputs) + outputs * records.inputs
        value = coloured_criterion(errors_of(one.model, records), records.resting)
        value += count * price
        found.append(replace(one, criterion=float(value)))
    return found


def choose_order(records: Records, tried: list[Candidate], *, seed: int) -> OrderChoice:
    """The least criterion, and the noise floor that belongs to it."""
    all_orders = judged(records, tried)
    best = min(all_orders, key=lambda one: one.criterion)
    errors = errors_of(best.model, records)
    near = [one.order for one in all_orders if one.criterion <= best.criterion + _EVIDENCE]
    return OrderChoice(
        chosen=best,
        tried=tuple(all_orders),
        interval=(min(near), max(near)),
        floor=noise_floor(records, errors, seed=seed),
        effective=effective_samples(errors),
    )


def errors_of(model: BlockModel, records: Records) -> list[Floats]:
    """Measured minus simulated, for each record."""
    simulated = simulate(model, records)
    return [y - one for y, one in zip(records.outputs, simulated, strict=True)]
