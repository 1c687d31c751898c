"""Wick's theorem by counting: the pairings of the factors of a trace of J's and Jᵀ's."""

import functools
from collections import Counter
from collections.abc import Iterator


def _matchings(items: list[int]) -> Iterator[list[tuple[int, int]]]:
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for place, other in enumerate(rest):
        for further in _matchings(rest[:place] + rest[place + 1 :]):
            yield [(first, other), *further]


@functools.cache
def matching_counts(
    word: tuple[bool, ...], *, joined: tuple[int, int] | None = None
) -> Counter[int]:
    """Count Wick's pairings of Tr(word) by the number of indices they leave free; True is Jᵀ.

    A pairing equates the row indices of two factors, and their column indices. With f free indices
    it contributes N^f (g²/N)^{length/2}. E Tr(word) is exactly the sum of these, for every N.

    With `joined`, only pairings that contain this pair of factors count.
    """
    length = len(word)
    ends = [((a + 1) % length, a) if turned else (a, (a + 1) % length) for a, turned in
            enumerate(word)]  # fmt: skip
    found: Counter[int] = Counter()
    for pairing in _matchings(list(range(length))):
        if joined is not None and joined not in pairing:
            continue
        label = list(range(length))
        for a, b in pairing:
            for one, other in zip(ends[a], ends[b], strict=True):
                old, new = label[one], label[other]
                if old != new:
                    label = [new if x == old else x for x in label]
        found[len(set(label))] += 1
    return found
