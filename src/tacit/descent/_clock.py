"""Other clocks for a flow: the same path, travelled at another speed."""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp

from tacit._doors import check_fields, whole
from tacit._types import Array, PyTree


class AbstractClock(eqx.Module):
    """A positive rate s(θ) = dt/dτ: over τ a flow takes the path that it takes over t."""

    @abc.abstractmethod
    def rate(self, params: PyTree) -> Array:
        """dt/dτ at `params`."""


class HomogeneousClock(AbstractClock):
    """s = mean(‖W_l‖²_F)^{−(L−2)/2} for a model that is homogeneous of degree L in its factors W_l.

    From an initial scale α a flow of depth L needs a time of order α^{2−L} to leave zero, in which
    nothing happens but growth; over τ that growth is exponential, whatever L.
    """

    degree: int

    def __check_init__(self) -> None:
        check_fields(self, degree=whole())
        if self.degree < 1:
            raise ValueError(
                f"degree: received {self.degree!r}, it must be at least 1; give the number of "
                "factors"
            )

    def rate(self, params: PyTree) -> Array:
        """The mean over the arrays of the model, one a factor."""
        leaves = jax.tree.leaves(params)
        mean = sum(jnp.sum(leaf**2) for leaf in leaves) / len(leaves)
        return jnp.asarray(mean) ** (-(self.degree - 2) / 2)
