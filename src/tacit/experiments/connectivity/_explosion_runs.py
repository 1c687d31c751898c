"""What figs4's cells do: train in time, in single precision, and watch the leading eigenvalues."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.experiments.connectivity._linear_training import (
    Network,
    Training,
    drawn_network,
    in_time,
)
from tacit.experiments.connectivity.figs4 import SHOWN, FigS4Config
from tacit.sweep import Batch

JUMP = 0.1  # of L₀: a rise of the loss in one epoch by more breaks the smooth descent
LAST = 20  # epochs whose median loss is the final one: descent may end in an oscillation


def explosion_runs(batch: Batch, config: FigS4Config) -> Mapping[str, Any]:
    """All seeds of one target and strength."""
    target, g = batch.one("target"), batch.one("g")
    rows = []
    for seed in batch.column("seed"):
        network = Network(
            *(part.astype(np.float32) for part in drawn_network(config.width, g, int(seed)))
        )
        rows.append(_one(network, target, g, config))
    return {name: np.stack([np.asarray(row[name]) for row in rows]) for name in rows[0]}


def _one(network: Network, target: float, g: float, config: FigS4Config) -> dict[str, Any]:
    leading = np.full((config.epochs + 1, SHOWN), np.nan)
    seen = 0

    def watch(W: np.ndarray) -> None:
        nonlocal seen
        if np.isfinite(W).all():
            leading[seen] = leading_real_parts(W, SHOWN)
        seen += 1

    with np.errstate(over="ignore", invalid="ignore"):  # what may happen here is an outcome
        run = in_time(
            network,
            target,
            config.rate / target * (1 - g**2) ** 2,
            config.epochs,
            steps=2 * config.duration,
            lost=np.inf,
            watch=watch,
        )
    fate = fate_of(run, config.fraction)
    outcome = {"diverged": "diverged", "stuck": "stopped"}.get(fate, "converged")
    peak = -1 if np.isnan(run.gradients).all() else int(np.nanargmax(run.gradients))
    beyond = np.flatnonzero(leading[:, 0] > 1)
    return {
        "outcome": outcome,
        "fate": fate,
        "loss": run.losses / run.losses[0],
        "gradient": run.gradients / run.gradients[0],
        "real_parts": leading,
        "crossing": float(beyond[0]) if beyond.size else np.inf,
        "peak": float(peak),
    }


def fate_of(run: Training, fraction: float) -> str:
    """`smooth`, `recovered`, `stuck` or `diverged`.

    `diverged`: outputs beyond the range of the numbers. `stuck`: the median loss of the last epochs
    is above a fraction of the initial one. The others learned; `recovered` after the loss had
    jumped up, `smooth` without a jump.
    """
    if run.diverged:
        return "diverged"
    losses = run.losses / run.losses[0]
    if not np.median(losses[-LAST:]) <= fraction:
        return "stuck"
    return "recovered" if np.diff(losses).max() > JUMP else "smooth"


def leading_real_parts(W: np.ndarray, count: int) -> np.ndarray:
    """The largest real parts of the eigenvalues of W, to about 1e-3, by Arnoldi's method."""
    from scipy.sparse.linalg import ArpackError, eigs

    wide = W.astype(np.float64)
    try:
        found = eigs(
            wide, k=count, which="LR", v0=np.ones(len(wide)), return_eigenvectors=False, tol=1e-3
        )
    except ArpackError:  # it did not converge
        found = np.linalg.eigvals(wide)
    return np.sort(found.real)[::-1][:count]
