"""The diagonal state-space model: complex modes, each with an eigenvalue of its own."""

from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Complex
from numpy.typing import ArrayLike, DTypeLike

from tacit._doors import door, floating, instance, key, number, real, whole
from tacit._types import Array, Float, PRNGKeyArray, precise, x64_for
from tacit.models._diagonal import ConjugatePairs
from tacit.models._linear_rnn import LinearRNN
from tacit.models._parameter import check_length, gaussian, parameter
from tacit.models._spectrum import AbstractSpectrum
from tacit.models._ssm_scans import AbstractScan, Recurrence, impulses
from tacit.models._ssm_starts import AbstractStart

_SEQUENTIAL = Recurrence()


@final
class DiagonalSSM(eqx.Module):
    """x_t = λ x_{t−1} + g (B u_t), y_t = Re(C x_t): the layer of S4D, S5 and LRU, without its D.

    λ and the input factor g come from the spectrum, whose parametrisation is a choice:
    `RingSpectrum` (LRU), `DiscretisedSpectrum` (S4D) or `PlainSpectrum`. S4D writes 2 Re(C x): its
    C is half of this one. The impulse response is h_j = Re Σ_s C_s λ_s^j g_s B_s. Complex arrays
    are kept as their two real parts, so every parameter is real. All computation is in their dtype.

    **Arguments:**

    - `spectrum`: n modes.
    - `B`: the input map, (2, n, inputs), real part first.
    - `C`: the output map, (2, outputs, n).
    """

    spectrum: AbstractSpectrum
    B: Float[Array, "2 n inputs"]
    C: Float[Array, "2 outputs n"]

    def __init__(self, spectrum: AbstractSpectrum, B: ArrayLike, C: ArrayLike) -> None:
        instance(AbstractSpectrum, what="spectrum such as RingSpectrum")("spectrum", spectrum)
        self.spectrum = spectrum
        self.B = parameter("B", B, ("2", "modes", "inputs"))
        self.C = parameter("C", C, ("2", "outputs", "modes"))
        for name, array, axis in (("B", self.B, 1), ("C", self.C, 2)):
            if array.shape[0] != 2 or array.shape[axis] != spectrum.modes:
                shape = ["2", "inputs" if name == "B" else "outputs"]
                shape.insert(axis, f"modes = {spectrum.modes}")
                raise ValueError(
                    f"{name}: received the shape {array.shape}, it must be ({', '.join(shape)}), "
                    "the real part first"
                )
            if array.dtype != spectrum.dtype:
                raise ValueError(
                    f"{name}: received {array.dtype}, it must have the spectrum's dtype "
                    f"{spectrum.dtype}; convert one to the other"
                )

    @property
    def modes(self) -> int:
        """The number n of complex modes; the real state is twice as large."""
        return self.spectrum.modes

    @property
    @precise
    def input_map(self) -> Complex[Array, "n inputs"]:
        """g B: what an input adds to each mode."""
        return self.spectrum.input_factor()[:, None] * jax.lax.complex(self.B[0], self.B[1])

    @property
    @precise
    def output_map(self) -> Complex[Array, "outputs n"]:
        """C."""
        return jax.lax.complex(self.C[0], self.C[1])

    @precise
    def eigenvalues(self) -> Complex[Array, " n"]:
        """λ."""
        return self.spectrum.eigenvalues()

    @door(length=whole(1))
    @precise
    def impulse_response(self, length: int) -> Float[Array, "length outputs inputs"]:
        """Re Σ_s C_s λ_s^j g_s B_s for j < length."""
        check_length(length)
        return impulses(self.eigenvalues(), self.input_map, self.output_map, length)

    @door(inputs=real(finite=False))
    @precise
    def simulate(
        self, inputs: ArrayLike, *, scan: AbstractScan = _SEQUENTIAL
    ) -> Float[Array, "time outputs"]:
        """The outputs that follow the inputs (time, inputs) from the zero state.

        Output t is read after input t has been taken in, as in `LinearRNN.simulate`. `scan` is
        `Recurrence()`, `AssociativeScan()` or `Convolution()`; the outputs are the same up to
        rounding.
        """
        instance(AbstractScan, what="scan such as Recurrence()")("scan", scan)
        dtype = self.B.dtype
        drive = parameter("inputs", inputs, ("time", "inputs")).astype(dtype)
        if drive.shape[1] != self.B.shape[2]:
            raise ValueError(
                f"inputs: received the shape {drive.shape}, they must have {self.B.shape[2]} "
                "columns, one for each input of the model"
            )
        return _simulate(self, drive, scan)

    def is_stable(self) -> bool:
        """Whether the impulse response decays: every eigenvalue inside the unit circle."""
        return bool(np.max(np.abs(np.asarray(self.eigenvalues()))) < 1)

    @door(length=whole(1))
    def hankel_singular_values(
        self, *, length: int | None = None
    ) -> Float[Array, " singular_values"]:
        """The singular values of the Hankel matrix, as `LinearRNN.hankel_singular_values` has them.

        With `length`, of the finite matrix made of so many lags; without, of the infinite one, 2n
        of them.
        """
        return self.to_linear_rnn().hankel_singular_values(length=length)

    @precise
    def to_linear_rnn(self) -> LinearRNN:
        """The same map with a real state of size 2n: a 2 × 2 block for each mode."""
        values, B, C = self.eigenvalues(), self.input_map, self.output_map
        rows = jnp.stack([jnp.real(B), jnp.imag(B)], axis=1).reshape(2 * self.modes, -1)
        columns = jnp.stack([jnp.real(C), -jnp.imag(C)], axis=2).reshape(-1, 2 * self.modes)
        return LinearRNN(ConjugatePairs(jnp.real(values), jnp.imag(values)), rows, columns)

    @classmethod
    @door(
        start=instance(AbstractStart, what="start such as LRURing()"),
        modes=whole(1, 100_000),
        inputs=whole(1, 100_000),
        outputs=whole(1, 100_000),
        scale=number(0),
        dtype=floating,
        key=key,
    )
    def random(
        cls,
        start: AbstractStart,
        modes: int,
        *,
        inputs: int = 1,
        outputs: int = 1,
        scale: float | int | Float[Array, ""] = 1.0,
        dtype: DTypeLike = np.float64,
        key: PRNGKeyArray,
    ) -> "DiagonalSSM":
        """A model at a published start, with both parts of C normal and of size `scale`.

        LRU publishes the scale 1/√modes, S4D √2 in this convention of C. Models with one key and
        different scales differ in the size of C alone.

        **Arguments:**

        - `start`: `LRURing(…)`, `S4DLin(…)` or `S4DInv(…)`: eigenvalues, input factor and B.
        """
        for name, count in (("modes", modes), ("inputs", inputs), ("outputs", outputs)):
            check_length(count, name)
        made: dict[str, Any] = {"dtype": np.dtype(dtype)}
        with x64_for(np.dtype(dtype)):
            spectrum_key, input_key, output_key = jax.random.split(key, 3)
            return cls(
                start.spectrum(modes, key=spectrum_key, **made),
                start.input_map(modes, inputs, key=input_key, **made),
                gaussian((2, outputs, modes), scale=scale, key=output_key, **made),
            )


@eqx.filter_jit
def _simulate(
    model: DiagonalSSM, inputs: Float[Array, "time inputs"], scan: AbstractScan
) -> Float[Array, "time outputs"]:
    return scan.outputs(model.eigenvalues(), model.input_map, model.output_map, inputs)
