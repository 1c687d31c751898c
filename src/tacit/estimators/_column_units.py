"""The level and the unit of each column, for tables whose columns measure different things."""

from dataclasses import dataclass

import numpy as np

Floats = np.ndarray

_ALIKE = 2.0  # deviations that differ by no more than this factor, beyond chance, are of one unit
_CENTRED = 10.0  # the same where all levels are 0: of products, of differences, of what was centred
_APART = 5.0  # levels that differ by more deviations than this are not of one unit
_LEAST = 3  # entries that a deviation is judged by
_CHANCE = 4.0  # standard errors within which all levels may be chance
_FAR = 20.0  # an entry further from the middle, in robust deviations, is brought there
_QUARTILES = 1.349  # the distance of a normal variable's quartiles, in deviations
_ROUNDING = 1e-13  # a deviation below this part of the largest entry is rounding


@dataclass(frozen=True)
class ColumnUnits:
    """x_ij = level_j + unit_j · w_ij, where w_ij is what a matrix is descended in.

    All arrays are (1, columns), or (columns, 1) for a matrix that lies on its side. A column whose
    entries are all the same has the unit 0. `low` and `high` are where far entries are brought, so
    that one of them does not decide the unit, nor what the factors are spent on.
    """

    level: Floats
    unit: Floats
    low: Floats
    high: Floats

    @classmethod
    def none(cls, columns: int, *, sideways: bool) -> "ColumnUnits":
        """Every column as it is."""
        shape = (columns, 1) if sideways else (1, columns)
        far = np.full(shape, np.inf)
        return cls(np.zeros(shape), np.ones(shape), -far, far)

    @classmethod
    def of(cls, values: Floats, seen: Floats, *, sideways: bool) -> "ColumnUnits":
        """Mean and deviation of what is seen of each column; the overall mean where nothing is.

        Levels that may all be chance are 0: to remove them would add to the rank of what is left.
        """
        if sideways:
            values, seen = values.T, seen.T
        overall = _mean(values[seen]) if seen.any() else 0.0
        found = np.array([_of_column(x[s], overall) for x, s in zip(values.T, seen.T, strict=True)])
        level, unit, low, high = found.reshape(-1, 4).T
        varies = unit > 0
        doubt = unit[varies] / np.sqrt(np.maximum(seen.sum(axis=0)[varies], 1))
        if np.all(np.abs(level[varies]) <= _CHANCE * doubt):
            level[varies] = 0.0
        parts = (one[:, None] if sideways else one[None] for one in (level, unit, low, high))
        return cls(*parts)

    def upright(self) -> "ColumnUnits":
        """The same for the matrix on its other side."""
        return ColumnUnits(self.level.T, self.unit.T, self.low.T, self.high.T)

    @property
    def varies(self) -> Floats:
        """Whether a column has two entries that differ."""
        return np.asarray(self.unit > 0)

    def means(self, values: Floats, seen: Floats) -> Floats:
        """The mean of each column, far entries brought near; the overall one for an empty one."""
        axis = 0 if len(self.level) == 1 else 1
        count = seen.sum(axis=axis, keepdims=True)
        near = np.where(seen, np.clip(values, self.low, self.high), 0)
        found = (near / np.maximum(count, 1)).sum(axis=axis, keepdims=True)
        return np.asarray(np.where(count > 0, found, _mean(values[seen]) if seen.any() else 0.0))

    def inward(self, values: Floats) -> Floats:
        """Entries in the units of their columns; those of a constant column are 0."""
        unit = np.where(self.varies, self.unit, 1.0)
        near = np.clip(values, self.low, self.high)
        return np.asarray(np.where(self.varies, (near - self.level) / unit, 0.0 * near))

    def outward(self, values: Floats) -> Floats:
        """Entries of the table again."""
        return np.asarray(self.level + self.unit * values)

    def are_alike(self, seen: Floats, *, sideways: bool) -> bool:
        """Whether the columns might as well be of one unit: of ratings, of months, of sensors.

        A deviation of n entries is known to a part 1/√(2n); columns differ by what twice that
        cannot explain.
        """
        counts = seen.sum(axis=1 if sideways else 0).ravel()
        unit, level = self.unit.ravel(), self.level.ravel()
        judged = (counts >= _LEAST) & (unit > 0)
        if judged.sum() < 2:
            return True
        doubt = 2 / np.sqrt(2 * counts[judged])
        size = np.log(unit[judged])
        spread = float((size - doubt).max() - (size + doubt).min())
        if not level[judged].any():
            return spread <= np.log(_CENTRED)
        apart = float(np.ptp(level[judged])) / float(np.median(unit[judged]))
        return spread <= np.log(_ALIKE) and apart <= _APART

    def renewed(self, later: "ColumnUnits") -> "ColumnUnits":
        """These, and the later ones for columns that had none."""
        names = ("level", "unit", "low", "high")
        both = ((getattr(self, name), getattr(later, name)) for name in names)
        return ColumnUnits(*(np.where(self.varies, one, other) for one, other in both))


def _of_column(entries: Floats, overall: float) -> tuple[float, float, float, float]:
    """Level, unit, and the limits of what is near."""
    if not entries.size:
        return overall, 0.0, -np.inf, np.inf
    size = float(np.abs(entries).max()) or 1.0
    scaled = entries / size  # squares of the entries themselves may overflow, or vanish
    first, middle, third = np.quantile(scaled, [0.25, 0.5, 0.75])
    robust = (third - first) / _QUARTILES
    far = _FAR * robust if robust > 0 else np.inf
    near = np.clip(scaled, middle - far, middle + far)
    level, unit = near.mean(), near.std()
    limits = size * (middle - far), size * (middle + far)
    if unit <= _ROUNDING:
        return float(np.median(entries)), 0.0, *limits
    return float(size * level), float(size * unit), *limits


def _mean(entries: Floats) -> float:
    size = float(np.abs(entries).max()) or 1.0
    return float(size * np.mean(entries / size))


@dataclass(frozen=True)
class Frame:
    """What a matrix is descended in: columns in their own units or as they are, over one size."""

    units: ColumnUnits
    size: float
    scaled: bool

    @classmethod
    def of(cls, values: Floats, units: ColumnUnits | None, *, sideways: bool) -> "Frame":
        """With units of its columns, or with none of them."""
        if units is not None:
            return cls(units, 1.0, True)
        columns = len(values) if sideways else values.shape[1]
        size = float(np.abs(values).max(initial=0.0)) or 1.0
        return cls(ColumnUnits.none(columns, sideways=sideways), size, False)

    def inward(self, values: Floats) -> Floats:
        """Entries as they are descended in."""
        return self.units.inward(values) if self.scaled else values / self.size

    def outward(self, values: Floats) -> Floats:
        """Entries of the table again."""
        return self.units.outward(values) if self.scaled else self.size * values
