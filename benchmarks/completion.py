"""Completion: `DeepMatrixCompleter` beside soft-impute and alternating least squares.

- Synthetic: rank 5, 100 × 100, N(0, 1) factors, entries seen at random, noise of a part of the
  matrix's deviation. The error is ‖X̂ − X‖ / ‖X‖ on the entries that were not observed, X without
  noise. ALS is told the rank; its ridge, and soft-impute's threshold, are chosen on held-out
  entries. Ours is told nothing.
- Jester (`TACIT_DATA/jester5k`): a tenth of the ratings is the test. Every method gets the same
  means removed or removes its own, is tuned on a tenth of the rest and refitted on all of it.

One JSON line a table row, and the published tables at the end. Time is CPU time of one core.
"""

import json
import sys
from collections.abc import Callable

import numpy as np

from benchmarks._completion_baselines import alternating_least_squares, soft_impute_path
from benchmarks._measure import cpu_seconds, pin

SEEDS, SPLITS, SIZE, RANK = 10, 5, 100, 5
FIRST = 1000  # of Jester's splits, by seed; those before were looked at while it was built
LIMITS = {"sweeps": 100, "tolerance": 1e-4}  # of soft-impute
CASES = ((0.3, 0.0), (0.2, 0.0), (0.3, 0.05), (0.2, 0.05))
RIDGES = (0.0, 1e-3)
RATING_RANKS, RATING_RIDGES = (8, 20, 40), (0.25, 0.35, 0.5)  # 20 sweeps: converged to 1e-3


def synthetic(seed: int, seen: float, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """The matrix, and what is given of it: NaN where nothing is observed."""
    rng = np.random.default_rng(seed)
    full = rng.normal(size=(SIZE, RANK)) @ rng.normal(size=(RANK, SIZE))
    noisy = full + noise * full.std() * rng.normal(size=full.shape)
    return full, np.where(rng.random(full.shape) < seen, noisy, np.nan)


def split(given: np.ndarray, part: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The matrix without a random part of its entries, and the mask of that part."""
    seen = ~np.isnan(given)
    held = seen & (np.random.default_rng(seed).random(given.shape) < part)
    return np.where(held, np.nan, given), held


def centred(given: np.ndarray, *, wanted: bool) -> tuple[np.ndarray, np.ndarray]:
    """The matrix without its means, and the means: of the entries at hand, never of held-out ones.

    Residuals of a row sum to zero with the held-out ones among them, so that means taken before
    the split would tell a method what it must not see.
    """
    from tacit.estimators._means import Means

    if not wanted:
        return given, np.zeros_like(given)
    means = Means.of(np.nan_to_num(given), ~np.isnan(given)).matrix
    return given - means, means


def soft(given: np.ndarray, start: float, stop: float, *, means: bool = False) -> np.ndarray:
    """Soft-impute with its threshold chosen on held-out entries, then refitted on all."""
    part, held = split(given, 0.1, 1)
    train, level = centred(part, wanted=means)
    everything, full_level = centred(given, wanted=means)
    thresholds = np.linalg.norm(np.nan_to_num(everything), 2) * np.geomspace(start, stop, 8)
    path = soft_impute_path(train, thresholds, **LIMITS)
    errors = [np.mean((one + level - given)[held] ** 2) for one in path]
    kept = thresholds[: int(np.argmin(errors)) + 1]
    return full_level + soft_impute_path(everything, kept, **LIMITS)[-1]


def als(
    given: np.ndarray,
    ranks: tuple[int, ...],
    ridges: tuple[float, ...],
    sweeps: int,
    *,
    means: bool = False,
) -> np.ndarray:
    """ALS with rank and ridge chosen on held-out entries, then refitted on all."""
    part, held = split(given, 0.1, 1)
    train, level = centred(part, wanted=means)
    everything, full_level = centred(given, wanted=means)
    grid = [(rank, ridge) for rank in ranks for ridge in ridges]
    errors = [
        np.mean((alternating_least_squares(train, *one, sweeps=sweeps) + level - given)[held] ** 2)
        for one in grid
    ]
    best = grid[int(np.argmin(errors))]
    return full_level + alternating_least_squares(everything, *best, sweeps=sweeps)


def timed(work: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
    """What the work returns, and its CPU seconds."""
    found: list[np.ndarray] = []
    seconds = cpu_seconds(lambda: found.append(work()))
    return found[0], seconds


def synthetic_rows() -> list[str]:
    from tacit.estimators import DeepMatrixCompleter

    rows = []
    for seen, noise in CASES:
        errors: dict[str, list[float]] = {}
        seconds: list[float] = []
        models: list[str] = []
        for seed in range(SEEDS):
            full, given = synthetic(seed, seen, noise)
            model = DeepMatrixCompleter(random_state=seed)
            ours, spent = timed(lambda m=model, g=given: m.fit(g).fitted_)
            seconds.append(spent)
            models.append(model.choice_.chosen.words())
            found = {
                "tacit": ours,
                "ALS told the rank": als(given, (RANK,), RIDGES, 150),
                "soft-impute": soft(given, 0.5, 0.002),
            }
            gap = np.isnan(given)
            for name, estimate in found.items():
                error = np.linalg.norm((estimate - full)[gap]) / np.linalg.norm(full[gap])
                errors.setdefault(name, []).append(float(error))
        ratio = np.array(errors["tacit"]) / np.maximum(errors["ALS told the rank"], 1e-300)
        row = {
            "workload": f"rank {RANK}, {SIZE} × {SIZE}, {seen:.0%} observed, noise {noise:.0%}",
            "error, median (worst)": {
                name: [round(float(np.median(some)), 6), round(max(some), 6)]
                for name, some in errors.items()
            },
            "tacit over ALS, median (worst)": [float(np.median(ratio)), float(ratio.max())],
            "CPU seconds, median (worst)": [float(np.median(seconds)), max(seconds)],
            "models": {word: models.count(word) for word in sorted(set(models))},
        }
        print(json.dumps(row, ensure_ascii=False), flush=True)
        cells = [f"{np.median(some):.2g} ({max(some):.2g})" for some in errors.values()]
        rows.append(f"| {seen:.0%}, noise {noise:.0%} | {' | '.join(cells)} | {max(seconds):.1f} |")
    return rows


def jester_rows(ratings: np.ndarray, first: int = FIRST) -> list[str]:
    from tacit.estimators import DeepMatrixCompleter

    rows = []
    for number in range(first, first + SPLITS):
        given, test = split(ratings, 0.1, number)
        model = DeepMatrixCompleter(random_state=number)
        ours, seconds = timed(lambda m=model, g=given: m.fit(g).fitted_)
        errors = {
            name: float(np.sqrt(np.mean((estimate - ratings)[test] ** 2)))
            for name, estimate in {
                "tacit": ours,
                "ALS": als(given, RATING_RANKS, RATING_RIDGES, 20, means=True),
                "soft-impute": soft(given, 0.5, 0.05, means=True),
                "means alone": centred(given, wanted=True)[1],
            }.items()
        }
        row = {
            "workload": f"jester5k, split {number}, test RMSE",
            "error": errors,
            "CPU seconds": seconds,
            "model": model.choice_.chosen.words(),
        }
        print(json.dumps(row, ensure_ascii=False), flush=True)
        cells = " | ".join(f"{error:.3f}" for error in errors.values())
        rows.append(f"| {number} | {cells} | {seconds:.1f} |")
    return rows


def main() -> None:
    pin()
    wanted = sys.argv[1:] or ["synthetic", "jester"]
    rows = synthetic_rows() if "synthetic" in wanted else []
    if rows:
        print("\n| observed | tacit | ALS told the rank | soft-impute | s |\n|---|---|---|---|---|")
        print("\n".join(rows), flush=True)
    if "jester" not in wanted:
        return
    from tacit.data import JESTER, jester

    if (sentence := JESTER.missing()) is not None:
        print(sentence, file=sys.stderr)
        return
    rows = jester_rows(jester())
    print("\n| split | tacit | ALS | soft-impute | means alone | s |\n|---|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
