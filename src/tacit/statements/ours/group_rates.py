"""Diagonal state-space models under descent with a rate for each group of parameters."""

from typing import Any

import numpy as np

from tacit.statements import residual, statement
from tacit.statements._shared_numbers import Array
from tacit.theory.regimes import lazy_fit, rated_kernel, ssm_kernel_parts

_STEP = 1e-4  # of the central differences, extrapolated


def _small_ssm(rng: np.random.Generator) -> dict[str, Any]:
    """An LRU model with a gain, all parameters real, and one Δ-like parameter shared by all modes.

    The shared one stretches time, λ^{1 + τ}, as Δ does in S4D.
    """
    modes, outputs, inputs, length = (int(n) for n in rng.integers([2, 1, 1, 2], [5, 3, 3, 6]))
    return {
        "log_decay": rng.uniform(-2, 0.5, modes),
        "phase": rng.uniform(0, 2 * np.pi, modes),
        "log_gain": rng.normal(size=modes),
        "stretch": rng.uniform(-0.2, 0.2, 1),
        "B": rng.normal(size=(2, modes, inputs)),
        "C": rng.normal(size=(2, outputs, modes)),
        "rates": 10 ** rng.uniform(-1.5, 1.5, 3),
        "length": length,
    }


def _response(parameters: list[Array], length: int) -> Array:
    """The outputs after an impulse, step by step, flat."""
    log_decay, phase, log_gain, stretch, B, C = parameters
    values = np.exp((1 + stretch) * (-np.exp(log_decay) + 1j * phase))
    state, found = np.exp(log_gain)[:, None] * (B[0] + 1j * B[1]), []
    for _ in range(length):
        found.append(np.real((C[0] + 1j * C[1]) @ state))
        state = values[:, None] * state
    return np.stack(found).ravel()


def _parts(
    log_decay: Array, phase: Array, log_gain: Array, stretch: Array, B: Array, C: Array, length: int
) -> dict[str, Array]:
    """The closed form, with the slopes of this parametrisation written by hand."""
    rate = -np.exp(log_decay) + 1j * phase
    values, factor = np.exp((1 + stretch) * rate), np.exp(log_gain)
    none, own = np.zeros((len(phase), len(phase))), (1 + stretch) * values
    slopes = [
        np.diag(-np.exp(log_decay) * own),
        np.diag(1j * own),
        none,
        (rate * values)[None, :],
    ]
    gains = [none, none, np.diag(factor), none[:1]]
    return ssm_kernel_parts(
        values, B[0] + 1j * B[1], C[0] + 1j * C[1], length,
        factor=factor, by_eigenvalue=np.concatenate(slopes), by_factor=np.concatenate(gains),
    )  # fmt: skip


def _differences(parameters: list[Array], length: int) -> list[Array]:
    """The Jacobian of each parameter array: central differences, extrapolated once."""

    def moved(number: int, where: tuple[int, ...], size: float) -> Array:
        part = parameters[number].copy()
        part[where] += size
        given = [part if at == number else other for at, other in enumerate(parameters)]
        return _response(given, length)

    jacobians: list[Array] = []
    for number, part in enumerate(parameters):
        columns = []
        for where in np.ndindex(part.shape):
            coarse, fine = (
                (moved(number, where, step) - moved(number, where, -step)) / (2 * step)  # chosen
                for step in (2 * _STEP, _STEP)  # chosen
            )
            columns.append((4 * fine - coarse) / 3)  # chosen
        jacobians.append(np.stack(columns, axis=1))
    return jacobians


@statement(
    "ours/group-rates",
    place="theory.regimes.ssm_kernel_parts",
    words="a diagonal state-space model whose groups A, B and C descend at rates η_g moves its "
    "response by −K ∂loss/∂h with K = Σ_g η_g J_g J_gᵀ: rates are weights of the kernel's parts",
    draw=_small_ssm,
    tolerance=1e-8,
    mutations=[{"weight": 0.99}, {"power": 1.01}],
)
def group_rates(
    log_decay: Array, phase: Array, log_gain: Array, stretch: Array, B: Array, C: Array,
    rates: Array, length: int, *, weight: float = 1.0, power: float = 1.0,
) -> float:  # fmt: skip
    """Each part against finite differences of the recurrence, and one step of descent by hand."""
    parameters = [log_decay, phase, log_gain, stretch, B, C]
    jacobians = _differences(parameters, length)
    by_group = {"A": np.concatenate(jacobians[:4], axis=1), "B": jacobians[4], "C": jacobians[5]}
    parts = _parts(log_decay, phase, log_gain, stretch, B, C, length)
    found = max(residual(by_group[g] @ by_group[g].T, parts[g]) for g in "ABC")
    named = dict(zip("ABC", rates.tolist(), strict=True))
    force = np.cos(np.arange(len(parts["A"])))  # ∂loss/∂h, whatever it is
    velocity = sum(named[g] * by_group[g] @ (by_group[g].T @ force) for g in "ABC")
    weighted = {g: weight * named[g] ** power for g in "ABC"}
    kernel = rated_kernel(parts, weighted)
    return max(found, residual(velocity, kernel @ force))


def _slow_ssm(rng: np.random.Generator) -> dict[str, Any]:
    instance = _small_ssm(rng)
    entries = instance["length"] * instance["B"].shape[2] * instance["C"].shape[1]
    return {**instance, "gap": rng.normal(size=entries), "small": 1e-5}


def _wide_gap(rng: np.random.Generator) -> dict[str, Any]:
    return {**_slow_ssm(rng), "small": 0.1}


@statement(
    "ours/group-rates-moves",
    place="theory.regimes.lazy_fit",
    words="in the lazy limit descent with rates η_g moves group g by ‖Δθ_g‖ = η_g √(zᵀ K_g z) with "
    "K z = gap, Σ_g ‖Δθ_g‖²/η_g = gapᵀ K⁻¹ gap, and the lags beyond k by K_{·k} K_kk⁻¹ gap",
    draw=_slow_ssm,
    tolerance=2e-3,
    hypotheses={"a small gap": lambda small: small <= 1e-4},
    mutations=[{"power": 1.02}, {"beyond": 0.98}],
    without={"a small gap": _wide_gap},
    instances=12,
)
def lazy_moves(
    log_decay: Array, phase: Array, log_gain: Array, stretch: Array, B: Array, C: Array,
    rates: Array, length: int, gap: Array, small: float, *,
    power: float = 1.0, beyond: float = 1.0,
) -> float:  # fmt: skip
    """Steps of Gauss and Newton in the metric of the rates, on the model itself, to the target.

    They end at the parameters that reach the target with the least Σ_g ‖Δθ_g‖²/η_g, as flow does
    where it is lazy. Jacobians are differences. The gap is made by the kernel, so that it can be
    reached and no small eigenvalue of K is asked for.
    """
    parameters = [log_decay, phase, log_gain, stretch, B, C]
    groups, scale = "AAAABC", dict(zip("ABC", rates.tolist(), strict=True))
    lags = length + 2
    parts = _parts(log_decay, phase, log_gain, stretch, B, C, lags)
    before = _response(parameters, lags)
    k = len(gap)
    kernel = rated_kernel({g: part[:k, :k] for g, part in parts.items()}, scale)
    missing = small * (kernel @ gap) / np.linalg.norm(kernel)
    at = [part.copy() for part in parameters]
    for _ in range(3):  # chosen
        columns = [jacobian[:k] for jacobian in _differences(at, lags)]
        pairs = list(zip(groups, columns, strict=True))
        metric = np.sum([scale[g] * column @ column.T for g, column in pairs], axis=0)
        left = missing - (_response(at, lags) - before)[:k]
        z = np.linalg.lstsq(metric, left, rcond=1e-13)[0]
        at = [
            part + scale[g] * (column.T @ z).reshape(part.shape)
            for part, (g, column) in zip(at, pairs, strict=True)
        ]
    moved = dict.fromkeys("ABC", 0.0)
    for g, one, other in zip(groups, at, parameters, strict=True):
        moved[g] += float(np.sum((one - other) ** 2))
    fit = lazy_fit(parts, {g: rate**power for g, rate in scale.items()}, missing)
    lengths = np.sqrt([moved[g] for g in "ABC"])
    expected = np.array([fit.moves[g] for g in "ABC"])
    size = np.sqrt(sum(moved[g] / scale[g] for g in "ABC"))
    change = (_response(at, lags) - before)[k:]
    return max(
        residual(lengths, expected),
        residual(size, fit.norm),
        residual(change, beyond * fit.response[k:]),
    )
