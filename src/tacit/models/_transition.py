"""What every transition matrix of a linear RNN can do."""

import abc
import functools
from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np
from numpy.typing import DTypeLike

from tacit._types import Array, Float, PRNGKeyArray, precise
from tacit.models._parameter import check_length, check_rows, gaussian

Transition = TypeVar("Transition", bound="AbstractTransition")  # beartype knows no `Self` here


class AbstractTransition(eqx.Module):
    """The matrix A of s_{t+1} = A s_t + B x_t (lowdim 3.1), in some parametrisation.

    The parameters are real and free: every value of them is a member of the family, so descent
    on them stays in it. `width` is the size d of the state.
    """

    @property
    @abc.abstractmethod
    def width(self) -> int:
        """The size of the state."""

    @property
    @abc.abstractmethod
    def dtype(self) -> np.dtype:
        """The dtype of the parameters."""

    @abc.abstractmethod
    def matrix(self) -> Float[Array, "d d"]:
        """A, written out."""

    @precise
    def apply(self, state: Float[Array, "d n"]) -> Float[Array, "d n"]:
        """A s for each column s."""
        check_rows("state", state, self.width)
        return self._apply(state)

    @precise
    def apply_transposed(self, state: Float[Array, "d n"]) -> Float[Array, "d n"]:
        """Aᵀ s for each column s."""
        check_rows("state", state, self.width)
        return self._apply_transposed(state)

    @abc.abstractmethod
    def eigenvalues(self) -> Any:
        """The eigenvalues (d,) with multiplicity, complex where they may be."""

    @precise
    def krylov(self, vectors: Float[Array, "d n"], length: int) -> Float[Array, "length d n"]:
        """A^j v for each column v and j < length."""
        check_rows("vectors", vectors, self.width)
        check_length(length)
        return self._krylov(vectors, length)

    @precise
    def response(
        self, input_map: Float[Array, "d i"], output_map: Float[Array, "o d"], length: int
    ) -> Float[Array, "length o i"]:
        """C A^j B for j < length: the impulse response (lowdim 3.1)."""
        check_length(length)
        return self._response(input_map, output_map, length)

    def response_jacobian(
        self, input_map: Float[Array, "d i"], output_map: Float[Array, "o d"], length: int
    ) -> tuple[
        "AbstractTransition", Float[Array, "length o i d i"], Float[Array, "length o i o d"]
    ]:
        """The derivatives of `response` by the transition's parameters, by B and by C.

        The axes of the response come first. By reverse mode, one pass for each lag and channel.
        """

        def response(
            transition: "AbstractTransition", B: Float[Array, "d i"], C: Float[Array, "o d"]
        ) -> Float[Array, "length o i"]:
            return transition.response(B, C, length)

        return jax.jacrev(response, argnums=(0, 1, 2))(self, input_map, output_map)

    @classmethod
    def random(
        cls: type[Transition],
        width: int,
        *,
        scale: float | Float[Array, ""],
        dtype: DTypeLike = np.float64,
        key: PRNGKeyArray,
    ) -> Transition:
        """A transition whose free parameters are N(0, scale²), independent.

        The width of `ConjugatePairs` must be even.
        """
        check_length(width, "width")
        return cls._from_draw(width, functools.partial(gaussian, scale=scale, dtype=dtype, key=key))

    # What each family does, once its arguments are checked.

    @abc.abstractmethod
    def _apply(self, state: Array) -> Array: ...

    @abc.abstractmethod
    def _apply_transposed(self, state: Array) -> Array: ...

    @abc.abstractmethod
    def _krylov(self, vectors: Array, length: int) -> Array: ...

    @abc.abstractmethod
    def _response(self, input_map: Array, output_map: Array, length: int) -> Array: ...

    @classmethod
    @abc.abstractmethod
    def _from_draw(
        cls: type[Transition], width: int, draw: Callable[[tuple[int, ...]], Array]
    ) -> Transition:
        """The member of this width whose parameters `draw` makes, by their shape, in one call."""
