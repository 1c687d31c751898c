"""Population losses with a weight at every lag: the ½ of `memoryless`, and its adversarial data.

On white input the expected squared error of the output at time t is the sum of the squared errors
of the impulse response over the lags below t. Any mean over output times is therefore a weighted
sum over lags, and a `PopulationLoss` whose mask holds the square roots of the weights.
"""

import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import ANY, door, having, real, whole
from tacit._types import precise
from tacit.models import LinearRNN
from tacit.problems._population import PopulationLoss


@door(teacher=having("impulse_response"), length=ANY, longest=whole(1))
@precise
def half_population_loss(
    teacher: LinearRNN, length: int, *, longest: int | None = None
) -> PopulationLoss:
    """L = ½ Σ_{j<k} ‖C A^j B − target_j‖²_F (memoryless (4), (20)), padded to `longest` lags.

    This paper has a ½ that lowdim's (3.4) lacks: a step of gradient descent at rate η here is
    one at rate η/2 there. Loss, gradient and the squares of the residuals all carry the factor.
    """
    longest = length if longest is None else longest
    if not 1 <= length <= longest:
        raise ValueError(f"length: received {length!r}, it must lie in [1, longest = {longest}]")
    return weighted_population_loss(
        teacher.impulse_response(longest), 0.5 * (np.arange(longest) < length)
    )


@door(wrong=real(3), length=ANY)
@precise
def adversarial_population_loss(wrong: ArrayLike, length: int) -> PopulationLoss:
    """½ of the mean, over the output times k, …, K, of the expected squared error to `wrong`.

    Adversarial data (memoryless, section 7): sequences of length K whose targets are right at
    time k and wrong after it. Here `wrong`, (K lags, outputs, inputs), is an impulse response that
    is right at the lags below k = `length` and wrong from there on (see `lying_teacher`), so that
    fitting the right targets and the wrong ones do not exclude each other. Lag j is seen by the
    times above it: its weight is one below k and (K − j) / (K − k + 1) from k on.
    """
    lags = np.shape(wrong)[0]
    if not 1 <= length <= lags:
        raise ValueError(f"length: received {length!r}, it must lie in [1, lags = {lags}]")
    seen = np.minimum(lags - np.arange(lags), lags - length + 1) / (lags - length + 1)
    return weighted_population_loss(wrong, 0.5 * seen)


@door(target=real(), weights=real(1))
@precise
def weighted_population_loss(target: ArrayLike, weights: ArrayLike) -> PopulationLoss:
    """L = Σ_j weights_j ‖C A^j B − target_j‖²_F, for a target (lags, outputs, inputs)."""
    aims, shares = jnp.asarray(target), np.asarray(weights, dtype=float)
    if aims.ndim != 3:
        raise ValueError(
            f"target: received the shape {aims.shape}, it must have the axes (lags, outputs, "
            "inputs)"
        )
    if shares.shape != aims.shape[:1]:
        raise ValueError(
            f"weights: received the shape {shares.shape}, they must have the target's "
            f"{aims.shape[0]} lags"
        )
    if not (np.isfinite(shares).all() and (shares >= 0).all()):
        raise ValueError(f"weights: received {weights!r}, they must be finite and not negative")
    return PopulationLoss(aims, jnp.asarray(np.sqrt(shares), aims.dtype))
