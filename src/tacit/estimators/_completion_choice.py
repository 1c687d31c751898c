"""Which depth, decay and means: chosen on entries that are held out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit._progress_bar import Bar, part, silent_bar
from tacit.estimators._masked_descent import Descent, Settings, descend_masked, pooled
from tacit.estimators._means import Means

SHALLOW = (0.1, 0.2, 0.3, 0.45)  # decays tried at depth 2
DEEP = (0.0, 3e-4, 1e-3)  # and at depth 3 and more
SHALLOW_STEPS, DEEP_STEPS = 400, 5000
_LARGE = 40_000  # cells; above it, what is unlikely to win is not tried
_NOISY = 0.7  # the part of the deviation left by depth 2, above which depth is not tried there
_WORTH = 0.05  # the part of the variance that means must explain to be removed
_FEW = 1000  # held-out entries, below which the best two are tried on others too
_LEAST = 8  # held-out entries, below which nothing can be chosen


@dataclass(frozen=True)
class Candidate:
    """A depth, a decay and whether means were removed, with its error on held-out entries."""

    depth: int
    weight_decay: float
    centred: bool
    error: float
    steps: int
    fit: float = np.inf  # the error of the observed entries, in the units that were descended in
    again: bool = False  # whether it was tried twice

    def words(self) -> str:
        """In a few words."""
        means = "means removed" if self.centred else "no means removed"
        return f"depth {self.depth}, decay {self.weight_decay:g}, {means}"


@dataclass(frozen=True)
class Choice:
    """What was chosen, why, and what else was tried."""

    chosen: Candidate
    tried: tuple[Candidate, ...]
    held: int
    deviation: float
    why: tuple[str, ...]


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
    depth: int | None,
    weight_decay: float | None,
    centre: bool | None,
    held_out: float,
    max_steps: int | None,
    seed: int,
    unit: float = 1.0,
    tell: Bar = silent_bar,
) -> Choice:
    """Try what is not given on held-out entries, and take the best.

    `values` are in units of `unit`; the errors that are told are not.
    """
    rng = np.random.default_rng([seed, 1])
    held = hold_out(seen, held_out, rng)
    count = int(held.sum())
    deviation = unit * float(values[seen].std())
    if count < _LEAST:
        depth = 2 if depth is None else depth
        decay = (0.2 if depth == 2 else 0.0) if weight_decay is None else weight_decay
        steps = (100 if depth <= 2 else DEEP_STEPS) if max_steps is None else max_steps
        plain = Candidate(depth, decay, bool(centre or centre is None), np.nan, steps)
        word = (
            f"{count} entries could be held out, too few to choose by: {plain.words()} by default"
        )
        return Choice(plain, (), count, deviation, (word,))
    why: list[str] = []
    train = seen & ~held
    means = Means.of(values, train)
    centrings = [centre] if centre is not None else _centrings(values, train, held, means, why)
    depths = [depth] if depth is not None else [2, 3]
    tried: list[Candidate] = []
    descents: list[Descent] = []
    # Depths cost about as much as they take steps, so that the bar moves evenly.
    costs = {level: len(centrings) * _steps(level, max_steps) for level in depths}
    total = sum(cost * len(_decays(level, weight_decay)) for level, cost in costs.items())
    spent = 0
    for level in depths:
        if depth is None and level > 2 and values.size > _LARGE:
            left = min(one.error for one in tried) / max(deviation, 1e-300)
            if left > _NOISY:
                why.append(
                    f"depth 3 was not tried: depth 2 leaves {left:.0%} of the deviation, so noise "
                    "rather than rank is what limits it"
                )
                continue
        for centred in centrings:
            target = values - (means.matrix if centred else 0.0)
            for decay in _decays(level, weight_decay):
                steps = _steps(level, max_steps)
                settings = Settings(level, decay, steps)
                words = f"depth {level}, decay {decay:g}"
                found = descend_masked(
                    target,
                    train,
                    settings,
                    rng=_start(seed),
                    held=held,
                    tell=_stretch(tell, spent, steps, total, words),
                )
                spent += steps
                error, step, fit = found.best
                tried.append(Candidate(level, decay, centred, unit * error, step, fit))
                descents.append(found)
    if count < _FEW and len(tried) > 1:
        other = hold_out(train, held.sum() / train.sum(), rng)
        if other.sum() >= _LEAST:
            count += int(other.sum())
            tried = _tried_again(tried, descents, values, seen, other, max_steps, seed, unit)
            why.append("few entries were held out, so the two best were tried again on others")
    best = min([one for one in tried if one.again] or tried, key=lambda one: one.error)
    why.append(
        f"{best.words()} has the least error on {count:,} held-out entries: {best.error:.4g}, "
        f"where the values deviate by {deviation:.4g}"
    )
    return Choice(best, tuple(tried), count, deviation, tuple(why))


def _tried_again(
    tried: list[Candidate],
    descents: list[Descent],
    values: np.ndarray,
    seen: np.ndarray,
    held: np.ndarray,
    max_steps: int | None,
    seed: int,
    unit: float,
) -> list[Candidate]:
    """The two best with other entries held out; their errors and steps are of both times."""
    train = seen & ~held
    means = Means.of(values, train)
    found = list(tried)
    for place in np.argsort([one.error for one in tried])[:2]:
        one = tried[place]
        settings = Settings(one.depth, one.weight_decay, _steps(one.depth, max_steps))
        target = values - (means.matrix if one.centred else 0.0)
        second = descend_masked(target, train, settings, rng=_start(seed), held=held)
        error, step, fit = pooled(descents[place], second)
        found[place] = replace(one, error=unit * error, steps=step, fit=fit, again=True)
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
    values: np.ndarray, train: np.ndarray, held: np.ndarray, means: Means, why: list[str]
) -> list[bool]:
    """Whether to remove means: by what they explain; both are tried on a small matrix."""
    before = np.mean(values[held] ** 2)
    left = np.mean((values - means.matrix)[held] ** 2)
    explained = 1 - left / before if before > 0 else 0.0
    if explained < _WORTH:
        why.append(f"means explain {max(explained, 0):.0%} of the held-out squares: not removed")
        return [False]
    why.append(f"means explain {explained:.0%} of the held-out squares")
    return [True] if values.size > _LARGE else [True, False]
