"""Gaussian moments of nonlinearities: E φ(u)φ(v) and E φ'(u)φ'(v)."""

import abc
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, final

import numpy as np
from jaxtyping import Float

from tacit._doors import door, function, numbers, text

Values: TypeAlias = np.float64 | Float[np.ndarray, "..."]
Table: TypeAlias = Float[np.ndarray, "variances nodes"]
Row: TypeAlias = Float[np.ndarray, " nodes"]

_REACH = 13.0  # of the quadrature, in standard deviations: the density beyond is below 1e-37
_SPACING = 1 / 48
_TOLERANCE = 1e-11  # of what the expansion leaves out, of E φ² and of E φ'²
_MOST_TERMS = 4096
_EQUAL = 8 * np.finfo(np.float64).eps  # correlations that differ from one by rounding


_VARIANCES = numbers(0, infinite=True, nan=True)  # what overflowed passes on


class Moments(NamedTuple):
    """E φ(u)φ(v) and E φ'(u)φ'(v)."""

    value: Values
    slope: Values


class Nonlinearity(abc.ABC):
    """φ, known by its moments for centred Gaussian pairs (u, v)."""

    @abc.abstractmethod
    def moments(self, a: Values, b: Values, c: Values) -> Moments:
        """E φ(u)φ(v) and E φ'(u)φ'(v) at the variances a of u and b of v and the covariance c.

        The arguments broadcast. A φ without a derivative at zero gives a second moment of zero
        where a variance is zero.
        """

    def second_moment(self, variance: Values) -> Values:
        """E φ(u)²."""
        return self.moments(variance, variance, variance).value


@final
class Identity(Nonlinearity):
    """φ(u) = u."""

    @door(a=_VARIANCES, b=_VARIANCES, c=numbers(infinite=True, nan=True))
    def moments(self, a: Values, b: Values, c: Values) -> Moments:
        """c, and one."""
        a, b, c = _together(a, b, c)
        return Moments(c.astype(np.float64), np.ones(c.shape))


@final
class Erf(Nonlinearity):
    """φ(u) = erf(u) = (2/√π) ∫₀ᵘ e^{−s²} ds."""

    @door(a=_VARIANCES, b=_VARIANCES, c=numbers(infinite=True, nan=True))
    def moments(self, a: Values, b: Values, c: Values) -> Moments:
        """(2/π) asin(2c/√((1+2a)(1+2b))), and (4/π)/√((1+2a)(1+2b) − 4c²) (Williams 1997)."""
        a, b, c = _together(a, b, c)
        # (1 + 2a)(1 + 2b) − 4c²; ab − c² is not negative, but rounding may make it so.
        rest = 1 + 2 * a + 2 * b + 4 * np.maximum(a * b - c * c, 0)
        value = (2 / np.pi) * np.arctan2(2 * c, np.sqrt(rest))
        return Moments(value, (4 / np.pi) / np.sqrt(rest))


@final
class ReLU(Nonlinearity):
    """φ(u) = max(u, 0)."""

    @door(a=_VARIANCES, b=_VARIANCES, c=numbers(infinite=True, nan=True))
    def moments(self, a: Values, b: Values, c: Values) -> Moments:
        """√(ab)(sin θ + (π − θ) cos θ)/2π and (π − θ)/2π, cos θ = c/√(ab) (Cho and Saul 2009).

        θ is as uncertain as the square root of the rounding of c, so a covariance within a few
        roundings of √(ab) counts as equal to it: the diagonal of a kernel is exact.
        """
        a, b, c = _together(a, b, c)
        scale = np.sqrt(a) * np.sqrt(b)
        cosine = np.clip(np.divide(c, scale, out=np.zeros(c.shape), where=scale > 0), -1, 1)
        cosine = np.where(1 - cosine <= _EQUAL, 1.0, cosine)
        cosine = np.where(1 + cosine <= _EQUAL, -1.0, cosine)
        theta = np.arctan2(np.sqrt((1 - cosine) * (1 + cosine)), cosine)
        value = scale * (np.sin(theta) + (np.pi - theta) * cosine) / (2 * np.pi)
        return Moments(value, np.where(scale > 0, (np.pi - theta) / (2 * np.pi), 0.0))


@dataclass(frozen=True)
class Smooth(Nonlinearity):
    """Any smooth φ, by quadrature: its expansion in Hermite polynomials at every variance.

    With φ(√a z) = Σ_k α_k(a) He_k(z)/√k! and the correlation r = c/√(ab), Mehler's formula gives
    E φ(u)φ(v) = Σ_k α_k(a) α_k(b) r^k, which needs integrals in one dimension only. The number of
    terms is doubled until what is left out is below 1e-11 of E φ² and of E φ'²; a kink makes the
    terms fall too slowly for that, and is refused.

    **Arguments:**

    - `function`, `derivative`: φ and φ', acting on arrays.
    """

    function: Callable[[Values], Values]
    derivative: Callable[[Values], Values]
    name: str = field(default="φ", kw_only=True)

    def __post_init__(self) -> None:
        function("function", self.function)
        function("derivative", self.derivative)
        text("name", self.name)

    @door(a=_VARIANCES, b=_VARIANCES, c=numbers(infinite=True, nan=True))
    def moments(self, a: Values, b: Values, c: Values) -> Moments:
        """Both series."""
        a, b, c = _together(a, b, c)
        scale = np.sqrt(a) * np.sqrt(b)
        r = np.clip(np.divide(c, scale, out=np.zeros(c.shape), where=scale > 0), -1, 1)
        variances, place = np.unique(np.stack([a, b]), return_inverse=True)
        left, right = place.reshape(2, *a.shape)
        nodes, weights = _grid()
        arguments = np.sqrt(variances)[:, None] * nodes
        sums = []
        for values in (self.function(arguments), self.derivative(arguments)):
            expansion = self._expansion(np.asarray(values, np.float64), nodes, weights)
            total = np.zeros(r.shape)
            for column in expansion.T[::-1]:  # Horner's scheme in r
                total = total * r + column[left] * column[right]
            sums.append(total)
        return Moments(*sums)

    def second_moment(self, variance: Values) -> Values:
        """E φ(u)² by quadrature, without the expansion."""
        nodes, weights = _grid()
        values = self.function(np.sqrt(np.asarray(variance))[..., None] * nodes)
        return values**2 @ weights

    def _expansion(
        self, values: Table, nodes: Row, weights: Row
    ) -> Float[np.ndarray, "variances terms"]:
        """α_k for each variance, as many as the tolerance asks for."""
        squares = values**2 @ weights
        terms = 64
        while True:
            found = (values * weights) @ _hermite(nodes, terms).T
            left_out = squares - np.sum(found**2, axis=1)
            if np.all(left_out <= _TOLERANCE * np.maximum(squares, np.finfo(float).tiny)):
                return found
            terms *= 2
            if terms > _MOST_TERMS:
                raise ValueError(
                    f"{self.name} is not smooth enough, or its argument too spread out, for "
                    f"{_MOST_TERMS} terms: {np.max(left_out / squares):.1e} of a second moment is "
                    "left out; use smaller variances, or a Nonlinearity with closed-form moments"
                )


@final
class Tanh(Nonlinearity):
    """φ(u) = tanh(u), by quadrature."""

    def __init__(self) -> None:
        self._smooth = Smooth(np.tanh, _tanh_slope, name="tanh")

    @door(a=_VARIANCES, b=_VARIANCES, c=numbers(infinite=True, nan=True))
    def moments(self, a: Values, b: Values, c: Values) -> Moments:
        """By `Smooth`."""
        return self._smooth.moments(a, b, c)

    def second_moment(self, variance: Values) -> Values:
        """By `Smooth`."""
        return self._smooth.second_moment(variance)


def _together(a: Values, b: Values, c: Values) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    try:
        return np.broadcast_arrays(a, b, c)  # type: ignore[return-value]
    except ValueError as error:
        raise ValueError(
            f"a, b and c: received the shapes {np.shape(a)}, {np.shape(b)} and {np.shape(c)}, they "
            "must broadcast"
        ) from error


def _tanh_slope(u: Values) -> Values:
    return 1 / np.cosh(np.minimum(np.abs(u), 300)) ** 2


def _grid() -> tuple[Row, Row]:
    """The trapezoidal rule for the standard normal density: spectrally accurate for smooth φ."""
    half = int(_REACH / _SPACING)
    nodes = np.arange(-half, half + 1) * _SPACING
    weights = np.exp(-(nodes**2) / 2) * _SPACING / np.sqrt(2 * np.pi)
    return nodes, weights


def _hermite(nodes: Row, terms: int) -> Float[np.ndarray, "terms nodes"]:
    """He_k(z)/√k! for k < terms, by the recursion in k."""
    rows = np.zeros((terms, nodes.size))
    rows[0] = 1.0
    if terms > 1:
        rows[1] = nodes
    for k in range(1, terms - 1):
        rows[k + 1] = (nodes * rows[k] - np.sqrt(k) * rows[k - 1]) / np.sqrt(k + 1)
    return rows
