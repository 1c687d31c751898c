"""Linear systems without descent: ARX, observer and eigensystem realisation, a subspace method.

They are starts for the polish, and what an identified system is compared with. Each takes scaled
records and returns (A, B, C, D) of a given order, not always a stable one.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_discrete_lyapunov

from tacit.estimators._records import Records
from tacit.measures import hankel

Floats = np.ndarray


class Matrices(NamedTuple):
    """x_{t+1} = A x_t + B u_t, y_t = C x_t + D u_t."""

    A: Floats
    B: Floats
    C: Floats
    D: Floats


class Regression(NamedTuple):
    """y_t = Σ_{j=1}^k F_j y_{t−j} + Σ_{j=0}^k G_j u_{t−j} + constant, and its errors."""

    F: Floats  # (k, outputs, outputs)
    G: Floats  # (k + 1, outputs, inputs)
    errors: Floats

    def criterion(self, price: float) -> float:
        """N log det of the errors' covariance, plus a price for each parameter."""
        count = len(self.errors)
        _, size = np.linalg.slogdet(
            self.errors.T @ self.errors / count + 1e-20 * np.eye(len(self.F[0]))
        )
        return float(count * size + price * (self.F.size + self.G.size))


def autoregression(records: Records, order: int) -> Regression:
    """Least squares for the one-step prediction (ARX)."""
    rows, targets = [], []
    for U, Y in zip(records.measured, records.outputs, strict=True):
        count = len(Y) - order
        if count < 1:
            continue
        past = [Y[order - j : len(Y) - j] for j in range(1, order + 1)]
        drive = [U[order - j : len(U) - j] for j in range(order + 1)]
        rows.append(np.concatenate([*past, *drive, np.ones((count, 1))], axis=1))
        targets.append(Y[order:])
    matrix, target = np.concatenate(rows), np.concatenate(targets)
    found = np.linalg.lstsq(matrix, target, rcond=1e-10)[0]
    outputs, inputs = target.shape[1], records.inputs
    F = found[: order * outputs].reshape(order, outputs, outputs).transpose(0, 2, 1)
    G = found[order * outputs : -1].reshape(order + 1, inputs, outputs).transpose(0, 2, 1)
    return Regression(F, G, target - matrix @ found)


def longest_regression(records: Records) -> int:
    """The largest k for which a regression has five samples for each of its coefficients."""
    outputs = records.outputs[0].shape[1]
    shortest = max(len(one) for one in records.outputs)
    return max(1, min(shortest // (5 * (outputs + records.inputs)), shortest // 4))


def arx_system(records: Records, order: int) -> Matrices:
    """The ARX model with as many lags as the order needs, as a system."""
    outputs = records.outputs[0].shape[1]
    lags = -(-order // outputs)
    system = observer_form(autoregression(records, lags))
    return system if lags * outputs == order else truncated(stabilised(system), order)


def observer_form(fit: Regression) -> Matrices:
    """The system that an ARX model simulates: a block of states for each of its lags."""
    lags, outputs, _ = fit.F.shape
    size = lags * outputs
    A, B = np.zeros((size, size)), np.zeros((size, fit.G.shape[2]))
    D = fit.G[0]
    for j in range(lags):
        block = slice(j * outputs, (j + 1) * outputs)
        A[block, :outputs] = fit.F[j]
        B[block] = fit.G[j + 1] + fit.F[j] @ D
        if j + 1 < lags:
            A[block, (j + 1) * outputs : (j + 2) * outputs] = np.eye(outputs)
    return Matrices(A, B, np.eye(outputs, size), D)


def observer_response(records: Records, lags: int, length: int) -> Floats:
    """Markov parameters h_0 = D, h_j = C A^{j−1} B from a long regression (OKID; Juang, 1993)."""
    fit = autoregression(records, lags)
    response = np.zeros((length, *fit.G[0].shape))
    for j in range(length):
        if j <= lags:
            response[j] = fit.G[j]
        for i in range(1, min(j, lags) + 1):
            response[j] += fit.F[i - 1] @ response[j - i]
    return response


def observer_lags(records: Records) -> int:
    """The regression's length by AIC."""
    most = longest_regression(records)
    tried = sorted({min(most, lags) for lags in (3, 6, 12, 24, 48)})
    return min(tried, key=lambda lags: autoregression(records, lags).criterion(2.0))


def realised(response: Floats, order: int) -> Matrices:
    """The eigensystem realisation (ERA) of h_0, h_1, …: order states (Juang and Pappa, 1985).

    The Hankel matrix of h_1, h_2, … is truncated to its leading singular values and split evenly.
    """
    markov = response[1:]
    length, outputs, inputs = markov.shape
    rows = length // 2
    U, values, V = np.linalg.svd(hankel(markov[:-1], rows=rows), full_matrices=False)
    shifted = hankel(markov[1:], rows=rows)
    root = np.sqrt(np.maximum(values[:order], 1e-300))
    A = (U[:, :order] / root).T @ shifted @ (V[:order] / root[:, None]).T
    B = root[:, None] * V[:order, :inputs]
    return Matrices(A, B, U[:outputs, :order] * root, response[0])


def subspace_system(records: Records, order: int, *, depth: int | None = None) -> Matrices:
    """States from the past that predict the future, canonical weights (CVA; Larimore, 1990).

    Future outputs are regressed on the past and on future inputs; what the past explains is
    truncated to `order` combinations of it, and these states are regressed on themselves.
    """
    return subspace_systems(records, [order], depth=depth)[0]


def subspace_systems(
    records: Records, orders: list[int], *, depth: int | None = None
) -> list[Matrices]:
    """`subspace_system` at several orders, with one factorisation."""
    outputs, inputs = records.outputs[0].shape[1], records.inputs
    depth = depth or max(2, min(longest_regression(records), max(10, 2 * max(orders))))
    past, future, drive = [], [], []
    for U, Y in zip(records.measured, records.outputs, strict=True):
        count = len(Y) - 2 * depth + 1
        if count < 2:
            continue
        both = np.concatenate([Y, U], axis=1)
        past.append(_windows(both, 0, depth, count))
        future.append(_windows(Y, depth, depth, count))
        drive.append(_windows(U, depth, depth, count))
    if not past:
        raise np.linalg.LinAlgError("records too short for a subspace method")
    P, F, G = (np.concatenate(some) for some in (past, future, drive))
    P, F, G = (one - one.mean(axis=0) for one in (P, F, G))
    Q, _ = np.linalg.qr(G)
    free_past, free_future = P - Q @ (Q.T @ P), F - Q @ (Q.T @ F)
    left, right = _root(free_future), _root(free_past)
    cross = free_future.T @ free_past / len(P)
    seen = np.linalg.solve(left, np.linalg.solve(right, cross.T).T)
    _, _, V = np.linalg.svd(seen, full_matrices=False)
    ends = np.cumsum([len(one) for one in past])[:-1]
    found = []
    for order in orders:
        states = np.split(P @ np.linalg.solve(right.T, V[:order].T), ends)
        now, later, out = [], [], []
        for number, one in enumerate(states):
            u = drive[number][:, :inputs]
            now.append(np.concatenate([one, u], axis=1)[:-1])
            later.append(one[1:])
            out.append(future[number][:-1, :outputs])
        here = np.concatenate(now)
        level = here.mean(axis=0)
        regressed = np.linalg.lstsq(
            here - level,
            np.concatenate([np.concatenate(later), np.concatenate(out)], axis=1),
            rcond=1e-12,
        )[0].T
        k = min(order, V.shape[0])
        found.append(
            Matrices(regressed[:k, :k], regressed[:k, k:], regressed[k:, :k], regressed[k:, k:])
        )
    return found


def _windows(signal: Floats, start: int, depth: int, count: int) -> Floats:
    """Rows of `depth` samples side by side, one row for each start."""
    return np.concatenate([signal[start + j : start + j + count] for j in range(depth)], axis=1)


def _root(matrix: Floats) -> Floats:
    """A lower triangular root of the covariance."""
    gram = matrix.T @ matrix / len(matrix)
    level = np.trace(gram) / len(gram)
    return np.linalg.cholesky(gram + (1e-9 * level + 1e-300) * np.eye(len(gram)))


def stabilised(system: Matrices, radius: float = 0.999) -> Matrices:
    """Poles outside the circle are mirrored into it, and none is larger than `radius`."""
    poles, vectors = np.linalg.eig(system.A)
    size = np.abs(poles)
    if (size <= radius).all():
        return system
    mirrored = np.where(size > 1, 1 / np.maximum(size, 1e-300), size)
    mirrored = np.minimum(mirrored, radius)
    poles = np.where(size > 0, poles / np.maximum(size, 1e-300) * mirrored, poles)
    A = (vectors * poles) @ np.linalg.inv(vectors)
    return system._replace(A=A.real)


def truncated(system: Matrices, order: int) -> Matrices:
    """Balanced truncation of a stable system: the states of the largest Hankel values."""
    left, right, values = _balancing(system)
    root = np.sqrt(np.maximum(values[:order], 1e-300))
    T, S = right[:, :order] / root, (left[:, :order] / root).T
    return Matrices(S @ system.A @ T, S @ system.B, system.C @ T, system.D)


def hankel_values(system: Matrices) -> Floats:
    """Hankel singular values of a stable system, from its Gramians."""
    return _balancing(system)[2]


def _balancing(system: Matrices) -> tuple[Floats, Floats, Floats]:
    reach = _half(solve_discrete_lyapunov(system.A, system.B @ system.B.T))
    watch = _half(solve_discrete_lyapunov(system.A.T, system.C.T @ system.C))
    U, values, V = np.linalg.svd(watch.T @ reach)
    return watch @ U, reach @ V.T, values


def _half(gramian: Floats) -> Floats:
    values, vectors = np.linalg.eigh((gramian + gramian.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))
