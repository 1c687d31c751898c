"""Where to cut lengths into classes that are padded to their longest member."""

import numpy as np


def length_classes(lengths: np.ndarray, most: int, least: int = 1) -> tuple[int, ...]:
    """The longest length of each class: at most `most` classes, each with at least `least` members.

    Of all such cuts the one with the smallest sum of padded lengths, by dynamic programming over
    the distinct lengths.
    """
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
        raise ValueError(f"groups: received {most!r}, it must be a positive integer")
    if not 1 <= least <= len(lengths):
        raise ValueError(
            f"least: received {least!r}, it must lie between 1 and the number of sentences, "
            f"{len(lengths)}"
        )
    sizes, counts = np.unique(lengths, return_counts=True)
    below = np.concatenate([[0], np.cumsum(counts)])
    # best[k][j]: the cost of the first j distinct lengths in k classes, and where the last begins.
    best = [{0: (0, 0)}]
    for _ in range(most):
        row: dict[int, tuple[int, int]] = {}
        for end in range(1, len(sizes) + 1):
            choices = [
                (cost + int(sizes[end - 1]) * int(below[end] - below[begin]), begin)
                for begin, (cost, _) in best[-1].items()
                if begin < end and below[end] - below[begin] >= least
            ]
            if choices:
                row[end] = min(choices)
        best.append(row)
    whole = len(sizes)
    classes = min(
        (k for k in range(1, most + 1) if whole in best[k]), key=lambda k: best[k][whole][0]
    )
    bounds, end = [], whole
    for k in range(classes, 0, -1):
        bounds.append(int(sizes[end - 1]))
        end = best[k][end][1]
    return tuple(reversed(bounds))
