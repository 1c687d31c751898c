"""scikit-learn's validation of data, with errors that name the argument."""

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
