"""From an impulse response back to a system: the method of Ho and Kalman."""

import numpy as np

from tacit._types import Float
from tacit.measures import hankel


def ho_kalman(
    response: Float[np.ndarray, "length o i"], order: int
) -> tuple[
    Float[np.ndarray, "order order"], Float[np.ndarray, "order i"], Float[np.ndarray, "o order"]
]:
    """A balanced (A, B, C) of the given order whose impulse response fits `response`.

    The Hankel matrix of a system factors as H = O R, rows C A^j by columns A^j B. Truncating
    H = U Σ Vᵀ to the order and splitting it as O = U √Σ, R = √Σ Vᵀ gives C and B as the first
    block of each, and A from the matrix one lag later, H′ = O A R.
    """
    length, outputs, inputs = response.shape
    if isinstance(order, bool) or not isinstance(order, (int, np.integer)) or order < 1:
        raise ValueError(f"order: received {order!r}, it must be a positive integer")
    rows = length // 2  # and length − rows columns: H and H′ use every lag
    if order > min(rows * outputs, (length - rows) * inputs):
        raise ValueError(
            f"order {order} is too large for a response of {length} lags with {outputs} outputs "
            f"and {inputs} inputs; it needs a longer one, 2 × order lags for one input and output"
        )
    # A float32 response knows its small singular values to float32 rounding only.
    precision = np.finfo(response.dtype).eps * max(rows * outputs, (length - rows) * inputs)
    response = response.astype(np.float64)
    U, values, V = np.linalg.svd(hankel(response[:-1], rows=rows), full_matrices=False)
    rank = int(np.sum(values > precision * values[0]))
    if order > rank:
        raise ValueError(
            f"order {order} is above the numerical rank {rank} of the response's Hankel matrix; "
            "ask for a smaller order"
        )
    root = np.sqrt(values[:order])
    observe, reach = U[:, :order] * root, root[:, None] * V[:order]
    shifted = hankel(response[1:], rows=rows)
    A = (U[:, :order] / root).T @ shifted @ (V[:order] / root[:, None]).T
    return A, reach[:, :inputs], observe[:outputs]
