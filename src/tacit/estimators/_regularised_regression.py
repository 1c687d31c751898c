"""A long ARX model whose coefficients are shrunk, by as much as the record itself asks for.

    y_t = Σ_j f_j y_{t−j} + Σ_j g_j u_{t−j} + constant + e_t

Instead of choosing how many lags to take, all of them are taken, and each sequence of coefficients
is drawn beforehand from a Gaussian that lets it fade (the kernel TC, "tuned and correlated"):

    cov(g_i, g_j) = λ α^max(i, j)

λ, α and the errors' variance are those under which the record is most likely. So what the input
does not excite stays small, and nothing is decided by a count of states. The recipe is that of
Pillonetto, Dinuzzo, Chen, De Nicolao and Ljung (2014), section 6, with the regression's own
evidence in the form of Chen and Ljung (2013), which costs the same for any length of the record.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from tacit.estimators._records import Records
from tacit.estimators._system_starts import (
    Matrices,
    Regression,
    hankel_values,
    observer_form,
    truncated,
)

Floats = np.ndarray
_LAGS, _COEFFICIENTS = 50, 160  # at most, of one sequence and of a regression
_SMALLEST = 1e-4  # Hankel values over the first that are kept
_STEPS = 60
# Logarithms of λ, of α/(1 − α) and of the errors' variance, for scaled records.
_SCALES, _FADINGS, _NOISES = (-16.0, 8.0), (-2.2, 4.6), (-28.0, 3.0)
_START = (-1.0, 1.4)


class Lags(NamedTuple):
    """Where the coefficients of one signal stand, and max(i, j) of their lags."""

    at: slice
    later: Floats


def regularised_system(records: Records, most: int) -> Matrices:
    """The regularised ARX model as a system of at most so many states, by balanced truncation."""
    system = observer_form(regularised_regression(records))
    if np.abs(np.linalg.eigvals(system.A)).max(initial=0.0) >= 1:
        raise np.linalg.LinAlgError("the regularised regression is not stable")
    values = hankel_values(system)
    order = int(np.sum(values > _SMALLEST * values[0])) if values[0] > 0 else 1
    return truncated(system, max(1, min(order, most)))


def regularised_regression(records: Records) -> Regression:
    """The coefficients' expectation, given the record and the likeliest λ, α and variance."""
    outputs, inputs = records.outputs[0].shape[1], records.inputs
    longest = max(len(one) for one in records.outputs)
    lags = max(1, min(_LAGS, longest // 5, _COEFFICIENTS // (outputs + inputs)))
    signals, targets = _samples(records, lags)
    if len(targets) < 3:
        raise np.linalg.LinAlgError("records too short for a regression")
    signals, targets = signals - signals.mean(axis=0), targets - targets.mean(axis=0)
    width = signals.shape[1]
    whole = np.asarray(np.linalg.qr(np.concatenate([signals, targets], axis=1), mode="r"))
    whole = np.pad(whole, ((0, max(0, width + outputs - len(whole))), (0, 0)))
    past, now = np.arange(1, lags + 1), np.arange(lags + 1)
    sequences, at = [], 0
    for places in [past] * outputs + [now] * inputs:
        sequences.append(Lags(slice(at, at + len(places)), np.maximum.outer(places, places)))
        at += len(places)
    count, rows = max(len(targets) - 1, width), []
    for target in whole[:, width:].T:
        rest = float(np.sum(target[width:] ** 2))
        evidence = Evidence(whole[:width, :width], target[:width], rest, count, sequences)
        rows.append(evidence.expected(_likeliest(evidence)))
    found = np.stack(rows)
    F = found[:, : outputs * lags].reshape(outputs, outputs, lags).transpose(2, 0, 1)
    G = found[:, outputs * lags :].reshape(outputs, inputs, lags + 1).transpose(2, 0, 1)
    return Regression(F, G, targets - signals @ found.T)


def _samples(records: Records, lags: int) -> tuple[Floats, Floats]:
    """Lagged outputs, then lagged inputs, signal by signal; and the outputs to explain."""
    rows, targets = [], []
    for U, Y in zip(records.measured, records.outputs, strict=True):
        if len(Y) <= lags:
            continue
        past = [y[lags - j : len(y) - j] for y in Y.T for j in range(1, lags + 1)]
        drive = [u[lags - j : len(u) - j] for u in U.T for j in range(lags + 1)]
        rows.append(np.stack([*past, *drive], axis=1))
        targets.append(Y[lags:])
    if not rows:
        raise np.linalg.LinAlgError("records too short for a regression")
    return np.concatenate(rows), np.concatenate(targets)


@dataclass(frozen=True)
class Evidence:
    """How likely a target is under λ and α of each sequence and the errors' variance.

    Their logarithms (of α/(1 − α) for α) are the hyperparameters, two for each sequence and one.
    With samples Q R, `triangle` is R, `seen` is Qᵀy and `rest` the square of what Q does not reach.
    """

    triangle: Floats
    seen: Floats
    rest: float
    count: int
    sequences: Sequence[Lags]

    def prior(self, hyper: Floats) -> Floats:
        """The covariance of all coefficients."""
        covariance = np.zeros_like(self.triangle)
        for number, one in enumerate(self.sequences):
            size, fading = np.exp(hyper[2 * number]), _between(hyper[2 * number + 1])
            covariance[one.at, one.at] = size * fading**one.later
        return covariance

    def expected(self, hyper: Floats) -> Floats:
        """The coefficients' expectation, given the target."""
        covariance = self.prior(hyper)
        weights = np.linalg.solve(self._spread(covariance, hyper), self.seen)
        return np.asarray(covariance @ self.triangle.T @ weights)

    def surprise(self, hyper: Floats) -> tuple[float, Floats]:
        """−2 log likelihood, without N log 2π, and its gradient."""
        covariance, noise, width = self.prior(hyper), np.exp(hyper[-1]), len(self.seen)
        try:
            factor = cho_factor(self._spread(covariance, hyper), lower=True)
        except np.linalg.LinAlgError:
            return 1e30, np.zeros_like(hyper)
        weights, inverse = cho_solve(factor, self.seen), cho_solve(factor, np.eye(width))
        beyond = self.count - width  # samples that no coefficient explains
        value = beyond * np.log(noise) + self.rest / noise + self.seen @ weights
        value += 2 * np.log(np.diag(factor[0])).sum()
        slope = self.triangle.T @ (inverse - np.outer(weights, weights)) @ self.triangle
        gradient = np.zeros_like(hyper)
        for number, one in enumerate(self.sequences):
            part = slope[one.at, one.at] * covariance[one.at, one.at]
            rate = 1 - _between(hyper[2 * number + 1])
            gradient[2 * number : 2 * number + 2] = part.sum(), rate * (part * one.later).sum()
        gradient[-1] = beyond - self.rest / noise
        gradient[-1] += noise * (np.trace(inverse) - weights @ weights)
        return float(value), gradient

    def _spread(self, covariance: Floats, hyper: Floats) -> Floats:
        noise = np.exp(hyper[-1]) * np.eye(len(self.seen))
        return np.asarray(self.triangle @ covariance @ self.triangle.T + noise)


def _likeliest(evidence: Evidence) -> Floats:
    """The hyperparameters that surprise least, from one start: others end at the same ones."""
    width, many = len(evidence.seen), len(evidence.sequences)
    power = (float(evidence.seen @ evidence.seen) + evidence.rest) / evidence.count
    left = evidence.rest / (evidence.count - width) if evidence.count > width else 0.0
    noise = np.log(max(left, 1e-8 * power, 1e-12))
    found = minimize(
        evidence.surprise,
        np.array([*_START * many, np.clip(noise, *_NOISES)]),
        jac=True,
        method="L-BFGS-B",
        bounds=[*(_SCALES, _FADINGS) * many, _NOISES],
        options={"maxiter": _STEPS},
    )
    return np.asarray(found.x)


def _between(number: float) -> float:
    """From any number to one between 0 and 1."""
    return float(1 / (1 + np.exp(-number)))
