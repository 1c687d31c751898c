"""The impulse response of a linear RNN, in NumPy."""

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tacit._doors import door, real, whole


@door(W=real(2, finite=False), F=real(2, finite=False), C=real(2, finite=False), length=whole(1))
def finite_width_response(
    W: ArrayLike, F: ArrayLike, C: ArrayLike, length: int
) -> Float[np.ndarray, "length outputs inputs"]:
    """L_j = n^{−(j+1)/2} C W^j F for j < length (kernel 9); parameters that overflowed pass on.

    **Arguments:**

    - `W` (n, n), `F` (n, inputs), `C` (outputs, n): in the scaling of kernel (1).
    - `length`: the number of lags.
    """
    w, states, c = np.asarray(W), np.asarray(F), np.asarray(C)
    if w.shape != (len(w),) * 2 or len(states) != len(w) or c.shape[1] != len(w):
        raise ValueError(
            f"W, F and C: received the shapes {w.shape}, {states.shape} and {c.shape}, they must "
            "be (n, n), (n, inputs) and (outputs, n)"
        )
    root, response = np.sqrt(len(w)), []
    for _ in range(length):
        response.append(c @ states / root)
        states = w @ states / root
    return np.stack(response)
