"""The index pairs of Tr J^i J^Tj J^k J^Tl, and what constraints leave: (110)–(112), (114)–(119)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.connectivity._index_pairs import (
    Pairs,
    free_indices,
    names,
    pairs_of,
    small_matrix,
    sum_over_indices,
)
from tacit.statements.connectivity._matchings import matching_counts

_power = np.linalg.matrix_power


def _blocks(powers: Array) -> tuple[list[str], ...]:
    return tuple(names(letter, int(n)) for letter, n in zip("ijkl", powers, strict=True))


def _four_pairs(powers: Array) -> Pairs:
    """(110)."""
    i, j, k, l = _blocks(powers)  # noqa: E741
    upper = i + j[1:] + k[:1] + k + l[1:] + i[:1]
    return pairs_of(upper, i[1:] + j[:1] + j + k[1:] + l[:1] + l)


def _four_product(J: Array, powers: Any) -> Array:
    a, b, c, d = (int(power) for power in powers)
    return _power(J, a) @ _power(J.T, b) @ _power(J, c) @ _power(J.T, d)


def _any_powers(rng: np.random.Generator) -> dict[str, Any]:
    return {"J": small_matrix(rng, 3), "powers": rng.integers(1, 3, size=4)}


@statement(
    "connectivity/equation110",
    place="(110)–(112)",
    words="Tr J^i J^Tj J^k J^Tl is the sum over the index pairs (110); for i = j = k = l = 1 two "
    "constraints, i_1 = k_1 and j_1 = l_1, form two pairs each, and no other",
    draw=_any_powers,
    tolerance=1e-12,
    mutations=[{"count": 3}, {"times": 3}, {"second": "k1"}],
)
def equation_110(
    J: Array, powers: Array, *, count: int = 2, times: int = 2, second: str = "j1"
) -> float:
    """Sums over all indices against traces of products, and a count of all pairings."""
    rows = ["i1", "k1", "k1", "i1"]
    four = pairs_of(rows, ["j1", "j1", "l1", "l1"])
    first = pairs_of(["i1"] * 4, ["j1", "j1", "l1", "l1"])
    last = pairs_of(rows, [second] * 4)
    squares = np.abs(J) ** times
    ones = _four_product(J, np.ones(4))
    return max(
        residual(sum_over_indices(J, _four_pairs(powers)), np.trace(_four_product(J, powers))),
        residual(sum_over_indices(J, four), np.trace(ones)),
        residual(sum_over_indices(J, first), np.sum(squares.sum(axis=1) ** 2)),
        residual(sum_over_indices(J, last), np.sum(squares.sum(axis=0) ** 2)),
        residual(matching_counts((False, True, False, True))[3], count),
    )


def _least_first(rng: np.random.Generator) -> dict[str, Any]:
    """Any powers with the first as the least, and a word of the same kind with i + k = j + l."""
    i = int(rng.integers(2, 4))
    others = np.minimum(i + rng.integers(0, 2, size=3), 3)
    least = int(rng.integers(1, 3))
    j, l = (2, 2) if least == 2 else (int(rng.integers(1, 3)), int(rng.integers(1, 3)))  # noqa: E741
    return {
        "J": small_matrix(rng, 2),
        "powers": np.array([i, *others]),
        "balanced": np.array([least, j, j + l - least, l]),
    }


def _is_least(powers: Array) -> bool:
    return bool(powers[0] == np.min(powers))


_LEAST: dict[str, Callable[..., bool]] = {
    "i = min(i, j, k, l)": lambda powers, balanced: _is_least(powers) and _is_least(balanced),
    "i + k = j + l": lambda balanced: bool(balanced[0] + balanced[2] == balanced[1] + balanced[3]),
}


def _cases(balanced: Array) -> tuple[int, int]:
    """How many leading pairings join the last J of J^i to the first Jᵀ after it, and do not."""
    i, j, k, l = (int(power) for power in balanced)  # noqa: E741
    word = (False,) * i + (True,) * j + (False,) * k + (True,) * l
    most = len(word) // 2 + 1
    joined = matching_counts(word, joined=(i - 1, i))[most]
    return joined, matching_counts(word)[most] - joined


@statement(
    "connectivity/equation116",
    place="(114)–(116)",
    words="case 1: with i_i = j_2 two neighbours are equal, and what remains are the pairs (110) "
    "for i − 1 and j − 1, so that there are i such sets of constraints",
    draw=_least_first,
    tolerance=1e-11,
    hypotheses=_LEAST,
    mutations=[{"times": 3}, {"more": 1}, {"less": 2}],
)
def equation_116(
    J: Array, powers: Array, balanced: Array, *, times: int = 2, more: int = 0, less: int = 1
) -> float:
    """Sums over all indices against traces of products, and a count of all pairings."""
    i, j, k, l = _blocks(powers)  # noqa: E741
    end = j[1:] + k[1:] + l[:1] + l  # the same lower indices end both displays
    upper = [*i[:-1], j[1], j[1], *j[2:], *k[:1], *k, *l[1:], *i[:1]]
    equal = pairs_of(upper, [*i[1:-1], j[1], j[0], j[0], *end])
    left = pairs_of(i[:-1] + j[2:] + k[:1] + k + l[1:] + i[:1], [*i[1:-1], j[1], *end])
    weights = np.sum(np.abs(J) ** times, axis=1)
    a, b, c, d = (int(power) for power in powers)
    smaller = _four_product(J, (a - less, b - less, c, d))
    weighted = (_power(J, a - 1) * weights) @ _four_product(J, (0, b - 1, c, d))
    return max(
        residual(sum_over_indices(J, _four_pairs(powers)), np.trace(_four_product(J, powers))),
        residual(sum_over_indices(J, equal), np.trace(weighted)),
        residual(sum_over_indices(J, left), np.trace(smaller)),
        residual(_cases(balanced)[0], int(balanced[0]) + more),
    )


@statement(
    "connectivity/equation119",
    place="(117)–(119)",
    words="case 2: with i_i ≠ j_2 the pairs close one after the other from i_1, l_l = i_2 first, "
    "until J^Tj J^k J^T(l−i) is left: one set of constraints",
    draw=_least_first,
    tolerance=1e-11,
    hypotheses=_LEAST,
    mutations=[{"times": 3}, {"more": 1}, {"less": 1}],
    errata=[
        Erratum(
            place="(117)",
            as_printed="the lower row begins with i_2 i_3, below i_2 i_3 in the upper row",
            as_corrected="it begins with i_3 i_4: [i_1; i_2] is gone, [i_2; i_3] comes first",
            constants={"shifted": False},
            gravity="misprint",
            right_in="(118), which follows from the right form",
        )
    ],
)
def equation_119(
    J: Array, powers: Array, balanced: Array, *,
    times: int = 2, more: int = 0, less: int = 0, shifted: bool = True,
) -> float:  # fmt: skip
    """Sums over all indices against traces of products, and a count of all pairings.

    The pairs that are dropped are put back, twice each: they give the weight Σ_a J_ab² of an index
    b, its sum with weights J_bc² for c, and so on.
    """
    i, j, k, l = _blocks(powers)  # noqa: E741
    a, b, c, d = (int(power) for power in powers)
    dropped = pairs_of(i[:-1], i[1:])
    middle, below = j[1:] + k[:1] + k, j + k[1:]
    rows = [
        pairs_of(
            i[1:] + middle + l[1:-1] + i[1:2],
            (i[2:] if shifted else i[1:-1]) + j[:1] + below + l[:1] + l[:-1],
        ),
        pairs_of(
            i[-1:] + middle + l[1 : 1 + d - a] + i[-1:], j[:1] + below + l[:1] + l[: 1 + d - a]
        ),
        pairs_of(middle + l[1 : d - a] + j[:1], below + l[:1] + l[: d - a])
        if d > a
        else pairs_of(middle, below + j[:1]),  # l_1 is j_1 then
    ]
    squares, found = (np.abs(J) ** times).T, 0.0
    lost = [dropped[:1], dropped, [*dropped, (i[-1], j[0])]]
    left = [(a - 1, b, c, d - 1), (1, b, c, d - a + 1), (0, b, c, d - a + less)]
    for row, gone, kept in zip(rows, lost, left, strict=True):
        weights = _power(squares, len(gone)) @ np.ones(len(J))
        expected = np.sum(weights * np.diag(_four_product(J, kept)))
        found = max(found, residual(sum_over_indices(J, gone * 2 + row), expected))
    return max(
        found,
        residual(free_indices(lost[2] + rows[2]), sum((a, b, c, d)) - a),
        residual(_cases(balanced)[1], 1 + more),
    )
