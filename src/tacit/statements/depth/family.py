"""The algebra behind Theorem 3.3: matrices that are constant on diagonal and other blocks."""

from typing import Any

import numpy as np

from tacit.statements import residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.depth._shared import family_member


def _two_sums(rng: np.random.Generator) -> dict[str, Any]:
    return {"size": int(rng.integers(2, 8)), "numbers": rng.normal(size=(2, 2))}


@statement(
    "depth/lemmaD.1",
    place="Lemma D.1",
    words="the matrices aI + bJ of one size commute, and are closed under multiples, sums and "
    "products: (aI + bJ)(cI + dJ) = acI + (ad + bc + nbd)J",
    draw=_two_sums,
    tolerance=1e-13,
    mutations=[{"own": 0.0}, {"size_less": 1}],
)
def lemma_d_1(size: int, numbers: Array, *, own: float = 1.0, size_less: int = 0) -> float:
    """Explicit products of matrices, in both orders, and a multiple of their sum."""
    eye, ones = np.eye(size), np.ones((size, size))
    (a, b), (c, d) = numbers
    one, other = a * eye + b * ones, c * eye + d * ones
    formula = own * a * c * eye + (a * d + b * c + (size - size_less) * b * d) * ones
    total = 3 * (a + c) * eye + 3 * (b + d) * ones
    return max(
        residual(one @ other, formula),
        residual(other @ one, formula),
        residual(3 * (one + other), total),
    )


def _two_members(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "blocks": int(rng.integers(2, 5)),
        "block_size": int(rng.integers(1, 4)),
        "numbers": rng.normal(size=(2, 3)),
    }


@statement(
    "depth/lemmaD.2",
    place="Lemma D.2",
    words="the matrices M(a, b, c) commute and are closed under multiples, sums and products, with "
    "the parameters of the product that its proof gives",
    draw=_two_members,
    tolerance=1e-13,
    mutations=[{"inner": 1}, {"outer": 1}, {"diagonal": 0.0}],
)
def lemma_d_2(
    blocks: int, block_size: int, numbers: Array, *,
    inner: int = 2, outer: int = 2, diagonal: float = 1.0,
) -> float:  # fmt: skip
    """Explicit products of matrices, in both orders, and a multiple of their sum."""
    n, s = blocks, block_size
    (a1, b1, c1), (a2, b2, c2) = numbers
    one, other = (family_member(three, n, s) for three in numbers)
    outside = (n - 1) * s * c1 * c2
    first = a1 * a2 + (s - 1) * b1 * b2 + diagonal * outside
    second = a1 * b2 + a2 * b1 + (s - inner) * b1 * b2 + outside
    third = a1 * c2 + a2 * c1 + (s - 1) * (b1 * c2 + b2 * c1) + (n - outer) * s * c1 * c2
    formula = family_member((first, second, third), n, s)
    return max(
        residual(one @ other, formula),
        residual(other @ one, formula),
        residual(3 * (one + other), family_member(3 * (numbers[0] + numbers[1]), n, s)),
    )


def _one_member(rng: np.random.Generator) -> dict[str, Any]:
    instance = _two_members(rng)
    return {**instance, "numbers": instance["numbers"][0]}


@statement(
    "depth/lemmaD.5",
    place="Lemma D.5",
    words="M(a, b, c) has the eigenvalues a + (s−1)b + s(n−1)c once, a + (s−1)b − sc n−1 times and "
    "a − b n(s−1) times, which gives a, b and c back as in the proof of Lemma D.6",
    draw=_one_member,
    tolerance=1e-12,
    mutations=[{"across": 0.9}, {"second": 0}, {"third": 0.9}],
)
def lemma_d_5(
    blocks: int, block_size: int, numbers: Array, *,
    across: float = 1.0, second: int = 1, third: float = 1.0,
) -> float:  # fmt: skip
    """The spectrum of the explicit matrix, with multiplicities, by `eigvalsh`."""
    n, s = blocks, block_size
    a, b, c = numbers
    own = a + (s - 1) * b
    first, middle, last = own + across * s * (n - 1) * c, own - second * s * c, third * (a - b)
    found = np.sort([first, *[middle] * (n - 1), *[last] * (n * (s - 1))])
    back = np.array([
        first + (n - 1) * middle + n * (s - 1) * last,
        first + (n - 1) * middle - n * last,
        first - middle,
    ]) / (s * n)  # fmt: skip
    wanted = numbers if s > 1 else numbers[[0, 2]]  # blocks of one entry have no b
    return max(
        residual(found, np.linalg.eigvalsh(family_member(numbers, n, s))),
        residual(back if s > 1 else back[[0, 2]], wanted),
    )
