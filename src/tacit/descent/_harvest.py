"""Lanes as they come out of the loop, gathered on the host in their own order."""

from typing import Any

import equinox as eqx
import jax
import numpy as np

from tacit._types import PyTree
from tacit.descent._lanes import Lanes
from tacit.descent._outcome import outcome_names
from tacit.descent._result import DescentResult, Statistics
from tacit.descent._segment import Lane

_KEPT = ("params", "best_params", "loss", "best_loss", "best_step", "steps", "status")


class Harvest:
    """Rows for `count` lanes and `points` records, filled as lanes end and records arrive."""

    def __init__(self, count: int, points: int) -> None:
        self._count = count
        self._points = points
        self._kept: dict[str, PyTree] = {}
        self._records: dict[str, np.ndarray] = {}
        self._filled = 0

    def lanes(self, members: np.ndarray, lanes: Lane, report: dict[str, Any]) -> None:
        """Keep lanes that have ended, with what their method tells of them."""
        for name in (*_KEPT, "report"):
            kept = report if name == "report" else getattr(lanes, name)
            rows = jax.tree.map(np.asarray, kept)
            if name not in self._kept:
                self._kept[name] = jax.tree.map(self._room, rows)
            for room, row in zip(
                jax.tree.leaves(self._kept[name]), jax.tree.leaves(rows), strict=True
            ):
                room[members] = row

    def records(self, members: np.ndarray, seen: dict[str, Any], due: int) -> None:
        """Keep a segment's `due` records; its last look also stands for what follows.

        A lane that is taken out later shows its end in all later records.
        """
        if not self._points:
            return
        for name, values in seen.items():
            rows = np.moveaxis(np.asarray(values), 0, 1)  # (lane, pause, …)
            if name not in self._records:
                shape = (self._count, self._points, *rows.shape[2:])
                self._records[name] = np.zeros(shape, rows.dtype)
            room = self._records[name]
            room[members, self._filled : self._filled + due] = rows[:, :due]
            room[members, self._filled + due :] = rows[:, -1:]
        self._filled += due

    def result(
        self,
        arrays: PyTree,
        rest: Any,
        record_steps: np.ndarray,
        statistics: Statistics,
        *,
        single: bool,
    ) -> DescentResult:
        """The result, with the lane axis taken off again for one model."""

        def model(params: PyTree) -> Any:
            # Leaves come back in the namespace in which they were given.
            whole = eqx.combine(jax.tree.map(_like, params, arrays, is_leaf=_is_gap), arrays, rest)
            return Lanes(whole)[0] if single else Lanes(whole)

        def each(values: np.ndarray) -> np.ndarray:
            return values[0] if single else values

        kept = self._kept
        return DescentResult(
            model=model(kept["params"]),
            best=model(kept["best_params"]),
            loss=each(kept["loss"]),
            best_loss=each(kept["best_loss"]),
            best_step=each(kept["best_step"]),
            steps=each(kept["steps"]),
            outcome=each(outcome_names(kept["status"])),
            record_steps=record_steps,
            records={name: each(values) for name, values in self._records.items()},
            report={name: each(values) for name, values in kept["report"].items()},
            statistics=statistics,
        )

    def _room(self, row: np.ndarray) -> np.ndarray:
        return np.zeros((self._count, *row.shape[1:]), row.dtype)


def _is_gap(leaf: Any) -> bool:
    return leaf is None


def _like(values: np.ndarray | None, given: Any) -> Any:
    if values is None:
        return None
    return values if isinstance(given, np.ndarray) else jax.device_put(values)
