"""Which depth, decay, means and units of columns: chosen on entries that are held out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tacit._progress_bar import Bar, part, silent_bar
from tacit.estimators._column_errors import ColumnErrors, Missed
from tacit.estimators._column_units import ColumnUnits, Frame
from tacit.estimators._masked_descent import Descent, Settings, descend_masked, pooled
from tacit.estimators._means import Means

SHALLOW = (0.1, 0.2, 0.3, 0.45)  # decays tried at depth 2
DEEP = (0.0, 3e-4, 1e-3)  # and at depth 3 and more
SHALLOW_STEPS, DEEP_STEPS = 400, 5000
_LARGE = 40_000  # cells; above it, what is unlikely to win is not tried
_NOISY = 0.7  # the part of the deviation left by depth 2, above which depth is not tried there
_WORTH = 0.05  # the part of the variance that means must explain to be removed
_DEEPER = 1.1  # times its error depth 3 counts where columns differ: noise is the rule there
_NEAR = 1.25  # times the least error at depth 2: other units are tried at depth 3 up to there
_FEW = 1000  # held-out entries, below which the best two are tried on others too
_ROUNDS = 3  # of such trials where columns differ, and each has few entries of its own
_LEAST = 8  # held-out entries, below which nothing can be chosen
_MOST_WEIGHT = 1e30  # an entry of the largest column, in the deviation of the smallest


@dataclass(frozen=True)
class Candidate:
    """A depth, a decay and what was removed before, with its error on held-out entries."""

    depth: int
    weight_decay: float
    centred: bool
    error: float
    steps: int
    fit: float = np.inf  # the error of the observed entries, in the units that were descended in
    again: bool = False  # whether it was tried twice
    scaled: bool = False  # whether each column was centred and divided by its deviation

    def words(self) -> str:
        """In a few words."""
        means = "means removed" if self.centred else "no means removed"
        scaled = ", columns scaled" if self.scaled else ""
        return f"depth {self.depth}, decay {self.weight_decay:g}, {means}{scaled}"


@dataclass(frozen=True)
class Choice:
    """What was chosen, why, and what else was tried.

    `error` is the root mean squared error of the chosen one, in the table's unit; `columns` has the
    errors column by column. `over_columns` says whether those of candidates are over the deviations
    of their columns too: where columns differ.
    """

    chosen: Candidate
    tried: tuple[Candidate, ...]
    held: int
    deviation: float
    why: tuple[str, ...]
    columns: ColumnErrors
    error: float
    over_columns: bool = False


class _Trial(NamedTuple):
    """Entries to train on and entries held out, with the units of the columns of the former."""

    values: np.ndarray
    train: np.ndarray
    held: np.ndarray
    units: ColumnUnits
    sideways: bool

    @classmethod
    def of(
        cls, values: np.ndarray, seen: np.ndarray, held: np.ndarray, *, sideways: bool
    ) -> "_Trial":
        train = seen & ~held
        units = ColumnUnits.of(values, train, sideways=sideways)
        return cls(values, train, held, units, sideways)

    def frame(self, scaled: bool) -> Frame:
        return Frame.of(self.values, self.units if scaled else None, sideways=self.sideways)

    def weights(self, frame: Frame) -> np.ndarray:
        """What an error in the frame is, in the deviation of its column."""
        unit, own = self.units.unit, frame.size * frame.units.unit
        with np.errstate(over="ignore"):
            ratio = own / np.where(self.units.varies, unit, 1.0)
        return np.where(self.units.varies, np.minimum(ratio, _MOST_WEIGHT), 0.0)

    def missed(self, frame: Frame, descent: Descent) -> Missed:
        """By how much a descent in the frame missed the held-out entries, and so their means."""
        places = np.nonzero(self.held)
        near = np.clip(self.values, frame.units.low, frame.units.high)
        mean = frame.units.means(self.values, self.train)
        own = np.broadcast_to(frame.size * frame.units.unit, near.shape)[places]
        return Missed(
            places[0 if self.sideways else 1], own * descent.missed, (mean - near)[places]
        )


def hold_out(seen: np.ndarray, fraction: float, rng: np.random.Generator) -> np.ndarray:
    """A random part of the entries; every row and column keeps at least half of its own."""
    held = np.zeros_like(seen)
    row_room, column_room = seen.sum(axis=1) // 2, seen.sum(axis=0) // 2
    i, j = np.nonzero(seen)
    wanted = round(fraction * i.size)
    for place in rng.permutation(i.size):
        if wanted == 0:
            break
        row, column = i[place], j[place]
        if row_room[row] and column_room[column]:
            held[row, column] = True
            row_room[row] -= 1
            column_room[column] -= 1
            wanted -= 1
    return held


def choose(
    values: np.ndarray,
    seen: np.ndarray,
    *,
    sideways: bool = False,
    depth: int | None,
    weight_decay: float | None,
    centre: bool | None,
    scale: bool | None,
    held_out: float,
    max_steps: int | None,
    seed: int,
    tell: Bar = silent_bar,
) -> Choice:
    """Try what is not given on held-out entries, and take the best.

    A matrix that lies `sideways` has its columns along the first axis.
    """
    rng = np.random.default_rng([seed, 1])
    held = hold_out(seen, held_out, rng)
    count = int(held.sum())
    size = Frame.of(values, None, sideways=sideways).size
    deviation = size * float((values / size)[seen].std())
    if count < _LEAST:
        return _by_default(
            values, seen, sideways, depth, weight_decay, centre, scale, max_steps, count, deviation
        )
    why: list[str] = []
    trial = _Trial.of(values, seen, held, sideways=sideways)
    alike = trial.units.are_alike(trial.train, sideways=sideways)
    scalings = [scale] if scale is not None else [False] if alike else [False, True]
    over_columns = scalings != [False]  # errors over the deviations of their columns
    if over_columns:
        why.append(
            "columns differ in level or unit: errors are measured over the deviation of their "
            "column" + (", with columns as they are and scaled" if len(scalings) > 1 else "")
        )
    depths = [depth] if depth is not None else [2, 3]
    grounds: list[tuple[Frame, bool, np.ndarray]] = []
    for scaled in scalings:
        frame = trial.frame(scaled)
        inside = frame.inward(values)
        means = Means.of(inside, trial.train)
        for centred in (
            [centre] if centre is not None else _centrings(inside, held, means, scaled, why)
        ):
            grounds.append((frame, centred, inside - means.matrix if centred else inside))
    tried: list[Candidate] = []
    descents: list[Descent] = []
    # Depths cost about as much as they take steps, so that the bar moves evenly.
    costs = {level: len(grounds) * _steps(level, max_steps) for level in depths}
    total = sum(cost * len(_decays(level, weight_decay)) for level, cost in costs.items())
    spent = 0
    for level in depths:
        if depth is None and level > 2 and values.size > _LARGE:
            left = min(one.error for one in tried)
            left /= 1.0 if over_columns else max(deviation, 1e-300)
            if left > _NOISY:
                why.append(
                    f"depth 3 was not tried: depth 2 leaves {left:.0%} of the deviation, so noise "
                    "rather than rank is what limits it"
                )
                continue
        near = _near(tried)
        for frame, centred, target in grounds:
            if frame.scaled not in near:
                continue
            for decay in _decays(level, weight_decay):
                steps = _steps(level, max_steps)
                settings = Settings(level, decay, steps)
                words = f"depth {level}, decay {decay:g}"
                found = descend_masked(
                    target,
                    trial.train,
                    settings,
                    rng=_start(seed),
                    held=held,
                    weights=trial.weights(frame) if over_columns else None,
                    tell=_stretch(tell, spent, steps, total, words),
                )
                spent += steps
                error, step, fit = found.best
                error *= 1.0 if over_columns else size
                tried.append(
                    Candidate(level, decay, centred, error, step, fit, scaled=frame.scaled)
                )
                descents.append(found)
    trials, again = [trial], dict[int, list[Descent]]()
    if count < _FEW and len(tried) > 1:
        free = trial.train
        for _ in range(_ROUNDS if over_columns else 1):
            other = hold_out(free, held.sum() / trial.train.sum(), rng)
            if other.sum() < _LEAST:
                break
            count += int(other.sum())
            free = free & ~other
            trials.append(_Trial.of(values, seen, other, sideways=sideways))
        if trials[1:]:
            again = _tried_again(tried, descents, trials[1:], over_columns, max_steps, seed)
            why.append("few entries were held out, so the two best were tried again on others")
    place = min(again or range(len(tried)), key=lambda one: _cost(tried[one], over_columns))
    best = tried[place]
    missed = [
        one.missed(one.frame(best.scaled), found)
        for one, found in zip(trials, again.get(place, [descents[place]]), strict=False)
    ]
    columns = ColumnErrors.of(missed, trial.units.unit.ravel(), drawn=over_columns)
    error = best.error if not over_columns else _rms(np.concatenate([one.model for one in missed]))
    if any(tried[one].error < best.error for one in again or range(len(tried))):
        why.append(f"depth 3 counts {_DEEPER:g} times its error where columns differ")
    why.append(
        f"{best.words()} has the least error on {count:,} held-out entries: {columns.overall:.3g} "
        "of the columns' deviations"
    )
    partly = np.flatnonzero((columns.trust > 0) & (columns.trust < 1)).size
    if partly:
        why.append(
            f"{partly} of {len(columns.trust)} columns are drawn towards their means, as far as "
            "that lowers their held-out errors"
        )
    return Choice(best, tuple(tried), count, deviation, tuple(why), columns, error, over_columns)


def _by_default(
    values: np.ndarray,
    seen: np.ndarray,
    sideways: bool,
    depth: int | None,
    weight_decay: float | None,
    centre: bool | None,
    scale: bool | None,
    max_steps: int | None,
    count: int,
    deviation: float,
) -> Choice:
    """What is taken where nothing can be chosen."""
    depth = 2 if depth is None else depth
    decay = (0.2 if depth == 2 else 0.0) if weight_decay is None else weight_decay
    steps = (100 if depth <= 2 else DEEP_STEPS) if max_steps is None else max_steps
    units = ColumnUnits.of(values, seen, sideways=sideways)
    scaled = not units.are_alike(seen, sideways=sideways) if scale is None else scale
    centred = bool(centre or centre is None)
    plain = Candidate(depth, decay, centred, np.nan, steps, scaled=scaled)
    word = f"{count} entries could be held out, too few to choose by: {plain.words()} by default"
    columns = ColumnErrors.unknown(units.unit.size)
    return Choice(plain, (), count, deviation, (word,), columns, np.nan)


def _cost(one: Candidate, over_columns: bool) -> float:
    """What the best has least of."""
    return one.error * (_DEEPER if over_columns and one.depth > 2 else 1.0)


def _near(tried: Sequence[Candidate]) -> set[bool]:
    """Scaled or not, or both: what is worth going on with."""
    if not tried:
        return {False, True}
    least = min(one.error for one in tried)
    return {one.scaled for one in tried if one.error <= _NEAR * least}


def _tried_again(
    tried: list[Candidate],
    descents: list[Descent],
    trials: list[_Trial],
    over_columns: bool,
    max_steps: int | None,
    seed: int,
) -> dict[int, list[Descent]]:
    """The two best with other entries held out; their errors and steps are of all times."""
    found = {}
    order = sorted(range(len(tried)), key=lambda place: _cost(tried[place], over_columns))
    for place in order[:2]:
        one = tried[place]
        found[place] = [descents[place]]
        for trial in trials:
            frame = trial.frame(one.scaled)
            target = frame.inward(trial.values)
            if one.centred:
                target = target - Means.of(target, trial.train).matrix
            found[place].append(
                descend_masked(
                    target,
                    trial.train,
                    Settings(one.depth, one.weight_decay, _steps(one.depth, max_steps)),
                    rng=_start(seed),
                    held=trial.held,
                    weights=trial.weights(frame) if over_columns else None,
                )
            )
        error, step, fit = pooled(found[place])
        error *= 1.0 if over_columns else trials[0].frame(False).size
        tried[place] = replace(one, error=error, steps=step, fit=fit, again=True)
    return found


def _stretch(tell: Bar, spent: int, steps: int, total: int, words: str) -> Bar:
    """The bar of one descent, of `steps` steps after `spent` of all."""
    within = part(tell, spent / total, (spent + steps) / total)
    return lambda fraction, _words="", _more="": within(fraction, words)


def _start(seed: int) -> np.random.Generator:
    """Every descent of a fit starts from the same numbers."""
    return np.random.default_rng([seed, 2])


def _steps(depth: int, max_steps: int | None) -> int:
    return (SHALLOW_STEPS if depth <= 2 else DEEP_STEPS) if max_steps is None else max_steps


def _decays(depth: int, given: float | None) -> Sequence[float]:
    return (given,) if given is not None else SHALLOW if depth <= 2 else DEEP


def _centrings(
    values: np.ndarray, held: np.ndarray, means: Means, scaled: bool, why: list[str]
) -> list[bool]:
    """Whether to remove means: by what they explain; both are tried on a small matrix."""
    before = np.mean(values[held] ** 2)
    left = np.mean((values - means.matrix)[held] ** 2)
    explained = 1 - left / before if before > 0 else 0.0
    where = " of scaled columns" if scaled else ""
    if explained < _WORTH:
        why.append(
            f"means{where} explain {max(explained, 0):.0%} of the held-out squares: not removed"
        )
        return [False]
    why.append(f"means{where} explain {explained:.0%} of the held-out squares")
    return [True] if values.size > _LARGE else [True, False]


def _rms(errors: np.ndarray) -> float:
    size = float(np.abs(errors).max(initial=0.0)) or 1.0
    return size * float(np.sqrt(np.mean((errors / size) ** 2)))
