"""The tangent kernel of a linear RNN of finite width, exactly and without Jacobians."""

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tacit._doors import door, real, whole
from tacit.theory.kernel._checks import checked_array, checked_length


@door(W=real(2), F=real(2), C=real(2), length=whole(1))
def finite_width_gram(
    W: ArrayLike, F: ArrayLike, C: ArrayLike, length: int
) -> Float[np.ndarray, "entries entries"]:
    """G, the inner products of the gradients of all entries of the impulse response.

    For L_j = n^{−(j+1)/2} C W^j F (kernel 9), with q_j = (W/√n)^j F, p_j = (Wᵀ/√n)^j Cᵀ and the
    inner products Q_{jb,kb'} = q_jb·q_kb'/n, P_{ja,ka'} = p_ja·p_ka'/n, the gradients by C, F and
    W give

        G_{jab,ka'b'} = δ_aa' Q_{jb,kb'} + δ_bb' P_{ja,ka'}
                        + Σ_{i<j, i'<k} P_{ia,i'a'} Q_{(j−1−i)b,(k−1−i')b'},

    where a is an output and b an input. The tangent kernel of outputs is T(x)ᵀ G T(x'), and G
    tends to D(ρ) of `lag_weights` like 1/√n. It costs 2 (length − 1) products with W; the Jacobian
    has n² columns.

    **Arguments:**

    - `W` (n, n), `F` (n, inputs), `C` (outputs, n): in the scaling of kernel (1).
    - `length`: the number of lags.

    Rows and columns are in the order of `response.reshape(-1)` for a response (length, outputs,
    inputs); with one input and output G is (length, length).
    """
    w, f, c = (
        checked_array("W", W, ("width", "width")),
        checked_array("F", F, ("width", "inputs")),
        checked_array("C", C, ("outputs", "width")),
    )
    lags, n = checked_length(length), len(w)
    if w.shape != (n, n) or len(f) != n or c.shape[1] != n:
        raise ValueError(
            f"W, F and C: received {w.shape}, {f.shape} and {c.shape}, they must be (n, n), (n, "
            "inputs) and (outputs, n)"
        )
    inputs, outputs = f.shape[1], len(c)
    q = _powers(w, f, lags)  # (lags, n, inputs)
    p = _powers(w.T, c.T, lags)
    Q = np.tensordot(q, q, (1, 1)) / n  # (lags, inputs, lags, inputs)
    P = np.tensordot(p, p, (1, 1)) / n
    G = np.zeros((lags, outputs, inputs, lags, outputs, inputs))
    for a in range(outputs):
        G[:, a, :, :, a, :] += Q
    for b in range(inputs):
        G[:, :, b, :, :, b] += P
    for i in range(lags - 1):
        for k in range(lags - 1):
            product = np.einsum("ac,jbkd->jabkcd", P[i, :, k], Q[: lags - 1 - i, :, : lags - 1 - k])
            G[i + 1 :, :, :, k + 1 :] += product
    size = lags * outputs * inputs
    flat = G.reshape(size, size)
    return (flat + flat.T) / 2  # symmetric to the last bit


def _powers(
    matrix: Float[np.ndarray, "n n"], vectors: Float[np.ndarray, "n m"], length: int
) -> Float[np.ndarray, "length n m"]:
    """(matrix/√n)^j vectors for j < length."""
    scale = 1 / np.sqrt(len(matrix))
    states = [vectors]
    for _ in range(length - 1):
        states.append((matrix @ states[-1]) * scale)
    return np.stack(states)
