"""Linear teachers (lowdim, appendix B.2): balanced, delay, random unbalanced, and their spectra.

A balanced teacher has a symmetric A and B = Cᵀ. With one input and output its impulse response is
Σ p_i λ_i^j with weights p_i = B_i² ≥ 0: the moments of a positive measure on its eigenvalues. With
m inputs and outputs the weights are positive semidefinite m × m matrices.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from tacit._doors import ANY, SEEDS, door, each, function, instance, key, number, real, text, whole
from tacit._light_programs import normal
from tacit._types import Array, Float, PRNGKeyArray, precise
from tacit.models import Dense, Diagonal, LinearRNN, impulse_responses


@door(order=whole(1), low=number(), high=number())
def even_spectrum(order: int, low: float, high: float) -> Float[np.ndarray, " order"]:
    """Eigenvalues evenly spaced over [low, high], ends included."""
    _check_spectrum(order, low, high)
    return np.linspace(low, high, order)


@door(order=whole(1), low=number(), high=number(), key=key)
def random_spectrum(
    order: int, low: float, high: float, *, key: PRNGKeyArray
) -> Float[np.ndarray, " order"]:
    """Eigenvalues drawn uniformly from [low, high], sorted."""
    _check_spectrum(order, low, high)
    with jax.enable_x64(True):
        drawn = jax.random.uniform(key, (order,), jnp.float64, low, high)
    return np.sort(np.asarray(drawn))


def _check_spectrum(order: int, low: float, high: float) -> None:
    if order < 1:
        raise ValueError(f"order: received {order!r}, it must be at least 1")
    if not low <= high:
        raise ValueError(f"low: received {low!r}, it must not be above high = {high!r}")


@door(order=whole(1), channels=whole(1), key=key)
def gaussian_weights(
    order: int, *, channels: int | None = None, key: PRNGKeyArray
) -> Float[np.ndarray, " order"] | Float[np.ndarray, "order channels"]:
    """Entries of B = Cᵀ drawn from N(0.5, 1), as in appendix B.2.1; with `channels`, a matrix."""
    shape = (order,) if channels is None else (order, channels)
    with jax.enable_x64(True):
        return np.asarray(0.5 + normal(key, shape, jnp.float64))


@door(order=whole(1))
def equal_weights(order: int) -> Float[np.ndarray, " order"]:
    """Equal entries of B = Cᵀ: every mode is as visible as the others."""
    return np.ones(order)


@door(order=ANY, channels=ANY)
def spread_weights(order: int, channels: int) -> Float[np.ndarray, "order channels"]:
    """Rows of B on directions that all differ: any `channels` of the modes are told apart at once.

    Row i is (T_0(c_i), T_1(c_i), …) scaled to norm one, with Chebyshev's polynomials and nodes c_i
    of the golden ratio's low-discrepancy sequence in (−1, 1): any `channels` rows are independent,
    all modes have the same weight, and neighbours in the spectrum do not share a direction.
    """
    if order < 1 or channels < 1:
        raise ValueError(
            f"order and channels: received {order!r} and {channels!r}, they must be at least 1"
        )
    golden = (np.sqrt(5) - 1) / 2
    nodes = 2 * np.mod(np.arange(1, order + 1) * golden, 1.0) - 1
    rows = np.cos(np.arange(channels) * np.arccos(nodes)[:, None])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@door(eigenvalues=real(1), weights=real(1, 2))
@precise
def balanced_teacher(
    eigenvalues: Float[Array | np.ndarray, " order"],
    weights: Float[Array | np.ndarray, " order"] | Float[Array | np.ndarray, "order channels"],
) -> LinearRNN:
    """The balanced teacher with these eigenvalues and B = Cᵀ ∝ `weights`, scaled: tr CB = channels.

    Weights (order,) make a teacher of one input and output, with CB = 1 as in appendix B.2.1;
    weights (order, channels) one of as many inputs as outputs.
    """
    if len(weights) != len(eigenvalues):
        raise ValueError(
            f"weights: received {len(weights)} rows, they must be {len(eigenvalues)}, one for each "
            "of eigenvalues"
        )
    norm = float(np.linalg.norm(np.asarray(weights)))
    if not norm > 0 or not np.isfinite(norm):
        raise ValueError(f"weights: received {weights!r}, they must be finite and not all zero")
    if np.ndim(weights) == 1:
        return LinearRNN(Diagonal(eigenvalues), np.asarray(weights)[:, None] / norm, None)
    scaled = np.asarray(weights) * (np.sqrt(np.shape(weights)[1]) / norm)
    return LinearRNN(Diagonal(eigenvalues), scaled, None)


@door(order=whole(1, 100_000))
def delay_teacher(order: int) -> LinearRNN:
    """The delay line (B.1): impulse response 1 at lag order − 1 and zero at every other lag."""
    _check_order(order)
    return _chain(np.zeros(order), np.ones(order - 1))


@door(order=whole(1, 100_000), key=key)
def random_unbalanced_teacher(order: int, *, key: PRNGKeyArray) -> LinearRNN:
    """A random teacher that, like the delay line, is silent before lag order − 1 (B.2.2).

    Its diagonal is N(0, 0.1²), its superdiagonal N(0.7, 0.1²): the paper's "scale" read as a
    standard deviation.
    """
    _check_order(order)
    diagonal_key, above_key = jax.random.split(key)
    with jax.enable_x64(True):
        diagonal = 0.1 * normal(diagonal_key, (order,), jnp.float64)
        above = 0.7 + 0.1 * normal(above_key, (order - 1,), jnp.float64)
    return _chain(np.asarray(diagonal), np.asarray(above))


def _chain(diagonal: np.ndarray, above: np.ndarray) -> LinearRNN:
    """Input at the last state, output at the first (B.1), and a bidiagonal A between them."""
    order = diagonal.size
    ends = np.eye(order)
    return LinearRNN(Dense(np.diag(diagonal) + np.diag(above, k=1)), ends[:, -1:], ends[:1])


def _check_order(order: int) -> None:
    if isinstance(order, bool) or int(order) != order or order < 1:
        raise ValueError(f"order: received {order!r}, it must be a whole number of at least 1")


TEACHER_NAMES = ("even", "random", "well-conditioned")


@door(name=text, order=whole(1), key=key)
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


@door(make=function, seeds=each(whole(0, SEEDS)), lags=whole(1))
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
    instance(LinearRNN)("make", teachers[0])
    with jax.enable_x64(True):
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *teachers)
    return impulse_responses(stacked, int(lags))[place]
