"""Coupling groups of every lane, predicted and seen: what the cells of any-pattern do."""

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from scipy.sparse.csgraph import connected_components

from tacit.experiments.depth._pattern_runs import complete_patterns
from tacit.problems import Pattern
from tacit.store import DEPTH, PATTERN, SEED, START
from tacit.sweep import Batch
from tacit.theory.depth import coupled_groups, coupling, vanishing_limit

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
    first, shared = sharing(batch)
    smaller = config.smaller_scale if batch.one(DEPTH) == 2 else ()
    further = [(int(lane), scale) for scale in smaller for lane in first]
    stored, used = complete_patterns(batch, config, masks, identity, further)
    finite = np.isfinite(used["products"]).all(axis=(1, 2))
    seen = [
        groups_seen(ends, mask) if good else -1
        for ends, mask, good in zip(used["ends"], masks, finite, strict=True)
    ]
    return {
        **stored,
        "spectrum": spectra_of(used["products"]),
        **from_vanishing_starts(config, masks, used, first, shared),
        "groups": [
            coupled_groups(start, mask).max() + 1
            for start, mask in zip(used["starts"], masks, strict=True)
        ],
        "groups_seen": seen,
        "components": [Pattern(mask).component_count for mask in masks],
        "entries": masks.sum(axis=(1, 2)),
    }


def sharing(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """The first of all lanes that differ in their scale alone, and the place of each lane in it."""
    names = (batch.column(name).tolist() for name in (START, PATTERN, SEED))
    place: dict[Any, int] = {}
    shared = np.array([place.setdefault(lane, len(place)) for lane in zip(*names, strict=True)])
    return np.unique(shared, return_index=True)[1], shared


def from_vanishing_starts(
    config: Any,
    masks: np.ndarray,
    used: Mapping[str, np.ndarray],
    first: np.ndarray,
    shared: np.ndarray,
) -> Mapping[str, Any]:
    """At depth 2: the limit as starts vanish, and what flow reaches on the way to it; else NaN."""
    starts, count = used["starts"], len(config.smaller_scale)
    limits = np.full((len(starts), config.size), np.nan)
    spectra = np.full((len(starts), count, config.size), np.nan)
    losses = np.full((len(starts), count), np.nan)
    if starts.shape[1] == 2:
        lanes = zip(starts[first], masks[first], used["targets"][first], strict=True)
        ends = [vanishing_limit(second, below, *rest).product for (below, second), *rest in lanes]
        limits = spectra_of(np.stack(ends))[shared]
        reached = spectra_of(used["further_products"]).reshape(count, len(first), config.size)
        spectra = np.moveaxis(reached, 0, 1)[shared]
        losses = used["further_loss"].reshape(count, len(first)).T[shared]
    return {"limit_spectrum": limits, "smaller_spectrum": spectra, "smaller_loss": losses}


def spectra_of(products: Float[np.ndarray, "lanes size size"]) -> np.ndarray:
    """Singular values of every lane, the largest first; NaN for one that diverged."""
    finite = np.isfinite(products).all(axis=(1, 2))
    values = np.full(products.shape[:2], np.nan)
    values[finite] = np.linalg.svd(products[finite], compute_uv=False)
    return values


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
