"""Steps of the proof of Theorem 3.3: (44), (55), Lemma C.1 with (70), and (79)."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements._shared_systems import white_sequences
from tacit.statements.kernel._shared import draw_network, run


def _perturbed(rng: np.random.Generator) -> dict[str, Any]:
    width, length, inputs, outputs = (int(n) for n in rng.integers([2, 2, 1, 1], [7, 6, 4, 4]))
    W, F, C = draw_network(rng, width, inputs, outputs, 0.5, 1.0, 1.0)
    by_W, by_F, by_C = draw_network(rng, width, inputs, outputs, 1.0, 1.0, 1.0)
    return {
        "W": W, "F": F, "C": C, "by_W": by_W, "by_F": by_F, "by_C": by_C,
        "x": rng.normal(size=(length, inputs)),
    }  # fmt: skip


@statement(
    "kernel/equation44",
    place="(44), in the proof of Theorem 3.3",
    words="a change Δ of the parameters changes h_t by (W h̃_{t−1} + Δ_W h_{t−1})/√n + Δ_F x_t and "
    "y_t by (C h̃_t + Δ_C h_t)/√n to first order",
    draw=_perturbed,
    tolerance=1e-12,
    mutations=[{"sign": -1.0}],
    errata=[
        Erratum(
            as_printed="Δ_W h_t in the change of h_t",
            as_corrected="Δ_W h_{t−1}",
            constants={"delayed": False},
            gravity="misprint",
            right_in="the recursion for q_t that follows",
            glyph="the index of h",
        ),
        Erratum(
            as_printed="Δ_C h_t in the change of y_t",
            as_corrected="Δ_C h_t/√n",
            constants={"scaled": False},
            gravity="misprint",
            right_in="(1), whose output has 1/√n",
        ),
    ],
)
def equation_44(
    W: Array, F: Array, C: Array, by_W: Array, by_F: Array, by_C: Array, x: Array, *,
    delayed: bool = True, scaled: bool = True, sign: float = 1.0,
) -> float:  # fmt: skip
    """Both recursions together against a complex step of the network's outputs."""
    scale = np.sqrt(len(W))
    h = h_tilde = np.zeros(len(W))
    outputs = []
    for row in x:
        before, h = h, W @ h / scale + F @ row
        moved = before if delayed else h
        h_tilde = (W @ h_tilde + sign * by_W @ moved) / scale + by_F @ row
        outputs.append(C @ h_tilde / scale + by_C @ h / (scale if scaled else 1))
    step = 1e-30j
    exact = np.imag(run(W + step * by_W, F + step * by_F, C + step * by_C, x)) / 1e-30
    return residual(outputs, exact)


def _states(rng: np.random.Generator) -> dict[str, Any]:
    width, outputs = (int(n) for n in rng.integers([2, 1], [6, 4]))
    rows = white_sequences(rng, outputs * width, 1).reshape(-1, outputs, width)
    ensemble = np.concatenate([rows, -rows])  # mean zero and the identity as second moment
    return {
        **{name: rng.normal(size=width) for name in ("h", "h_tilde", "h2", "h2_tilde")},
        "ensemble": ensemble,
        "nu_c": rng.uniform(0.3, 2),
    }


@statement(
    "kernel/equation55",
    place="(55), in the proof of Theorem 3.3",
    words="over independent C and Δ_C of variances ν_C and 1 the changes of two outputs have the "
    "second moment (ν_C h̃·h̃' + h·h')/n times the identity",
    draw=_states,
    tolerance=1e-12,
    mutations=[{"second": 0.0}],
    errata=[
        Erratum(
            as_printed="E[(C h̃_t + Δ_C h_t)(C h̃'_s + Δ_C h'_s)ᵀ], which tends to "
            "(ν_C E[H̃H̃'] + E[HH'])I",
            as_corrected="this divided by n: both factors lack 1/√n",
            constants={"scaled": False},
            gravity="misprint",
            right_in="(56), (57), which are the limit with 1/n",
        )
    ],
)
def equation_55(
    h: Array, h_tilde: Array, h2: Array, h2_tilde: Array, ensemble: Array, nu_c: float, *,
    scaled: bool = True, second: float = 1.0,
) -> float:  # fmt: skip
    """The mean over all pairs from an ensemble with these moments."""
    n, outputs = len(h), ensemble.shape[1]
    root = np.sqrt(n) if scaled else 1.0
    total = np.zeros((outputs, outputs))
    for C in np.sqrt(nu_c) * ensemble:
        for by_C in ensemble:
            here, there = C @ h_tilde + by_C @ h, C @ h2_tilde + by_C @ h2
            total += np.outer(here, there) / root**2
    formula = (nu_c * h_tilde @ h2_tilde + second * h @ h2) / n
    scale = (np.linalg.norm(h_tilde) + np.linalg.norm(h)) ** 2 * max(1, nu_c) / n  # chosen
    return residual(total / len(ensemble) ** 2, formula * np.eye(outputs), scale=float(scale))


_STEPS, _COUNT, _SPREAD = 3, 20, 2.5


def _g(q: Array) -> Array:
    """A Lipschitz function whose values have a mean and are correlated in time."""
    return np.tanh(q) + 1.5  # chosen


def _state_evolution(nu: Array, start: float, drive: Array, *, lacking: int) -> Array:
    """(70), step by step, for L = 2, G₁ = tanh q + 3/2, G₂ = u and Gaussian u: cov(Q_1, Q_2, …).

    `nu` holds the variances that (70f) and (70g) take for the two terms; (70d) leaves out
    `lacking` of the earliest times.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    weights = weights / np.sum(weights)
    covariance = np.zeros((_STEPS + 1, _STEPS + 1))  # of Q_0, Q_1, …
    covariance[0, 0] = start
    parts = [np.zeros((_STEPS, _STEPS)) for _ in range(2)]  # cov(R̃) of both terms
    means = np.zeros((2, _STEPS))
    for t in range(_STEPS):
        roots = np.sqrt(np.diag(covariance)[: t + 1])
        means[0, t] = weights @ _g(roots[t] * nodes)
        second = np.array(
            [[_pair_mean(covariance, a, b, nodes, weights) for a in range(t + 1)]
             for b in range(t + 1)]
        )  # fmt: skip
        of_z = [second - np.outer(means[0, : t + 1], means[0, : t + 1]), drive[: t + 1, : t + 1]]
        for part, z, variance in zip(parts, of_z, nu[:2], strict=True):
            by, used = np.zeros(t), slice(min(lacking, t), t)
            by[used] = np.linalg.lstsq(z[used, used], z[used, t], rcond=None)[0]  # (70d)
            rest = z[t, t] - by @ z[:t, t]  # (70e)
            part[t, :t] = part[:t, t] = part[:t, :t] @ by
            part[t, t] = by @ part[:t, :t] @ by + variance * rest  # (70f)
        for s in range(t + 1):
            total = parts[0][t, s] + parts[1][t, s] + nu[2] * means[0, t] * means[0, s]
            covariance[t + 1, s + 1] = covariance[s + 1, t + 1] = total
    return covariance[1:, 1:]


def _pair_mean(covariance: Array, a: int, b: int, nodes: Array, weights: Array) -> float:
    """E g(Q_a) g(Q_b), by a product of quadratures."""
    one, two, both = covariance[a, a], covariance[b, b], covariance[a, b]
    along = both / one
    rest = np.sqrt(max(two - along * both, 0.0))
    first = np.sqrt(one) * nodes
    values = _g(along * first[:, None] + rest * nodes[None, :])
    return float(weights * _g(first) @ values @ weights)


@statement(
    "kernel/lemmaC.1",
    place="Lemma C.1, (66)–(70)",
    words="q_{t+1} = Σ_ℓ A_ℓ G_ℓ(q_t, u_t)/√n, with A_ℓ of variance ν_ℓ used at every step, "
    "behaves like the Gaussian process that (70) defines, with ν_ℓ P in (70f)",
    draw=lambda rng: {
        "seed": int(rng.integers(2**31)),
        "first": rng.uniform(0.3, 1),
        "second": rng.uniform(1.5, 3),
        "start": rng.uniform(0.5, 2),
    },
    tolerance=6.0,  # standard deviations
    mutations=[{"mean": False}],
    errata=[
        Erratum(
            place="(70f)",
            as_printed="N(0, ν_W P_tℓ) for every ℓ",
            as_corrected="N(0, ν_ℓ P_tℓ); for Δ_W, of variance 1, (48) uses P_t2. (Residuals "
            "here are in standard deviations.)",
            constants={"same": True},
            gravity="misprint",
            right_in="(70a), (48)",
            glyph="the index of ν",
        ),
        Erratum(
            place="(74), (98), (100)",
            as_printed="N(0, P_{t+1,ℓ}) with P = E(Z̃ − Σ Z̃F)ᵀ(Z̃ − Σ Z̃F)",
            as_corrected="N(0, ν_ℓ P_{t+1,ℓ}), with the variance of the entries of A_ℓ",
            constants={"plain": True},
            gravity="misprint",
            right_in="(48)",
        ),
        Erratum(
            place="(70d)",
            as_printed="F_t = min over F_1, …, F_{t−1}",
            as_corrected="the arguments at which it is least, over F_1, …, F_t: the sum has t "
            "terms, and without the last Z̃_0 is not used",
            constants={"lacking": 1},
            gravity="misprint",
            right_in="the sums in (70d) to (70f)",
        ),
    ],
    instances=6,
)
def lemma_c_1(
    seed: int, first: float, second: float, start: float, *,
    same: bool = False, plain: bool = False, mean: bool = True, lacking: int = 0,
) -> float:  # fmt: skip
    """Second moments over the entries of q_1, q_2, q_3, with fixed A_ℓ, at two widths.

    Each product with A_ℓ adds at most 2/n to the relative variance of a second moment, so after
    three its relative standard deviation is below 2.5/√n. The mean over twenty draws is judged, and
    so is each draw, at eight standard deviations. The u_t are Gaussian with a common part.
    """
    nu = np.array([first, first if same else second, first if mean else 0.0])
    if plain:
        nu[:2] = 1.0
    drive = np.full((_STEPS, _STEPS), 0.5) + 0.5 * np.eye(_STEPS)  # chosen
    expected = _state_evolution(nu, start, drive, lacking=lacking)
    size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    found = 0.0
    for width in (64, 256):
        gaps = []
        for index in range(_COUNT):
            rng = np.random.default_rng([seed, width, index])
            one = np.sqrt(first / width) * rng.normal(size=(width, width))
            two = np.sqrt(second / width) * rng.normal(size=(width, width))
            common, q, path = rng.normal(size=width), np.sqrt(start) * rng.normal(size=width), []
            for _ in range(_STEPS):
                u = np.sqrt(0.5) * (common + rng.normal(size=width))  # chosen
                q = one @ _g(q) + two @ u
                path.append(q)
            gaps.append((np.array(path) @ np.array(path).T / width - expected) / size)
        alone = np.max(np.abs(gaps)) * np.sqrt(width) / _SPREAD
        together = np.max(np.abs(np.mean(gaps, axis=0))) * np.sqrt(width * _COUNT) / _SPREAD
        found = max(found, float(alone) * 6 / 8, float(together))  # chosen
    return found


@statement(
    "kernel/equation79",
    place="(79)–(84), in the proof of Lemma C.1",
    words="A with A Z/√n = R given is H†(R) + H^⊥(Ã), H^⊥ the projection onto the kernel of "
    "H: A ↦ A Z/√n",
    draw=lambda rng: {
        "Z": rng.normal(size=(6, int(rng.integers(1, 5)))),
        "A": rng.normal(size=(6, 6)),
        "other": rng.normal(size=(6, 6)),
    },
    tolerance=1e-10,
    mutations=[{"power": 1.0}],
    errata=[
        Erratum(
            place="after (79)",
            as_printed="H^⊥ projects onto the subspace orthogonal to the kernel of H",
            as_corrected="onto the kernel itself, as in (93): A must satisfy the conditions "
            "whatever Ã is",
            constants={"onto_kernel": False},
            gravity="misprint",
            right_in="(93)",
        )
    ],
)
def equation_79(
    Z: Array, A: Array, other: Array, *, onto_kernel: bool = True, power: float = 0.5
) -> float:
    """The conditions on the constructed A, with H as a matrix and its pseudo-inverse by SVD."""
    n = len(A)
    H = np.kron(np.eye(n), Z.T / np.sqrt(n))
    inverse = np.linalg.pinv(H)
    R = A @ Z / n**power
    kept = inverse @ H @ np.ravel(other)
    made = inverse @ np.ravel(R) + (np.ravel(other) - kept if onto_kernel else kept)
    return residual(made.reshape(n, n) @ Z / np.sqrt(n), A @ Z / np.sqrt(n))
