"""The largest gain of a system over all frequencies."""

import numpy as np

from tacit.estimators._system_starts import Matrices

Floats = np.ndarray
_ANGLES = np.concatenate([[0.0], np.geomspace(1e-5, np.pi, 200)])


def peak_gain(system: Matrices) -> float:
    """max_ω ‖C (e^{iω} − A)⁻¹ B + D‖₂, on a grid that has the angles of the poles too."""
    poles = np.linalg.eigvals(system.A)
    angles = np.concatenate([_ANGLES, np.abs(np.angle(poles))])
    resolvents = np.exp(1j * angles)[:, None, None] * np.eye(len(poles)) - system.A
    drives = np.broadcast_to(system.B, (len(angles), *system.B.shape))
    response = system.C @ np.linalg.solve(resolvents, drives) + system.D
    with np.errstate(over="ignore"):
        gains = np.linalg.norm(response, ord=2, axis=(1, 2))
    return float(gains.max()) if np.isfinite(gains).all() else np.inf
