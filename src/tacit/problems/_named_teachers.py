"""The balanced teachers of lowdim's figures by name, and the responses of many teachers."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from tacit._types import Float, PRNGKeyArray
from tacit.models import LinearRNN, impulse_responses
from tacit.problems._spectra import even_spectrum, random_spectrum
from tacit.problems._teachers import balanced_teacher, equal_weights, gaussian_weights

TEACHER_NAMES = ("even", "random", "well-conditioned")


def named_teacher(name: str, order: int, *, key: PRNGKeyArray) -> LinearRNN:
    """A balanced teacher of one input and output, by the name of its spectrum.

    - "even": eigenvalues evenly in [0.6, 1.05], Gaussian weights: lowdim's, appendix B.2.1.
    - "random": eigenvalues at random in [0.6, 1.05], Gaussian weights.
    - "well-conditioned": eigenvalues evenly in [−1, 1], equal weights; nothing in it is random.
    """
    if name == "even":
        return balanced_teacher(even_spectrum(order, 0.6, 1.05), gaussian_weights(order, key=key))
    if name == "random":
        spectrum_key, weights_key = jax.random.split(key)
        spectrum = random_spectrum(order, 0.6, 1.05, key=spectrum_key)
        return balanced_teacher(spectrum, gaussian_weights(order, key=weights_key))
    if name == "well-conditioned":
        return balanced_teacher(even_spectrum(order, -1.0, 1.0), equal_weights(order))
    raise ValueError(f"name: received {name!r}, it must be one of {', '.join(TEACHER_NAMES)}")


def teacher_responses(
    make: Callable[..., LinearRNN], seeds: np.ndarray, *, lags: int
) -> Float[np.ndarray, "lane lag output input"]:
    """The impulse responses of one teacher for each lane; lanes of one seed share their teacher.

    **Arguments:**

    - `make`: makes a teacher, given `key=…`; all teachers have one shape.
    - `seeds`: of the lanes' teachers.
    - `lags`: how many there are of each response.
    """
    distinct, place = np.unique(seeds, return_inverse=True)
    teachers = [make(key=jax.random.fold_in(jax.random.key(0), int(s))) for s in distinct]
    with jax.enable_x64(True):
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *teachers)
    return impulse_responses(stacked, lags)[place]
