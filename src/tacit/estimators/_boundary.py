"""The state that a record leaves, to go on from."""

import numpy as np
from scipy.linalg import solve_discrete_are

from tacit.estimators._linear_system import LinearSystem

Floats = np.ndarray
_PARTS = (1e-6, 1e-4, 1e-2, 1.0, 1e2)


def state_after(system: LinearSystem, inputs: Floats, outputs: Floats) -> Floats:
    """The state after the last sample, by a Kalman filter whose noise is chosen on the record.

    Errors may come from the sensors or from disturbances of the input. Without disturbances the
    best state is that of the simulation from a fitted initial state; with them, later outputs count
    for more. The part of disturbances is that which predicts the record best, one step ahead.
    """
    if not system.order:
        return np.zeros(0)
    start = initial_state(system, inputs, outputs)
    simulated, end = system.simulate(inputs, start)
    with np.errstate(over="ignore", invalid="ignore"):
        best, found = _size(outputs - simulated), end
    spread = np.asarray(inputs).std(axis=0)
    noise = np.diag(np.maximum(np.var(outputs - system.output_level, axis=0), 1e-300))
    for part in _PARTS:
        drive = system.B * spread
        try:
            P = solve_discrete_are(system.A.T, system.C.T, part * drive @ drive.T, noise)
            gain = np.linalg.solve(system.C @ P @ system.C.T + noise, system.C @ P @ system.A.T).T
        except (np.linalg.LinAlgError, ValueError):
            continue
        watcher = LinearSystem(  # x′ = (A − K C) x + (B − K D) u + K y
            system.A - gain @ system.C,
            np.concatenate([system.B - gain @ system.D, gain], axis=1),
            system.C,
            np.concatenate([system.D, np.zeros((len(system.C), len(system.C)))], axis=1),
            np.concatenate([system.input_level, system.output_level]),
            system.output_level,
        )
        if not watcher.is_stable():
            continue
        predicted, end = watcher.simulate(np.concatenate([inputs, outputs], axis=1), start)
        size = _size(outputs - predicted)
        if size < best:
            best, found = size, end
    return found if np.isfinite(found).all() else np.zeros(system.order)


def initial_state(system: LinearSystem, inputs: Floats, outputs: Floats) -> Floats:
    """The state before a record, by least squares; zero where an unstable system hides it."""
    if not system.is_stable():
        return np.zeros(system.order)
    forced = system.simulate(inputs)[0]
    free, power = [], np.eye(system.order)
    for _ in range(len(inputs)):
        free.append(system.C @ power)
        power = system.A @ power
    matrix = np.concatenate(free)
    size = np.linalg.norm(matrix, axis=0)
    size[size == 0] = 1.0
    left = (np.asarray(outputs) - forced).ravel()
    return np.asarray(np.linalg.lstsq(matrix / size, left, rcond=1e-8)[0] / size)


def _size(errors: Floats) -> float:
    """Σ log of the mean squared errors; infinite if they are not finite."""
    power = np.mean(errors**2, axis=0)
    return float(np.sum(np.log(power + 1e-300))) if np.isfinite(power).all() else np.inf
