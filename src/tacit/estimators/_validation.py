"""scikit-learn's validation of data, with errors that name the argument."""

import numbers
from typing import Any

from sklearn.utils.validation import validate_data


def validated(estimator: Any, X: Any, **options: Any) -> Any:
    """What `validate_data` returns; its errors begin with `X`, and none is an OverflowError.

    A wrong type stays a TypeError, as scikit-learn's checks want it.
    """
    try:
        return validate_data(estimator, X, **options)
    except TypeError as error:
        raise TypeError(f"X: {error}") from error
    except (ValueError, OverflowError) as error:
        raise ValueError(f"X: {error}") from error


def check_progress(estimator: Any) -> None:
    """Refuse a `progress` that is neither a flag nor None."""
    if estimator.progress not in (None, True, False):
        raise ValueError(
            f"progress: received {estimator.progress!r}, it must be True, False, or None for a bar "
            "on a terminal and in a notebook"
        )


def is_whole(value: Any) -> bool:
    """Whether it is a whole number, and no flag."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """Whether it is a real number, and no flag."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
