"""A polished model at each order, and which order to take."""

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from tacit.estimators._block_model import BlockModel, from_matrices, simulate
from tacit.estimators._noise import effective_samples, noise_floor
from tacit.estimators._polish import RADIUS, Polished, linear_fit, loss_of, polish
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
_LOOK, _STEPS = 8, 60  # steps of every start, and of the two best after that
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


@dataclass(frozen=True)
class OrderChoice:
    """The chosen candidate among all, orders that are nearly as likely, and the noise floor.

    `floor` is in the units of the Hankel values: one below it cannot be told from noise.
    """

    chosen: Candidate
    tried: tuple[Candidate, ...]
    interval: tuple[int, int]
    floor: float
    effective: float
    best: int  # the order that the criterion alone would take
    ahead: dict[int, float] = field(default_factory=dict)  # errors of each order on the last third

    @property
    def identifiable(self) -> bool:
        """Whether the criterion saw no state beyond the chosen order, hidden in the noise."""
        return self.best <= self.chosen.order


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


def starts_of(records: Records, wide: Matrices | None, response: Floats | None) -> dict[str, Start]:
    """What to polish from, by name: each gives a system of any order or fails."""
    found: dict[str, Start] = {}
    if wide is not None:
        stable = stabilised(wide)
        found["gradient"] = lambda order: truncated(stable, order)
    found["ARX"] = lambda order: arx_system(records, order)
    if response is None:
        with contextlib.suppress(np.linalg.LinAlgError, ValueError):
            lags = observer_lags(records)
            response = observer_response(records, lags, 2 * max(lags, 20))
    if response is not None and np.isfinite(response).all():
        known = response
        found["OKID"] = lambda order: realised(known, order)
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
    records: Records, orders: Iterable[int], starts: dict[str, Start]
) -> list[Candidate]:
    """The best model at each order; each order also starts from the one before it."""
    found: list[Candidate] = []
    for order in orders:
        given = []
        if found and found[-1].order == order - 1:
            with contextlib.suppress(np.linalg.LinAlgError, ValueError):
                given = [extended(found[-1].model, records)]
        one = candidate(order, records, starts, given)
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
    looked = [polish(model, records, steps=_LOOK, name=name) for name, model in begun]
    looked = sorted((one for one in looked if np.isfinite(one.loss)), key=lambda one: one.loss)
    ended: list[Polished] = [
        polish(one.model, records, steps=_STEPS, name=one.start) for one in looked[:2]
    ]
    if not ended:
        return None
    best = min(ended, key=lambda one: one.loss)
    hankel = hankel_values(as_matrices(best.model, records.inputs))
    return Candidate(order, best.model, best.loss, best.start, hankel)


def choose_order(records: Records, tried: list[Candidate], *, seed: int) -> OrderChoice:
    """The least N′ Σ log RSS + k log N′, with N′ the samples that coloured errors are worth.

    Orders whose last Hankel value is below the noise floor are left out: such a state answers to
    the input by less than the errors would by themselves, whatever else it fits.
    """
    outputs = records.outputs[0].shape[1]
    finest = min(tried, key=lambda one: one.loss)
    worth = effective_samples(errors_of(finest.model, records))
    judged = []
    for one in tried:
        errors = np.concatenate(errors_of(one.model, records))
        power = np.mean(errors**2, axis=0) + 1e-24
        # An order more is a column of C and a row of B, initial states among it.
        count = one.order * (records.driven[0].shape[1] + outputs) + outputs * records.inputs
        value = worth * float(np.sum(np.log(power))) + count * np.log(max(worth, 2.0))
        judged.append(replace(one, criterion=value))
    best = min(judged, key=lambda one: one.criterion)
    floor = noise_floor(records, errors_of(best.model, records), seed=seed)
    seen = [one for one in judged if one.order == 0 or one.hankel[-1] > floor]
    chosen = min(seen or judged, key=lambda one: one.criterion)
    near = [one for one in seen or judged if one.criterion <= chosen.criterion + _EVIDENCE]
    orders = [one.order for one in near]
    interval = (min(orders), max(orders))
    return OrderChoice(chosen, tuple(judged), interval, floor, worth, best.order)


def errors_of(model: BlockModel, records: Records) -> list[Floats]:
    """Measured minus simulated, for each record."""
    simulated = simulate(model, records)
    return [y - one for y, one in zip(records.outputs, simulated, strict=True)]
