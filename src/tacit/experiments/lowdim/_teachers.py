"""The teachers of the linear figures, by name."""

from collections.abc import Callable

import jax
import numpy as np

from tacit._types import PRNGKeyArray
from tacit.descent import Lanes
from tacit.experiments.lowdim._students import responses
from tacit.models import LinearRNN
from tacit.problems import (
    balanced_teacher,
    delay_teacher,
    equal_weights,
    even_spectrum,
    gaussian_weights,
    random_spectrum,
    random_unbalanced_teacher,
)


def _even(order: int, key: PRNGKeyArray) -> LinearRNN:
    return balanced_teacher(even_spectrum(order, 0.6, 1.05), gaussian_weights(order, key=key))


def _random(order: int, key: PRNGKeyArray) -> LinearRNN:
    spectrum_key, weights_key = jax.random.split(key)
    spectrum = random_spectrum(order, 0.6, 1.05, key=spectrum_key)
    return balanced_teacher(spectrum, gaussian_weights(order, key=weights_key))


def _well_conditioned(order: int, key: PRNGKeyArray) -> LinearRNN:
    return balanced_teacher(even_spectrum(order, -1.0, 1.0), equal_weights(order))


def _delay(order: int, key: PRNGKeyArray) -> LinearRNN:
    return delay_teacher(order)


def _unbalanced(order: int, key: PRNGKeyArray) -> LinearRNN:
    return random_unbalanced_teacher(order, key=key)


Maker = Callable[[int, PRNGKeyArray], LinearRNN]

TEACHERS: dict[str, Maker] = {
    "even": _even,
    "random": _random,
    "well-conditioned": _well_conditioned,
    "delay": _delay,
    "random unbalanced": _unbalanced,
}


def targets(make: Maker, order: int, seeds: np.ndarray, lags: int) -> np.ndarray:
    """The teachers' responses (lane, lag, output, input); lanes of one seed have one teacher."""
    distinct, place = np.unique(seeds, return_inverse=True)
    teachers = [make(order, jax.random.fold_in(jax.random.key(0), int(seed))) for seed in distinct]
    return responses(Lanes.stack(teachers).tree, lags)[place]
