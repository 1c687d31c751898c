"""What a completer is given, as values and a mask of what is seen."""

from typing import Any

import numpy as np

from tacit.estimators._validation import check_progress, is_real, is_whole

_LARGEST = 1e150  # squares of larger values overflow


def entries_of(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """The values (0 where nothing is seen) and the mask, of any array that `fit` takes.

    Of a sparse matrix what is stored is seen, and duplicates are averaged; of anything else what is
    not NaN.
    """
    from scipy import sparse

    if sparse.issparse(X):
        values, seen = _of_sparse(X)
    else:
        full = np.asarray(X, dtype=np.float64)
        seen = ~np.isnan(full)
        values = np.where(seen, full, 0.0)
    if not np.isfinite(values).all():
        raise ValueError(
            "X: received infinity, entries must be finite, or NaN where they are missing; replace "
            "it by NaN"
        )
    top = float(np.abs(values).max(initial=0.0))
    if top > _LARGEST:
        raise ValueError(
            f"X: received {top:.3g}, entries must be at most {_LARGEST:g}, since squares of larger "
            "ones overflow; use another unit"
        )
    return values, seen


def _of_sparse(X: Any) -> tuple[np.ndarray, np.ndarray]:
    entries = X.tocoo()
    data = np.asarray(entries.data, dtype=np.float64)
    i, j = entries.row, entries.col
    kept = ~np.isnan(data)
    sums, counts = np.zeros(X.shape), np.zeros(X.shape)
    np.add.at(sums, (i[kept], j[kept]), data[kept])
    np.add.at(counts, (i[kept], j[kept]), 1.0)
    return sums / np.maximum(counts, 1), counts > 0


def checked_pairs(pairs: Any, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Row and column indices, (n, 2) or a sequence of pairs."""
    try:
        array = np.asarray(pairs)
    except ValueError as error:
        raise ValueError(f"pairs: received rows of several lengths ({error})") from error
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"pairs: received the shape {array.shape}, they must be (n, 2): a row and a column each"
        )
    if array.dtype.kind not in "iuf":
        raise ValueError(
            f"pairs: received the dtype {array.dtype}, they must be whole numbers: row and column"
        )
    if array.dtype.kind == "f" and not np.array_equal(array, np.round(array)):
        raise ValueError("pairs: received fractions, they must be whole numbers: row and column")
    array = array.astype(np.int64)
    for axis, name in enumerate(("row", "column")):
        wrong = (array[:, axis] < 0) | (array[:, axis] >= shape[axis])
        if wrong.any():
            raise ValueError(
                f"pairs: received the {name} {array[wrong, axis][0]}, {name}s are 0 … "
                f"{shape[axis] - 1}"
            )
    return array[:, 0], array[:, 1]


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that mean nothing, by name, value and remedy."""
    depth, decay = estimator.depth, estimator.weight_decay
    if depth is not None and not (is_whole(depth) and depth >= 2):
        raise ValueError(
            f"depth: received {depth!r}, it must be a whole number of at least 2, or None to "
            "choose it on held-out entries"
        )
    if decay is not None and not (is_real(decay) and 0 <= decay < np.inf):
        raise ValueError(
            f"weight_decay: received {decay!r}, it must be a number of at least 0, or None to "
            "choose it on held-out entries"
        )
    for name in ("centre", "scale"):
        value = getattr(estimator, name)
        if value not in (None, True, False):
            raise ValueError(f"{name}: received {value!r}, it must be True, False or None")
    if not (is_real(estimator.held_out) and 0 < estimator.held_out < 0.5):
        raise ValueError(
            f"held_out: received {estimator.held_out!r}, it must lie between 0 and 0.5; leave it "
            "out for 0.1"
        )
    check_progress(estimator)
    steps = estimator.max_steps
    if steps is not None and not (is_whole(steps) and steps >= 1):
        raise ValueError(
            f"max_steps: received {steps!r}, it must be a positive whole number, or None"
        )
