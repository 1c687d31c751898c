"""Linear RNNs as kernels: the Gram matrix at finite width, and descent in closed form."""

from typing import Any

import numpy as np

from tacit.statements import residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.ours._shared import draw_rnn, impulse_response
from tacit.theory.kernel import finite_width_gram, learning_curve


def _small_rnn(rng: np.random.Generator) -> dict[str, Any]:
    outputs, inputs = (int(size) for size in rng.integers(1, 3, size=2))
    instance = draw_rnn(rng, int(rng.integers(2, 6)), outputs, inputs)
    return {**instance, "length": int(rng.integers(2, 6))}


@statement(
    "ours/finite-width-gram",
    place="theory.kernel.finite_width_gram",
    words="the Gram matrix of all gradients of the impulse response is Q + P + Σ_{i<j, i'<k} P Q, "
    "from inner products of (W/√n)^j F and of (Wᵀ/√n)^j Cᵀ alone",
    draw=_small_rnn,
    tolerance=1e-11,
    mutations=[{"recurrent": 0.99}, {"shift": 0}],
)
def finite_width(
    W: Array, F: Array, C: Array, length: int, *, recurrent: float = 1.0, shift: int = 1
) -> float:
    """The product of the Jacobian with its transpose, each column by a complex step."""
    parts = [W, F, C]
    columns = []
    for number, part in enumerate(parts):
        for where in np.ndindex(part.shape):
            moved = part.astype(complex)
            moved[where] += 1e-30j
            given = [moved if at == number else other for at, other in enumerate(parts)]
            columns.append(np.imag(impulse_response(*given, length=length)).ravel() / 1e-30)
    jacobian = np.stack(columns, axis=1)
    gram = jacobian @ jacobian.T
    found = residual(gram, _formula(W, F, C, length, recurrent, shift))
    if (recurrent, shift) == (1.0, 1):
        found = max(found, residual(gram, finite_width_gram(W, F, C, length)))
    return found


def _formula(W: Array, F: Array, C: Array, length: int, recurrent: float, shift: int) -> Array:
    root, (outputs, n), inputs = np.sqrt(len(W)), C.shape, F.shape[1]
    powers = [np.linalg.matrix_power(W / root, j) for j in range(length)]
    q, p = [power @ F for power in powers], [power.T @ C.T for power in powers]
    G = np.zeros((length, outputs, inputs, length, outputs, inputs))
    for j, k in np.ndindex(length, length):
        block = np.einsum("ac,bd->abcd", np.eye(outputs), q[j].T @ q[k])
        block = block + np.einsum("ac,bd->abcd", p[j].T @ p[k], np.eye(inputs))
        for i, h in np.ndindex(j, k):
            inner = q[j - shift - i].T @ q[k - shift - h]
            block = block + recurrent * np.einsum("ac,bd->abcd", p[i].T @ p[h], inner) / n
        G[j, :, :, k] = block / n
    return G.reshape(length * outputs * inputs, -1)


def _linear_model(rng: np.random.Generator) -> dict[str, Any]:
    length, outputs, inputs = (int(size) for size in rng.integers([2, 1, 1], [6, 3, 3]))
    entries = length * outputs * inputs
    x = rng.normal(size=(int(rng.integers(1, 5)), length, inputs))
    return {
        "features": rng.normal(size=(entries, int(rng.integers(entries, 2 * entries)))),
        "start": rng.normal(size=(length, outputs, inputs)),
        "x": x,
        "y": rng.normal(size=(len(x), length, outputs)),
        "steps": int(rng.integers(1, 60)),
        "pace": float(rng.uniform(0.3, 1.02)),
    }


@statement(
    "ours/learning-curve",
    place="theory.kernel.learning_curve",
    words="descent on a model linear in its parameters has a closed form at every step, L_s = "
    "L_0 + B V diag((1 − (1 − rate σ²)^s)/σ) Uᵀ(y − A L_0), and diverges for rates above 2/σ₁²",
    draw=_linear_model,
    tolerance=1e-9,
    mutations=[{"half": 0.505}, {"bound": 2.02}],
)
def closed_form_descent(
    features: Array, start: Array, x: Array, y: Array, steps: int, pace: float, *,
    half: float = 0.5, bound: float = 2.0,
) -> float:  # fmt: skip
    """Explicit steps on the parameters θ of L = L_0 + features θ.

    The loss is `half` times the sum of squares; the rate is `pace` times the largest stable one.
    """
    length, outputs, inputs = start.shape

    def respond(response: Array) -> Array:
        """The outputs y_t = Σ_j L_j x_{t−j}."""
        table = np.zeros(y.shape)
        for t in range(length):
            for j in range(t + 1):
                table[:, t] += x[:, t - j] @ response[j].T
        return table

    units = np.eye(length * outputs * inputs).reshape(-1, length, outputs, inputs)
    A = np.stack([respond(unit).ravel() for unit in units], axis=1)
    design = A @ features
    largest = bound / np.linalg.eigvalsh(design.T @ design)[-1]
    rate, theta = pace * largest, np.zeros(features.shape[1])
    for _ in range(steps):
        error = respond(start + (features @ theta).reshape(start.shape)) - y
        theta = theta - rate * 2 * half * design.T @ error.ravel()
    expected = start + (features @ theta).reshape(start.shape)
    curve = learning_curve(features @ features.T, x, y, rate=rate, steps=steps, start=start)
    return max(
        residual(curve.response[0], expected),
        residual(curve.outputs[0], respond(expected)),
        residual(curve.largest_rate, largest),
    )
