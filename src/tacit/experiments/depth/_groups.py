"""Coupling groups of every lane, predicted and seen: what the cells of any-pattern do."""

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from scipy.sparse.csgraph import connected_components

from tacit.experiments.depth._pattern_runs import complete_patterns
from tacit.problems import Pattern
from tacit.store import PATTERN, START
from tacit.sweep import Batch
from tacit.theory.depth import coupled_groups, coupling

_SEEN = 1e-12  # of √(C_ii C_jj): couplings below are rounding


def complete_and_group(batch: Batch, config: Any) -> Mapping[str, Any]:
    """Flow, and for every lane the groups that its start predicts and those seen at its end."""
    classes = Pattern.classes(config.size, config.size)
    numbers = batch.column(PATTERN)
    if numbers.max() >= len(classes):
        raise ValueError(
            f"pattern: received {numbers.max()}, there are {len(classes)} patterns of a "
            f"{config.size} × {config.size} matrix, numbered from 0"
        )
    identity = batch.column(START) == "identity"
    drawn = {number: classes[number].mask for number in set(numbers.tolist())}
    turned = {number: most_diagonal(mask) for number, mask in drawn.items()}
    masks = np.stack(
        [(turned if own else drawn)[n] for n, own in zip(numbers.tolist(), identity, strict=True)]
    )
    stored, used = complete_patterns(batch, config, masks, identity)
    finite = np.isfinite(used["products"]).all(axis=(1, 2))
    values = np.full((len(batch), config.size), np.nan)
    values[finite] = np.linalg.svd(used["products"][finite], compute_uv=False)
    seen = [
        groups_seen(ends, mask) if good else -1
        for ends, mask, good in zip(used["ends"], masks, finite, strict=True)
    ]
    return {
        **stored,
        "spectrum": values,
        "groups": [
            coupled_groups(start, mask).max() + 1
            for start, mask in zip(used["starts"], masks, strict=True)
        ],
        "groups_seen": seen,
        "components": [Pattern(mask).component_count for mask in masks],
        "entries": masks.sum(axis=(1, 2)),
    }


def groups_seen(
    factors: Float[np.ndarray, "layers size size"], mask: Bool[np.ndarray, "size size"]
) -> int:
    """The number of groups that the coupling of these factors holds together."""
    matrix = coupling(factors, mask)
    size = np.sqrt(np.diag(matrix))
    linked = np.abs(matrix) > _SEEN * size[:, None] * size[None, :]
    return int(connected_components(linked, directed=False)[0])


def most_diagonal(mask: Bool[np.ndarray, "size size"]) -> Bool[np.ndarray, "size size"]:
    """The mask with its rows in the order that puts most entries on the diagonal.

    For α I the order of rows counts, and this is the order in which it is most decoupled.
    """
    orders = itertools.permutations(range(len(mask)))
    best = max(orders, key=lambda order: np.trace(mask[list(order)]))
    return mask[list(best)]
