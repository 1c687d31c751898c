"""Other ways to identify a system, each at an order of its own choice, on the same terms."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.estimators._linear_system import LinearSystem
from tacit.estimators._records import Records
from tacit.estimators._system_starts import (
    Matrices,
    arx_system,
    autoregression,
    longest_regression,
    observer_lags,
    observer_response,
    realised,
    subspace_systems,
)

Floats = np.ndarray


def arx(records: Records, most: int) -> Matrices:
    """ARX with its number of lags by BIC of the one-step errors."""
    outputs = records.outputs[0].shape[1]
    price = float(np.log(records.samples))
    lags = range(1, max(1, min(most // outputs, longest_regression(records))) + 1)
    best = min(lags, key=lambda one: autoregression(records, one).criterion(price))
    return arx_system(records, best * outputs)


def okid_era(records: Records, most: int) -> Matrices:
    """OKID and ERA, the order by AIC of the simulation error."""
    lags = observer_lags(records)
    response = observer_response(records, lags, 2 * max(lags, 20))
    return _least(records, [realised(response, order) for order in range(1, most + 1)])


def subspace(records: Records, most: int) -> Matrices:
    """The subspace method, the order by AIC of the simulation error."""
    return _least(records, subspace_systems(records, list(range(1, most + 1))))


BASELINES: dict[str, Callable[[Records, int], Matrices]] = {
    "ARX": arx,
    "OKID + ERA": okid_era,
    "subspace": subspace,
}


def _least(records: Records, systems: list[Matrices]) -> Matrices:
    """The least N Σ log RSS + 2k of simulations from an estimated initial state."""
    outputs, count = records.outputs[0].shape[1], records.samples

    def criterion(system: Matrices) -> float:
        errors = np.concatenate(_simulation_errors(system, records))
        with np.errstate(over="ignore"):  # of an unstable system
            power = np.mean(errors**2, axis=0)
        if not np.isfinite(power).all():
            return np.inf
        size = len(system.A) * (records.inputs + outputs)
        return float(count * np.sum(np.log(power + 1e-24)) + 2 * size)

    return min(systems, key=criterion)


def _simulation_errors(system: Matrices, records: Records) -> list[Floats]:
    """Measured minus simulated, with the initial state by least squares on the whole record."""
    level = np.zeros(records.inputs), np.zeros(len(system.C))
    free = LinearSystem(*system, *level)
    found = []
    with np.errstate(over="ignore", invalid="ignore"):
        for U, Y in zip(records.measured, records.outputs, strict=True):
            forced = free.simulate(U)[0]
            rows, power = [], np.eye(free.order)
            for _ in range(len(U)):
                rows.append(system.C @ power)
                power = system.A @ power
            matrix, left = np.concatenate(rows), (Y - forced).ravel()
            if not (np.isfinite(matrix).all() and np.isfinite(left).all()):
                return [np.full_like(Y, np.inf)]
            start = np.linalg.lstsq(matrix, left, rcond=1e-10)[0]
            found.append((left - matrix @ start).reshape(Y.shape))
    return found


def held_out_error(system: LinearSystem, train: Any, test: Any) -> float:
    """Root mean squared simulation error over the output's deviation, averaged over outputs.

    Each record goes on from the state that its beginning leaves. It is infinite where a simulation
    overflows.
    """
    squares, powers = [], []
    with np.errstate(over="ignore", invalid="ignore"):
        for (U, Y), (V, Z) in zip(train, test, strict=True):
            found = system.simulate(V, system.state_after(U, Y))[0]
            squares.append((found - Z) ** 2)
            powers.append((Z - Z.mean(axis=0)) ** 2)
    ratio = np.sqrt(
        np.concatenate(squares).mean(axis=0)
        / np.maximum(np.concatenate(powers).mean(axis=0), 1e-300)
    )
    value = float(ratio.mean())
    return value if np.isfinite(value) else np.inf


def compared(own: Any, test: list[tuple[Floats, Floats]]) -> dict[str, Any]:
    """Errors, orders and stability of a fitted identifier and of the baselines, beyond its data."""
    train = list(zip(*own._data, strict=True))
    systems = {"tacit": own.system_}
    most = max(1, *(one.order for one in own.choice_.tried))
    for name, method in BASELINES.items():
        with contextlib.suppress(np.linalg.LinAlgError, ValueError):
            systems[name] = own.scale_.of_matrices(method(own._records, most))
    return {
        name: {
            "order": system.order,
            "error": held_out_error(system, train, test),
            "stable": system.is_stable(),
        }
        for name, system in systems.items()
    }


def held_out_parts(
    data: tuple[list[Floats], list[Floats]], held_out: float
) -> tuple[list[tuple[Floats, Floats]], list[tuple[Floats, Floats]]]:
    """The beginning and the end of each record."""
    if not 0 < held_out < 1:
        raise ValueError(f"held_out: received {held_out!r}, it must lie between 0 and 1")
    train, test = [], []
    for U, Y in zip(*data, strict=True):
        cut = len(U) - round(held_out * len(U))
        train.append((U[:cut], Y[:cut]))
        test.append((U[cut:], Y[cut:]))
    if min(len(U) for U, _ in train) < 2 or min(len(U) for U, _ in test) < 1:
        raise ValueError(
            f"held_out: received {held_out!r}, which leaves a record without a beginning or an end"
        )
    return train, test
