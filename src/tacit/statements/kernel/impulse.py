"""Recurrent and convolutional networks as the same maps: Prop. 2.1, stability, Thm 3.3(a)."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.kernel._shared import (
    convolve,
    draw_network,
    draw_networks,
    draw_variances,
    run,
)


def _network_and_input(rng: np.random.Generator) -> dict[str, Any]:
    width, length, inputs, outputs = (int(n) for n in rng.integers([1, 1, 1, 1], [8, 8, 4, 4]))
    W, F, C = draw_network(rng, width, inputs, outputs, 0.5, 1.0, 1.0)
    return {"W": W, "F": F, "C": C, "x": rng.normal(size=(length, inputs))}


@statement(
    "kernel/proposition2.1a",
    place="Proposition 2.1(a), (9)",
    words="the network with W, F, C is the convolution with L_j = n^{−(j+1)/2} C W^j F",
    draw=_network_and_input,
    tolerance=1e-12,
    mutations=[{"more": 0}, {"more": 2}],
)
def proposition_2_1_a(W: Array, F: Array, C: Array, x: Array, *, more: int = 1) -> float:
    """The recursion (1) against the double sum (5) with powers of W."""
    power, n = np.linalg.matrix_power, len(W)
    response = [n ** (-(j + more) / 2) * C @ power(W, j) @ F for j in range(len(x))]
    return residual(convolve(np.array(response), x), run(W, F, C, x))


def _coefficients(rng: np.random.Generator) -> dict[str, Any]:
    length, outputs, inputs = (int(n) for n in rng.integers([2, 1, 1], [6, 4, 4]))
    return {
        "response": rng.normal(size=(length, outputs, inputs)),
        "nodes": np.cos(np.pi * (np.arange(length) + rng.uniform(0.3, 0.7)) / length),
        "x": rng.normal(size=(length, inputs)),
    }


@statement(
    "kernel/proposition2.1b",
    place="Proposition 2.1(b), with its construction (33)–(35)",
    words="any T coefficients are those of a network with T n_x n_y states: for each input and "
    "output T states with distinct eigenvalues λ_k and Σ_k c_k λ_k^t = L_t, and W = √n diag λ, "
    "C = √n c",
    draw=_coefficients,
    tolerance=1e-10,  # the Vandermonde systems have size 5 at most
    mutations=[{"copies_less": 1}],
    errata=[
        Erratum(
            place="(34), (35)",
            as_printed="with W = diag λ and F = 1 the coefficients of (9) are Σ_k C_k λ_k^t",
            as_corrected="(9) has a further factor n^{−(t+1)/2}: W and C must be √n times as large",
            constants={"scaled": False},
            gravity="gap in a proof",
            right_in="(9)",
        )
    ],
)
def proposition_2_1_b(
    response: Array, nodes: Array, x: Array, *, scaled: bool = True, copies_less: int = 0
) -> float:
    """The recursion (1) of the constructed network against the convolution."""
    length, outputs, inputs = response.shape
    n = length * outputs * inputs
    F, C = np.zeros((n, inputs)), np.zeros((outputs, n))
    powers = nodes ** np.arange(length)[:, None]
    pairs = [(a, b) for a in range(outputs) for b in range(inputs)]
    for place, (a, b) in enumerate(pairs[: len(pairs) - copies_less]):
        states = slice(place * length, (place + 1) * length)
        F[states, b] = 1
        C[a, states] = np.linalg.solve(powers, response[:, a, b])
    W = np.diag(np.tile(nodes, outputs * inputs))
    root = np.sqrt(n) if scaled else 1.0
    made = run(root * W, F, root * C, x)
    return residual(made, convolve(response, x))


@statement(
    "kernel/stability",
    place="section 2, “Stability”",
    words="the spectral radius of W/√n tends to √ν_W, so that the network is stable for ν_W < 1",
    draw=lambda rng: {"seed": int(rng.integers(2**31)), "nu_w": 10 ** rng.uniform(-3, -0.2)},
    tolerance=0.2,  # twice 1/√n at n = 100; the edge of the disc fluctuates by less
    mutations=[{"power": 0.45}, {"power": 0.55}],
    errata=[
        Erratum(
            as_printed="λ_max(W)/√n → ν_W",
            as_corrected="√ν_W; the condition ν_W < 1 is the same",
            constants={"power": 1.0},
            gravity="misprint",
            glyph="a root sign over ν_W, which may be lost",
        )
    ],
    instances=10,
)
def stability(seed: int, nu_w: float, *, power: float = 0.5) -> float:
    """Eigenvalues of one W at each of two widths."""
    found = 0.0
    for width in (100, 200):
        rng = np.random.default_rng([seed, width])
        W = np.sqrt(nu_w) * rng.normal(size=(width, width))
        radius = np.max(np.abs(np.linalg.eigvals(W))) / np.sqrt(width)
        found = max(found, residual(radius, nu_w**power))
    return found


_LAGS, _INPUTS, _COUNT = 5, 64, 20
_SPREAD = 1.0  # √n times the standard deviation of a second moment


@statement(
    "kernel/theorem3.3a",
    place="Theorem 3.3(a)",
    words="as n → ∞ the entries of L_0, L_1, … become independent Gaussians of "
    "variance ν_C ν_F ν_W^j",
    draw=lambda rng: {"seed": int(rng.integers(2**31)), **draw_variances(rng)},
    tolerance=6.0,  # standard deviations
    mutations=[{"shift": 1}, {"factor": 1.1}, {"factor": 0.9}, {"fourth": 2.7}],
    instances=6,
)
def theorem_3_3_a(
    seed: int, nu_w: float, nu_f: float, nu_c: float, *,
    shift: int = 0, factor: float = 1.0, fourth: float = 3.0,
) -> float:  # fmt: skip
    """Moments over the outputs of twenty networks at each of two widths.

    A network has as many outputs as states and 64 inputs. Over so many, the second moment of a lag
    is nearly the trace of (WᵀW)^j, whose standard deviation is below 2 j/n, as in Theorem 4.1, so
    below 1/√n at lag 4 and n = 64. It is divided by √20 for the mean of twenty networks, which is
    judged, and so is each network, at eight standard deviations. The kurtosis of the outputs varies
    less; its bias is 2/n.
    """
    lags = np.arange(_LAGS)
    expected = factor * nu_c * nu_f * nu_w ** (lags + float(shift))
    found = 0.0
    for width in (64, 256):
        sizes = {"inputs": _INPUTS, "outputs": width, "nu_w": nu_w, "nu_f": nu_f, "nu_c": nu_c}
        seconds, fourths = [], []
        for W, F, C in draw_networks(seed, width, _COUNT, **sizes):
            responses = _responses(W, F, C, _LAGS)
            flat = (responses / np.sqrt(expected)[:, None, None]).reshape(_LAGS, -1)
            seconds.append(flat @ flat.T / flat.shape[1] - np.eye(_LAGS))
            square = responses * responses
            kurtosis = np.mean(square * square, axis=1) / np.mean(square, axis=1) ** 2
            fourths.append(np.mean(kurtosis, axis=1) / fourth - np.ones(_LAGS))
        for values in (np.array(seconds), np.array(fourths)):
            unit = _SPREAD / np.sqrt(width)
            found = max(found, residual(values, 0 * values, scale=unit) * 6 / 8)  # chosen
            mean = np.mean(values, axis=0)
            found = max(found, residual(mean, 0 * mean, scale=unit / np.sqrt(_COUNT)))
    return found


def _responses(W: Array, F: Array, C: Array, lags: int) -> Array:
    """The responses (lags, outputs, inputs) to impulses in all inputs at once."""
    scale, state, found = np.sqrt(len(W)), F, []
    for _ in range(lags):
        found.append(C @ state / scale)
        state = W @ state / scale
    return np.array(found)
