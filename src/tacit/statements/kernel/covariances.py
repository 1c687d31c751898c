"""Steps of the proof of Theorem 3.3: the states and their covariances, (41)–(43), (45)–(53)."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.kernel._shared import draw_network, draw_variances, impulse_response


def _responses(W: Array, by_W: Array, F: Array, by_F: Array, steps: int) -> tuple[Array, Array]:
    """q_{t,1} and q_{t,2}, t < `steps`, by the recursion after (44), perhaps of many networks."""
    scale = np.sqrt(W.shape[-1])
    one, two = [F], [by_F]
    for _ in range(steps - 1):
        one, two = [*one, W @ one[-1] / scale], [*two, (W @ two[-1] + by_W @ one[-1]) / scale]
    return np.stack(one), np.stack(two)


def _perturbed(rng: np.random.Generator) -> dict[str, Any]:
    width, length, inputs = (int(n) for n in rng.integers([2, 2, 1], [7, 6, 4]))
    W, F, _ = draw_network(rng, width, inputs, 1, 0.5, 1.0, 1.0)
    by_W, by_F, _ = draw_network(rng, width, inputs, 1, 1.0, 1.0, 1.0)
    return {"W": W, "F": F, "by_W": by_W, "by_F": by_F, "x": rng.normal(size=(length, inputs))}


@statement(
    "kernel/equation50",
    place="(41), (42), (45) and (50)",
    words="h_t = Σ_j q_{j,1} x_{t−j} and its change h̃_t = Σ_j q_{j,2} x_{t−j}, where "
    "q_{t+1} = (W z_{t1} + Δ_W z_{t2})/√n with z_{t1} = q_t and z_{t2} = [0, q_{t,1}]",
    draw=_perturbed,
    tolerance=1e-12,
    mutations=[{"mixed": 0.9}, {"power": 0.55}],
    errata=[
        Erratum(
            place="(50), and the display before it",
            as_printed="[h_t, h̃_t] = Σ_j q_j [x_{t−j}; x_{t−j}]",
            as_corrected="[Σ_j q_{j,1} x_{t−j}, Σ_j q_{j,2} x_{t−j}]: the product as printed is "
            "the sum h_t + h̃_t of the two",
            constants={"stacked": True},
            gravity="misprint",
            right_in="(51), which uses each column by itself",
        )
    ],
)
def equation_50(
    W: Array, F: Array, by_W: Array, by_F: Array, x: Array, *,
    mixed: float = 1.0, power: float = 0.5, stacked: bool = False,
) -> float:  # fmt: skip
    """The convolutions against the states of the network and complex steps of them."""
    n, inputs = F.shape
    q, path = np.concatenate([F, by_F], axis=1), []
    for _ in x:
        path.append(q)
        shifted = np.concatenate([np.zeros_like(F), mixed * q[:, :inputs]], axis=1)
        q = (W @ q + by_W @ shifted) / n**power
    made = []
    for t in range(len(x)):
        parts = [
            np.stack([path[j][:, :inputs] @ x[t - j], path[j][:, inputs:] @ x[t - j]])
            if not stacked
            else np.stack([path[j] @ np.tile(x[t - j], 2)] * 2)
            for j in range(t + 1)
        ]
        made.append(np.sum(parts, axis=0))
    h, exact = np.zeros(n, complex), []
    for row in x:
        h = (W + 1e-30j * by_W) @ h / np.sqrt(n) + (F + 1e-30j * by_F) @ row
        exact.append(np.stack([h.real, h.imag / 1e-30]))
    return residual(made, exact)


_STEPS, _INPUTS = 4, 16
_MANY = ((24, 100), (72, 64))  # widths, the second three times the first, and how many networks


def _settings(rng: np.random.Generator) -> dict[str, Any]:
    nu = {**draw_variances(rng), "nu_f": rng.uniform(1, 3)}
    return {"seed": int(rng.integers(2**31)), **nu}


def _draw_responses(seed: int, width: int, count: int, nu_w: float, nu_f: float) -> Any:
    """q_{t,1} and q_{t,2} of many networks, (steps, networks, n, inputs)."""
    rng = np.random.default_rng([seed, width])
    W, by_W = np.array([[[np.sqrt(nu_w)]], [[1.0]]])[:, None] * rng.normal(
        size=(2, count, width, width)
    )
    F, by_F = np.array([[[np.sqrt(nu_f)]], [[1.0]]])[:, None] * rng.normal(
        size=(2, count, width, _INPUTS)
    )
    return _responses(W, by_W, F, by_F, _STEPS)


def _in_errors(gaps: list[Array]) -> float:
    """The largest mean over the networks, their first axis, in standard errors of that mean.

    Means at n = 24 and n = 72 are combined so that what is of order 1/n cancels.
    """
    total = variance = 0.0
    for weight, of_width in zip((-0.5, 1.5), gaps, strict=True):
        total = total + weight * np.mean(of_width, axis=0)
        variance = variance + weight**2 * np.var(of_width, axis=0) / len(of_width)  # chosen
    found = float(np.max(np.abs(total) / np.sqrt(variance)))
    return found if np.isfinite(found) else np.inf


def _tau(nu_w: float, nu_f: float, by_w: float, by_f: float, first: float) -> Array:
    """τ_{t1} and τ_{t2} of (49), (2, steps)."""
    t = np.arange(_STEPS)
    return np.stack([first * nu_f * nu_w**t, by_w * t * nu_f * nu_w ** (t - 1.0) + by_f * nu_w**t])


@statement(
    "kernel/equation49",
    place="(43) and (46)–(49), in the proof of Theorem 3.3",
    words="as n → ∞ the rows of q_t are independent at different t, with covariance τ_{t1}I and "
    "τ_{t2}I: τ_{t+1,1} = ν_W τ_{t1}, τ_{t+1,2} = ν_W τ_{t2} + τ_{t1}, so τ_{t1} = ν_F ν_W^t and "
    "τ_{t2} = tν_Fν_W^{t−1} + ν_W^t",
    draw=_settings,
    tolerance=6.0,  # standard errors
    mutations=[{"by_w": 0.9}, {"by_f": 1.1}, {"first": 0.9}, {"cross": 0.1}],
    errata=[
        Erratum(
            place="after (46)",
            as_printed="since q₀ = [F, Δ_F], τ_{t1} = ν_F and τ_{t2} = 1",
            as_corrected="τ_{01} = ν_F and τ_{02} = 1. (Residuals here are in standard errors.)",
            constants={"frozen": True},
            gravity="misprint",
            right_in="(49) at t = 0",
            glyph="the index t of both τ",
        )
    ],
    instances=6,
)
def equation_49(
    seed: int, nu_w: float, nu_f: float, nu_c: float, *,
    by_w: float = 1.0, by_f: float = 1.0, first: float = 1.0, cross: float = 0.0,
    frozen: bool = False,
) -> float:  # fmt: skip
    """Second moments over the rows and inputs of many networks at two widths.

    Inputs have columns of their own and average out. The moments are divided by √(τ τ') and judged
    in standard errors. Those of different times, and of both parts, must be zero.
    """
    tau = _tau(nu_w, nu_f, by_w, by_f, first).ravel()
    if frozen:
        tau = np.repeat([nu_f, 1.0], _STEPS)
    expected = np.eye(2 * _STEPS) + cross * (1 - np.eye(2 * _STEPS))  # chosen
    gaps = []
    for width, count in _MANY:
        q = np.concatenate(_draw_responses(seed, width, count, nu_w, nu_f))
        rows = q.transpose(1, 0, 2, 3).reshape(count, 2 * _STEPS, -1)
        moments = rows @ rows.transpose(0, 2, 1) / rows.shape[2]
        gaps.append(moments / np.sqrt(np.outer(tau, tau)) - expected)
    return _in_errors(gaps)


@statement(
    "kernel/equation51",
    place="(51) and (52), in the proof of Theorem 3.3",
    words="as n → ∞ h_t·h_s/n tends to Σ_j ν_F ν_W^j x_{t−j}·x_{s−j} and h̃_t·h̃_s/n to "
    "Σ_j (jν_Fν_W^{j−1} + ν_W^j) x_{t−j}·x_{s−j}",
    draw=_settings,
    tolerance=6.0,  # standard errors
    mutations=[{"by_w": 0.9}, {"by_f": 1.1}, {"first": 0.9}],
    instances=6,
)
def equation_51(
    seed: int, nu_w: float, nu_f: float, nu_c: float, *,
    by_w: float = 1.0, by_f: float = 1.0, first: float = 1.0,
) -> float:  # fmt: skip
    """States of many networks at two widths, each with sixteen random sequences.

    Moments are relative to their values at equal times, averaged over the sequences. The means over
    equal times t ≥ 1 are judged as well.
    """
    j = np.arange(_STEPS)
    tau = _tau(nu_w, nu_f, by_w, by_f, first)
    x = np.random.default_rng(seed).normal(size=(_STEPS, _INPUTS, 16)) / np.sqrt(_INPUTS)
    expected = np.zeros((2, 16, _STEPS, _STEPS))
    for t, s in np.ndindex(_STEPS, _STEPS):
        for lag in range(min(t, s) + 1):
            inner = np.sum(x[t - lag] * x[s - lag], axis=0)
            expected[:, :, t, s] += tau[:, lag, None] * inner
    root = np.sqrt(np.einsum("pmtt->pmt", expected))
    size = root[..., None] * root[..., None, :]
    gaps = []
    for width, count in _MANY:
        parts = []
        for part, q in enumerate(_draw_responses(seed, width, count, nu_w, nu_f)):
            h = np.stack([sum(q[lag] @ x[t - lag] for lag in range(t + 1)) for t in j])
            moments = np.einsum("tcnm,scnm->cmts", h, h, optimize=True) / width
            parts.append(np.mean((moments - expected[part]) / size[part], axis=1))
        of_width = np.stack(parts, axis=1)
        later = np.mean(np.einsum("cptt->cpt", of_width)[:, :, 1:], axis=2)
        gaps.append(np.concatenate([of_width.reshape(count, -1), later], axis=1))
    return _in_errors(gaps)


@statement(
    "kernel/equation53",
    place="(53), in the proof of Theorem 3.3",
    words="L_j = C q_{j,1}/√n, whose rows tend to N(0, ν_Cν_Fν_W^j I)",
    draw=_settings,
    tolerance=6.0,  # standard errors
    mutations=[{"factor": 0.9}, {"rate": 1.1}, {"fourth": 3.3}],
    errata=[
        Erratum(
            as_printed="L_j = C q_{j,1}",
            as_corrected="C q_{j,1}/√n, as in (9); the limit is that of this. (Residuals here are "
            "in standard errors.)",
            constants={"scaled": False},
            gravity="misprint",
            right_in="(9), and the 1/n in (53)",
        )
    ],
    instances=6,
)
def equation_53(
    seed: int, nu_w: float, nu_f: float, nu_c: float, *,
    factor: float = 1.0, rate: float = 1.0, fourth: float = 3.0, scaled: bool = True,
) -> float:  # fmt: skip
    """Second and fourth moments over the entries of L_j, with thirty-two outputs, at two widths.

    The fourth moments, over all lags, are relative to squares of the variances ν_C|q_{j,1}|²/n. The
    first network's L_j must be its impulse response.
    """
    j = np.arange(_STEPS)
    expected = factor * nu_c * nu_f * (rate * nu_w) ** j
    seconds, fourths = [], []
    for width, count in _MANY:
        q, _ = _draw_responses(seed, width, count, nu_w, nu_f)
        C = np.sqrt(nu_c) * np.random.default_rng([seed, 1]).normal(size=(count, 32, width))
        L = C @ q / (np.sqrt(width) if scaled else 1.0)  # (steps, networks, outputs, inputs)
        scaled_rows = np.mean(L**2, axis=3) / expected[:, None, None]
        seconds.append(np.mean(scaled_rows, axis=2).T - 1)
        along = np.mean(q**2, axis=2)[:, :, None] * nu_c * (1.0 if scaled else width)
        fourths.append(np.mean((L**2 / along) ** 2, axis=(0, 2, 3)) / fourth - 1)
    pooled = np.concatenate(fourths)
    found = float(np.abs(np.mean(pooled)) / np.std(pooled) * np.sqrt(len(pooled)))
    found = max(found, _in_errors(seconds))
    W = _first_network(seed, nu_w, nu_f)
    response = impulse_response(W[0], W[1], C[0], _STEPS)
    return found if residual(L[:, 0], response) < 1e-10 or not scaled else np.inf


def _first_network(seed: int, nu_w: float, nu_f: float) -> tuple[Array, Array]:
    """W and F of the first network of the last width of `_draw_responses`."""
    width, count = _MANY[-1]
    rng = np.random.default_rng([seed, width])
    W = np.sqrt(nu_w) * rng.normal(size=(2, count, width, width))[0, 0]
    F = np.sqrt(nu_f) * rng.normal(size=(2, count, width, _INPUTS))[0, 0]
    return W, F
