"""What can be said of a half-empty matrix before anything is fitted."""

from dataclasses import dataclass

import numpy as np

from tacit.problems import Pattern


@dataclass(frozen=True)
class Diagnosis:
    """The pattern of a matrix and what follows from it.

    - `components`: of the observation graph, which joins a row and a column by each entry.
    - `undetermined`: entries whose row and column no chain of observed entries joins: whatever the
      others are, any value there is as good, for every method. A row without entries is all of it.
    - `expected_rank`: singular values of the matrix filled with zeros that stand above what the
      gaps and the noise alone would give; a lower bound where little is observed.
    - `thin_rows`, `thin_columns`: with fewer entries than that rank, so hardly determined by it.
    """

    shape: tuple[int, int]
    observed: int
    components: int
    undetermined: np.ndarray
    expected_rank: int
    thin_rows: np.ndarray
    thin_columns: np.ndarray

    @property
    def density(self) -> float:
        """The fraction observed."""
        return self.observed / (self.shape[0] * self.shape[1])

    @property
    def is_enough(self) -> bool:
        """Whether there are as many entries as a matrix of the expected rank has freedoms."""
        rows, columns = self.shape
        rank = self.expected_rank
        return self.observed >= rank * (rows + columns - rank)

    def coupling_groups(self, depth: int) -> int:
        """Groups of entries that descent keeps apart, from a dense start.

        Two factors: one a component. Three or more: a single one (depth, Proposition B.1).
        """
        return self.components if depth <= 2 else 1


def diagnose(values: np.ndarray, seen: np.ndarray) -> Diagnosis:
    """Look at the entries that are seen, and at where they are."""
    numbers = Pattern(seen).components()
    row_group, column_group = numbers.max(axis=1), numbers.max(axis=0)  # −1: no entry
    joined = (row_group[:, None] == column_group[None, :]) & (row_group[:, None] >= 0)
    rank = _expected_rank(values, seen)
    return Diagnosis(
        shape=(seen.shape[0], seen.shape[1]),
        observed=int(seen.sum()),
        components=int(numbers.max()) + 1,
        undetermined=~joined,
        expected_rank=rank,
        thin_rows=np.nonzero(seen.sum(axis=1) < rank)[0],
        thin_columns=np.nonzero(seen.sum(axis=0) < rank)[0],
    )


def _expected_rank(values: np.ndarray, seen: np.ndarray) -> int:
    """Singular values above √m + √n deviations of an entry of the matrix filled with zeros."""
    filled = np.where(seen, values, 0.0)
    top = np.abs(filled).max()
    if top == 0:
        return 0
    filled = filled / top
    small = filled if filled.shape[0] <= filled.shape[1] else filled.T
    squares = np.linalg.eigvalsh(small @ small.T)
    singular = np.sqrt(np.maximum(squares[::-1], 0))
    if seen.all():
        return int((singular > 1e-8 * singular[0]).sum())
    rows, columns = filled.shape
    edge = (np.sqrt(rows) + np.sqrt(columns)) * np.sqrt(np.mean(filled**2))
    return int((singular > edge).sum())
