"""The result, put together on the host from lanes that end one after another."""

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np

from tacit._types import PyTree
from tacit.descent._checkpoint import flat, unflat
from tacit.descent._lanes import Lanes, is_array
from tacit.descent._record import Record
from tacit.descent._result import DescentResult, Statistics
from tacit.descent._segment import Lane
from tacit.descent._stop import outcome_names

EMPTY = -1  # the member of a row that holds no lane
_KEPT = ("params", "best_params", "loss", "best_loss", "best_step", "steps", "status")


class ResultBuilder:
    """Rows for `count` lanes and `points` records, filled as lanes end and records arrive."""

    def __init__(self, count: int, points: int) -> None:
        self._count = count
        self._points = points
        self._kept: dict[str, PyTree] = {}
        self._records: dict[str, np.ndarray] = {}
        self._filled = 0

    def stored(self) -> dict[str, np.ndarray]:
        """All that has been kept, as arrays for a checkpoint."""
        arrays = {"filled": np.asarray(self._filled), **flat("records", self._records)}
        arrays["names"] = np.array(sorted(self._records), dtype=str)
        for name, kept in self._kept.items():
            arrays |= flat(f"kept/{name}", kept)
        return arrays

    def restore(self, stored: Mapping[str, np.ndarray], lanes: Lane, report: PyTree) -> None:
        """Take up what `stored` has given; `lanes` and `report` are like those to be kept."""
        self._filled = int(stored["filled"])
        self._records = unflat("records", stored, dict.fromkeys(stored["names"].tolist(), 0))
        for name in (*_KEPT, "report"):
            if any(key.startswith(f"kept/{name}/") for key in stored):
                like = report if name == "report" else getattr(lanes, name)
                self._kept[name] = unflat(f"kept/{name}", stored, like)
        if self._kept:
            self._kept.setdefault("report", {})  # most methods report nothing

    def add_lanes(self, members: np.ndarray, lanes: Lane, report: dict[str, Any]) -> None:
        """Keep lanes that have ended, with what their method reports; empty rows are left out."""
        held = members != EMPTY
        for name in (*_KEPT, "report"):
            kept = report if name == "report" else getattr(lanes, name)
            rows = jax.tree.map(lambda leaf: np.asarray(leaf)[held], kept)
            if name not in self._kept:
                self._kept[name] = jax.tree.map(self._room, rows)
            for room, row in zip(
                jax.tree.leaves(self._kept[name]), jax.tree.leaves(rows), strict=True
            ):
                room[members[held]] = row

    def add_records(
        self, members: np.ndarray, seen: dict[str, Any], due: int, *, ended: bool
    ) -> None:
        """Keep a segment's `due` records; if lanes have ended, its last look stands for the rest.

        A lane that is taken out later shows its end in all later records.
        """
        if not self._points:
            return
        held = members != EMPTY
        members = members[held]
        for name, values in seen.items():
            rows = np.moveaxis(np.asarray(values), 0, 1)[held]  # (lane, pause, …)
            if name not in self._records:
                shape = (self._count, self._points, *rows.shape[2:])
                self._records[name] = np.zeros(shape, rows.dtype)
            room = self._records[name]
            room[members, self._filled : self._filled + due] = rows[:, :due]
            if ended:
                room[members, self._filled + due :] = rows[:, -1:]
        self._filled += due

    def add_timed_records(
        self,
        times: np.ndarray,
        measure: Callable[[PyTree], dict[str, PyTree]],
    ) -> None:
        """Measure the snapshots that a `TimedFlow` has reported, (lane, time, …).

        A lane that ended before a time shows its end.
        """
        report = self._kept["report"]
        missed = np.arange(times.size) >= report.pop("reached")[:, None]

        def complete(rows: np.ndarray, end: np.ndarray) -> np.ndarray:
            where = missed.reshape(*missed.shape, *(1,) * (rows.ndim - 2))
            return np.where(where, end[:, None], rows)

        snapshots = jax.tree.map(complete, report.pop("snapshots"), self._kept["params"])
        seen = measure(jax.tree.map(jax.device_put, snapshots))
        self._records = {name: np.asarray(values) for name, values in seen.items()}
        ends = report["time"]
        self._records["time"] = np.where(missed, ends[:, None], times.astype(ends.dtype))

    def result(
        self,
        model: Lanes[Any],
        record: Record | None,
        statistics: Statistics,
        *,
        single: bool,
    ) -> DescentResult[Any]:
        """The result, with the lane axis taken off again for one model."""
        arrays, rest = eqx.partition(model.tree, is_array)

        def like_the_model(params: PyTree) -> Any:
            # Leaves come back in the namespace in which they were given.
            whole = eqx.combine(jax.tree.map(_like, params, arrays, is_leaf=_is_gap), arrays, rest)
            return Lanes(whole)[0] if single else Lanes(whole, model.axes)

        def each(values: np.ndarray) -> np.ndarray:
            return values[0] if single else values

        kept = self._kept
        return DescentResult(
            model=like_the_model(kept["params"]),
            best=like_the_model(kept["best_params"]),
            loss=each(kept["loss"]),
            best_loss=each(kept["best_loss"]),
            best_step=each(kept["best_step"]),
            steps=each(kept["steps"]),
            outcome=each(outcome_names(kept["status"])),
            record_steps=np.zeros(0, np.int64) if record is None else np.asarray(record.steps),
            records={name: each(values) for name, values in self._records.items()},
            report={name: each(values) for name, values in kept["report"].items()},
            statistics=statistics,
            record_times=None
            if record is None or record.times is None
            else np.asarray(record.times),
        )

    def _room(self, row: np.ndarray) -> np.ndarray:
        return np.zeros((self._count, *row.shape[1:]), row.dtype)


def _is_gap(leaf: Any) -> bool:
    return leaf is None


def _like(values: np.ndarray | None, given: Any) -> Any:
    if values is None:
        return None
    return values if isinstance(given, np.ndarray) else jax.device_put(values)
