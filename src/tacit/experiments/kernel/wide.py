"""Wide linear RNNs from given seeds: the students of all experiments of the kernel paper."""

from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tacit._light_programs import lightly
from tacit.descent import Lanes, Record
from tacit.experiments import Experiment, fixed
from tacit.models import ScaledConv, ScaledLinearRNN


class WideExperiment(Experiment):
    """A wide linear RNN, and its impulse response along the training."""

    length: int = fixed(10, "time steps T of a sequence", low=1, high=200, units="steps")
    rate: float = fixed(
        1e-4, "learning rate on the squared error, summed and without ½", low=1e-12, high=10.0
    )

    @property
    def step(self) -> float:
        """The rate on ½ Σ (…)², for which our losses and closed forms are written."""
        return 2 * self.rate

    def students(
        self,
        seeds: np.ndarray,
        width: int,
        *,
        nu_w: float,
        inputs: int = 1,
        outputs: int = 1,
        salt: int,
    ) -> Lanes[ScaledLinearRNN]:
        """One student per seed, with ν_F = ν_C = 1; another `salt` gives other students."""
        with jax.enable_x64(True):
            key = jax.random.key(salt)
            return Lanes(_students(key, jnp.asarray(seeds), width, nu_w, inputs, outputs))

    def record(self, steps: Sequence[int]) -> Record:
        """The impulse responses (lane, steps, length, outputs, inputs), recorded as `response`."""
        return Record(steps, {"response": _ImpulseResponse(self.length)})


@dataclass(frozen=True)
class _ImpulseResponse:
    """The first lags of a model's impulse response; equal lengths share a compiled program."""

    length: int

    def __call__(self, model: ScaledLinearRNN | ScaledConv) -> jax.Array:
        return model.impulse_response(self.length)


@lightly
def _students(
    key: jax.Array, seeds: jax.Array, width: int, nu_w: float, inputs: int, outputs: int
) -> ScaledLinearRNN:
    def student(seed: jax.Array) -> ScaledLinearRNN:
        own = jax.random.fold_in(key, seed)
        return ScaledLinearRNN.random(width, inputs=inputs, outputs=outputs, nu_w=nu_w, key=own)

    return eqx.filter_vmap(student)(seeds)
