"""Teachers' responses for many lanes at once, each of which sees its own number of lags."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tacit._doors import check_fields, door, each, real, whole
from tacit.models import LinearRNN, impulse_responses
from tacit.problems._linear_data import LinearDataLoss, LinearSampledLoss, second_moment_root
from tacit.problems._population import PopulationLoss


@dataclass(frozen=True)
class MaskedTargets:
    """Impulse responses to learn, one for each lane, of which a lane sees its own first k lags.

    Lags are padded to a multiple of `padding` and masked from k on, so that lanes of several
    lengths are one program. A large multiple saves compilations, a small one saves lags. Losses
    are stacked, one for each lane: `Lanes(targets.population_loss())`.

    **Arguments:**

    - `responses`: (lane, lag, output, input), at least as many lags as `lags` says.
    - `lengths`: k of each lane.
    - `padding`: lags in the program are a multiple of it.
    """

    responses: np.ndarray
    lengths: np.ndarray
    padding: int

    def __post_init__(self) -> None:
        check_fields(self, responses=real(4), lengths=each(whole(1)), padding=whole(1))
        for name in ("responses", "lengths"):  # lists will do
            object.__setattr__(self, name, np.asarray(getattr(self, name)))
        if len(self.lengths) != len(self.responses):
            raise ValueError(
                f"lengths: received {len(self.lengths)}, there must be one for each of the "
                f"{len(self.responses)} responses"
            )
        if self.responses.shape[1] < self.lags:
            raise ValueError(
                f"responses: received {self.responses.shape[1]} lags, there must be at least "
                f"{self.lags}, the longest length as a multiple of padding = {self.padding}"
            )

    @property
    def lags(self) -> int:
        """Lags in the program."""
        return self.padding * -(-int(self.lengths.max()) // self.padding)

    @property
    def mask(self) -> np.ndarray:
        """1 where a lane sees a lag, else 0."""
        return (np.arange(self.lags) < self.lengths[:, None]).astype(float)

    def population_loss(self) -> PopulationLoss:
        """The population loss of every lane."""
        with jax.enable_x64(True):
            seen = jnp.asarray(self.responses[:, : self.lags])
            return eqx.filter_vmap(PopulationLoss)(seen, jnp.asarray(self.mask))

    @door(sequences=whole(1))
    def fresh_data_loss(self, sequences: int) -> LinearSampledLoss:
        """The empirical loss of every lane, on so many new sequences at each step."""
        with jax.enable_x64(True):
            seen = jnp.asarray(self.responses[:, : self.lags])
            make = functools.partial(LinearSampledLoss, sequences=sequences)
            return eqx.filter_vmap(make)(seen, jnp.asarray(self.mask))

    def fixed_data_loss(self, sequences: int, seeds: np.ndarray) -> LinearDataLoss:
        """The empirical loss of every lane, on so many sequences of its own."""
        roots = []
        for length, seed in zip(self.lengths, seeds, strict=True):
            data = np.random.default_rng([int(seed), int(length)]).standard_normal(
                (sequences, int(length), self.responses.shape[-1])
            )
            roots.append(second_moment_root(data, longest=self.lags))
        with jax.enable_x64(True):
            seen = jnp.asarray(self.responses[:, : self.lags])
            return eqx.filter_vmap(LinearDataLoss)(seen, jnp.asarray(np.stack(roots)))

    def zero_loss(self) -> np.ndarray:
        """The population loss of the zero response, lane by lane."""
        seen = self.mask[..., None, None] * self.responses[:, : self.lags]
        return np.sum(seen**2, axis=(1, 2, 3))

    def losses_of(self, students: Sequence[LinearRNN]) -> np.ndarray:
        """The population loss (lane, student) of stacked students, which may descend another."""
        mask, seen = self.mask[..., None, None], self.responses[:, : self.lags]
        errors = [mask * (impulse_responses(one, self.lags) - seen) for one in students]
        return np.stack([np.sum(error**2, axis=(1, 2, 3)) for error in errors], axis=1)
