"""The additive part of a matrix: a level, and an offset for each row and column."""

from dataclasses import dataclass

import numpy as np

_RIDGE = 3.0  # entries' worth of doubt: a mean of few entries is drawn towards the level
_SWEEPS = 20


@dataclass(frozen=True)
class Means:
    """x_ij ≈ level + rows_i + columns_j, each offset shrunk by n / (n + 3) for n entries."""

    level: float
    rows: np.ndarray
    columns: np.ndarray

    @property
    def matrix(self) -> np.ndarray:
        """The additive part, (rows, columns)."""
        return np.asarray(self.level + self.rows[:, None] + self.columns[None, :])

    @classmethod
    def none(cls, shape: tuple[int, ...]) -> "Means":
        """No additive part."""
        return cls(0.0, np.zeros(shape[0]), np.zeros(shape[1]))

    @classmethod
    def of(cls, values: np.ndarray, seen: np.ndarray) -> "Means":
        """Fitted to the entries that are seen, rows and columns in turn."""
        level = float(values[seen].mean())
        rest = np.where(seen, values - level, 0)
        by_row, by_column = rest.sum(axis=1), rest.sum(axis=0)
        row_counts, column_counts = seen.sum(axis=1) + _RIDGE, seen.sum(axis=0) + _RIDGE
        weight = seen.astype(float)
        rows, columns = np.zeros(len(values)), np.zeros(values.shape[1])
        for _ in range(_SWEEPS):
            rows = (by_row - weight @ columns) / row_counts
            columns = (by_column - rows @ weight) / column_counts
        return cls(level, rows, columns)

    def of_row(self, values: np.ndarray, seen: np.ndarray) -> float:
        """The offset of another row, from the entries that are seen in it."""
        rest = values[seen] - self.level - self.columns[seen]
        return float(rest.sum() / (rest.size + _RIDGE))
