"""What is left unexplained: how many samples it is worth, and the Hankel values that it makes."""

from collections.abc import Sequence

import numpy as np

from tacit.estimators._records import Records
from tacit.measures import hankel

Floats = np.ndarray
_DRAWS, _LEVEL, _LAGS = 40, 0.95, 30
_LONGEST = 30  # lags of a regression of the errors on themselves, at most
_EXACT = 1e-24  # of the outputs' variance: less than this is rounding
_EXCITED = 0.01  # directions that the input excites less, beside the most, tell nothing


def coloured_criterion(errors: list[Floats], resting: Sequence[bool] | None = None) -> float:
    """N log σ² − Σ_k k log(1 − ρ_k²) + p log N, summed over outputs: BIC of coloured errors.

    The errors are taken for a stationary autoregression of length p, and p makes the sum least. The
    first two terms are minus twice its exact likelihood, with the reflections ρ of Burg (1975).
    White errors need no lags, and for them this is the N log σ² of the usual criteria.

    Stationary matters: without it, an exact impulse response would need no system, because its
    later samples are foretold by those before. What fades is not a disturbance that goes on. Of a
    record that does not begin at rest the first samples are left out: the initial state was fitted
    as if errors were white, and leaves a trace there.
    """
    most = min(_LONGEST, min(len(one) for one in errors) // 10)
    rests = [False] * len(errors) if resting is None else resting
    seen = [one[0 if rest else most :] for one, rest in zip(errors, rests, strict=True)]
    return sum(
        _stationary([one[:, output] - one[:, output].mean() for one in seen], most)
        for output in range(errors[0].shape[1])
    )


def _stationary(series: list[Floats], most: int) -> float:
    """The least N log σ² − Σ_k k log(1 − ρ_k²) + p log N, over the records of one output."""
    count = sum(map(len, series))
    forward, backward = series, series  # errors of a regression on what comes before, and after
    first = terms = 0.0  # of samples with fewer than p before them: squares, and −Σ k log(1 − ρ_k²)
    values = []
    for lags in range(most + 1):
        if lags:
            first += sum(float(one[0]) ** 2 for one in forward)
            forward, backward = [one[1:] for one in forward], [one[:-1] for one in backward]
            both = sum(float(f @ b) for f, b in zip(forward, backward, strict=True))
            power = sum(float(f @ f + b @ b) for f, b in zip(forward, backward, strict=True))
            turn = 2 * both / power if power > 0 else 0.0
            pairs = [(f - turn * b, b - turn * f) for f, b in zip(forward, backward, strict=True)]
            forward, backward = [f for f, _ in pairs], [b for _, b in pairs]
            kept = max(1 - turn**2, _EXACT)
            first *= kept
            terms -= len(series) * lags * np.log(kept)
        left = (first + sum(float(one @ one) for one in forward)) / count + _EXACT
        values.append(count * np.log(left) + terms + lags * np.log(max(count, 2)))
    return float(min(values))


def effective_samples(errors: list[Floats]) -> float:
    """N / Σ_k ρ_k², with the autocorrelations ρ of the errors (Bartlett), over all lags ±k.

    White errors are worth all samples. The sum is taken from an autoregression of the errors, whose
    length is chosen by BIC, since sample autocorrelations at long lags are noise.
    """
    worth = []
    for output in range(errors[0].shape[1]):
        series = [one[:, output] - one[:, output].mean() for one in errors]
        count = sum(len(one) for one in series)
        worth.append(count / _colour(series, count))
    return float(np.mean(worth))


def _colour(series: list[Floats], count: int) -> float:
    """Σ ρ_k² over k = …, −1, 0, 1, …: the mean square of the spectrum over its squared mean."""
    most = min(20, count // 10)
    power = sum(float(one @ one) for one in series) / count
    if power <= 1e-24:
        return 1.0
    covariances = [
        sum(float(one[lag:] @ one[: len(one) - lag]) for one in series if len(one) > lag) / count
        for lag in range(most + 1)
    ]
    # Levinson's recursion: a regression of every length up to `most`.
    coefficients, left = np.zeros(0), covariances[0]
    best, kept = count * np.log(left), coefficients
    for lag in range(1, most + 1):
        reflection = (
            covariances[lag]
            - sum(coefficients[j] * covariances[lag - 1 - j] for j in range(lag - 1))
        ) / left
        coefficients = np.concatenate(
            [coefficients - reflection * coefficients[::-1], [reflection]]
        )
        left *= max(1 - reflection**2, 1e-12)
        value = count * np.log(left) + lag * np.log(count)
        if value < best:
            best, kept = value, coefficients
    angles = np.linspace(0, np.pi, 2048)
    waves = np.exp(-1j * np.outer(angles, np.arange(1, len(kept) + 1)))
    spectrum = 1 / np.abs(1 - waves @ kept) ** 2
    return float(np.mean(spectrum**2) / np.mean(spectrum) ** 2)


def noise_floor(records: Records, errors: list[Floats], *, seed: int) -> float:
    """The largest Hankel value that errors like these make by themselves, at most, in 95% of draws.

    A bootstrap: the errors, turned round in time by a random amount and with a random sign, are
    taken for outputs, and an impulse response is fitted to them by least squares.
    """
    rng = np.random.default_rng(seed)
    longest = max(len(one) for one in errors)
    lags = max(2, min(_LAGS, longest // (3 * records.inputs + 3)))
    usable = [place for place, one in enumerate(errors) if len(one) > lags]
    if not usable:
        return np.inf
    matrix = np.concatenate(
        [
            np.concatenate(
                [records.measured[k][lags - j : len(errors[k]) - j] for j in range(lags + 1)],
                axis=1,
            )
            for k in usable
        ]
    )
    inverse = np.linalg.pinv(matrix, rcond=_EXCITED)
    outputs = errors[0].shape[1]
    tops = []
    for _ in range(_DRAWS):
        drawn = []
        for k in usable:
            signs = rng.choice([-1.0, 1.0], size=outputs)
            turned = np.roll(errors[k], int(rng.integers(len(errors[k]))), axis=0)
            drawn.append((signs * turned)[lags:])
        response = (inverse @ np.concatenate(drawn)).reshape(lags + 1, records.inputs, outputs)
        tops.append(np.linalg.norm(hankel(response[1:].transpose(0, 2, 1)), 2))
    return float(np.quantile(tops, _LEVEL))
