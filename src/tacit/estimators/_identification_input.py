"""What an identifier is given: parameters, inputs and outputs, checked."""

from typing import Any

import numpy as np

from tacit.estimators._records import Records
from tacit.estimators._validation import check_progress, is_real, is_whole, validated

_LARGEST = 1e150  # squares of larger values overflow
MOST = 12


def measured(estimator: Any, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray, bool]:
    """Inputs (time, inputs) and outputs (time, outputs), and whether these came as (time,)."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: give "
            "the measured outputs"
        )
    U, Y = validated(
        estimator,
        X,
        y=_outputs(y),
        dtype=np.float64,
        multi_output=True,
        y_numeric=True,
        ensure_min_samples=2,
    )
    Y = np.asarray(Y, np.float64)
    flat = Y.ndim == 1
    Y = Y[:, None] if flat else Y
    for name, values in (("X", U), ("y", Y)):
        top = float(np.abs(values).max(initial=0.0))
        if top > _LARGEST:
            raise ValueError(
                f"{name}: received {top:.3g}, values must be at most {_LARGEST:g}, since squares "
                "of larger ones overflow; use another unit"
            )
    return U, Y, flat


def _outputs(y: Any) -> np.ndarray:
    """Outputs as numbers, so that what is wrong with them is said of `y`."""
    try:
        array = np.asarray(y)
        if array.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"y: received what is not one real number for each sample and output ({error})"
        ) from error
    if array.ndim not in (1, 2):
        raise ValueError(
            f"y: received the shape {array.shape}, it must be (time,) or (time, outputs)"
        )
    return array


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that mean nothing, by name, value and remedy."""
    for name in ("order", "max_order"):
        value = getattr(estimator, name)
        if value is not None and not (is_whole(value) and 0 <= value <= 100):
            raise ValueError(
                f"{name}: received {value!r}, it must be a whole number from 0 to 100, or None to "
                "choose it"
            )
    if not (is_whole(estimator.width) and 0 <= estimator.width <= 1000):
        raise ValueError(
            f"width: received {estimator.width!r}, it must be a whole number from 0 (no descent) "
            "to 1000"
        )
    if estimator.at_rest not in (True, False):
        raise ValueError(f"at_rest: received {estimator.at_rest!r}, it must be True or False")
    check_progress(estimator)
    step: Any = estimator.step
    if not (is_real(step) and 0 < step < np.inf):
        raise ValueError(f"step: received {step!r}, it must be a positive time between samples")


def largest_order(estimator: Any, records: Records) -> int:
    """The largest order to try: five samples for each number that it fits, more than 2n lags.

    An order that was asked for needs two.
    """
    outputs = records.outputs[0].shape[1]
    longest = max(len(one) for one in records.outputs)
    most = MOST if estimator.max_order is None else estimator.max_order
    share = 5 if estimator.order is None else 2  # samples for each number
    room = records.samples * outputs // (share * (outputs + records.drives))
    possible = max(0, min(room, (longest - 1) // 2, estimator.width or 100))
    if estimator.order is not None:
        if estimator.order > possible:
            raise ValueError(
                f"order: received {estimator.order}, these {records.samples} samples allow at most "
                f"{possible}; give a longer record or a smaller order"
            )
        return int(estimator.order)
    return int(min(most, possible))
