"""Diagonal state-space models against dense recurrences in NumPy and SciPy's discretisations."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import cont2discrete
from scipy.special import erf

from tacit.models import (
    GELU,
    GLU,
    AssociativeScan,
    Bilinear,
    Convolution,
    DiagonalSSM,
    DiscretisedSpectrum,
    LRURing,
    PlainSpectrum,
    Recurrence,
    RingSpectrum,
    S4DInv,
    S4DLin,
    SSMStack,
    ZeroOrderHold,
)

STARTS = {
    "ring": LRURing(0.4, 0.999),
    "bare ring": LRURing(0.0, 0.9, normalised=False),
    "lin": S4DLin(step_min=0.05, step_max=0.5),
    "inv, bilinear": S4DInv(Bilinear(), step_min=0.05, step_max=0.5),
}


def model_of(start, modes=5, dtype=np.float64, seed=0, **sizes):
    return DiagonalSSM.random(
        STARTS[start], modes, dtype=dtype, key=jax.random.key(seed), scale=0.7, **sizes
    )


def by_hand(values, B, C, inputs):
    """The recurrence with complex matrices, step by step."""
    A, state, outputs = np.diag(values), np.zeros(len(values), complex), []
    for u in inputs:
        state = A @ state + B @ u
        outputs.append((C @ state).real)
    return np.array(outputs)


@pytest.mark.parametrize("start", STARTS)
def test_outputs_are_those_of_the_dense_recurrence(start):
    model = model_of(start, inputs=2, outputs=3)
    parts = [np.asarray(a) for a in (model.eigenvalues(), model.input_map, model.output_map)]
    u = np.random.default_rng(1).normal(size=(40, 2))
    expected = by_hand(*parts, u)
    np.testing.assert_allclose(model.simulate(u), expected, atol=1e-12)
    for scan in (AssociativeScan(), Convolution()):
        np.testing.assert_allclose(model.simulate(u, scan=scan), expected, atol=1e-12)
    np.testing.assert_allclose(model.to_linear_rnn().simulate(u), expected, atol=1e-12)
    pulses = [by_hand(*parts, np.eye(40)[:, :1] * np.eye(2)[i]) for i in range(2)]
    response = np.asarray(model.impulse_response(40))
    np.testing.assert_allclose(response, np.stack(pulses, axis=2), atol=1e-12)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000), step=st.floats(1e-3, 2.0), bilinear=st.booleans())
def test_discretisations_are_those_of_scipy(seed, step, bilinear):
    rng = np.random.default_rng(seed)
    log_decay, frequency, b = rng.normal(size=(3, 1))
    rule = Bilinear() if bilinear else ZeroOrderHold()
    spectrum = DiscretisedSpectrum(log_decay, frequency, np.log([step]), rule)
    a = -np.exp(log_decay[0]) + 1j * frequency[0]
    A, B, *_ = cont2discrete(
        (np.array([[a]]), b[:, None], np.eye(1), np.zeros((1, 1))),
        step,
        method="bilinear" if bilinear else "zoh",
    )
    np.testing.assert_allclose(spectrum.eigenvalues(), A[0], rtol=1e-12)
    np.testing.assert_allclose(np.asarray(spectrum.input_factor()) * b, B[0], rtol=1e-9)


def test_ring_spectrum_is_lrus():
    spectrum = RingSpectrum(np.array([-1.0, 0.3]), np.array([0.2, 3.0])).normalised()
    values = np.exp(-np.exp([-1.0, 0.3]) + 1j * np.array([0.2, 3.0]))
    np.testing.assert_allclose(spectrum.eigenvalues(), values, rtol=1e-14)
    np.testing.assert_allclose(spectrum.input_factor(), np.sqrt(1 - np.abs(values) ** 2))
    plain = PlainSpectrum(values.real, values.imag)
    np.testing.assert_allclose(plain.eigenvalues(), values)
    np.testing.assert_array_equal(plain.input_factor(), 1)


def test_normalised_inputs_leave_states_of_their_own_size():
    """White noise of variance one gives each normalised mode the variance |B|²."""
    key = jax.random.key(3)
    model = DiagonalSSM.random(LRURing(0.9, 0.99), 6, key=key)
    pulse = np.abs(np.asarray(model.eigenvalues()) ** np.arange(4000)[:, None]) ** 2
    size = np.sum(pulse, axis=0) * np.abs(np.asarray(model.input_map)[:, 0]) ** 2
    np.testing.assert_allclose(size, np.sum(np.asarray(model.B) ** 2, axis=(0, 2)), rtol=1e-8)


def test_published_starts():
    key = jax.random.key(0)
    values = np.asarray(LRURing(0.4, 0.9).spectrum(4000, dtype=np.float64, key=key).eigenvalues())
    square = (np.abs(values) ** 2 - 0.16) / (0.81 - 0.16)
    assert square.min() >= 0  # uniform in area on the ring
    assert square.max() <= 1
    np.testing.assert_allclose(np.quantile(square, [0.25, 0.5, 0.75]), [0.25, 0.5, 0.75], atol=0.03)
    quarters = np.histogram(np.angle(values), 4, (-np.pi, np.pi))[0]
    np.testing.assert_allclose(quarters, 1000, atol=120)
    lin, inv = (
        start.spectrum(3, dtype=np.float64, key=key)
        for start in (S4DLin(step_min=0.1, step_max=0.1), S4DInv())
    )
    np.testing.assert_allclose(lin.frequency, np.pi * np.arange(3))
    np.testing.assert_allclose(lin.eigenvalues(), np.exp(0.1 * (-0.5 + 1j * np.pi * np.arange(3))))
    np.testing.assert_allclose(inv.frequency, 6 / np.pi * np.array([6 - 1, 6 / 3 - 1, 6 / 5 - 1]))
    assert 1e-3 <= float(np.exp(inv.log_step[0])) <= 0.1


def test_hankel_values_of_a_system_whose_order_is_known():
    """Modes without output do not count, and the infinite values are limits of finite ones."""
    model = DiagonalSSM.random(LRURing(0.4, 0.97), 3, key=jax.random.key(0))
    C = np.asarray(model.C) * [1.0, 0.0, 1.0]
    silent = DiagonalSSM(model.spectrum, model.B, C)
    values = np.asarray(silent.hankel_singular_values())
    assert values.shape == (6,)
    np.testing.assert_array_equal(values > 1e-10 * values[0], [True] * 4 + [False] * 2)
    from_lags = np.asarray(silent.hankel_singular_values(length=801))[:4]
    np.testing.assert_allclose(values[:4], from_lags, rtol=1e-3)


def test_float32_stays_and_scales_share_their_numbers():
    small = model_of("lin", dtype=np.float32)
    assert small.impulse_response(4).dtype == np.float32
    assert small.simulate(np.ones((4, 1))).dtype == np.float32
    one, other = (
        DiagonalSSM.random(STARTS["lin"], 4, scale=s, key=jax.random.key(1)) for s in (1.0, 0.01)
    )
    np.testing.assert_allclose(np.asarray(one.C) * 0.01, other.C)
    np.testing.assert_array_equal(one.B, other.B)


@pytest.mark.parametrize("gated", [True, False])
def test_a_stack_is_its_layers_one_after_the_other(gated):
    stack = SSMStack.random(
        STARTS["ring"], 2, features=3, modes=4, inputs=2, gated=gated, key=jax.random.key(0)
    )
    u = np.random.default_rng(0).normal(size=(20, 2))
    features = u @ np.asarray(stack.encoder).T
    for block in stack.blocks:
        ssm = block.ssm
        parts = (np.asarray(a) for a in (ssm.eigenvalues(), ssm.input_map, ssm.output_map))
        z = by_hand(*parts, features) + np.asarray(block.D) * features
        a = z * 0.5 * (1 + erf(z / np.sqrt(2)))
        assert isinstance(block.gate, GLU if gated else GELU)
        if gated:
            drive = a @ np.asarray(block.gate.weight).T + np.asarray(block.gate.bias)
            a = a / (1 + np.exp(-drive))
        features = features + a
    expected = features @ np.asarray(stack.decoder).T
    np.testing.assert_allclose(stack.simulate(u), expected, atol=1e-10)
    for scan in (AssociativeScan(), Convolution()):
        np.testing.assert_allclose(stack.simulate(u, scan=scan), expected, atol=1e-10)


MODEL = model_of("ring")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: DiagonalSSM(MODEL.spectrum, MODEL.B[:1], MODEL.C), r"B: .*\(2, modes = 5, inputs"),
        (lambda: DiagonalSSM(MODEL.spectrum, MODEL.B, MODEL.C[..., 1:]), r"C: .*\(2, outputs, mod"),
        (lambda: DiagonalSSM(MODEL.spectrum, np.float32(MODEL.B), MODEL.C), "B: received float32"),
        (lambda: MODEL.simulate(np.ones((3, 2))), "inputs: .*must have 1 columns"),
        (lambda: MODEL.impulse_response(0), "length: received 0"),
        (lambda: RingSpectrum(np.ones(2), np.ones(3)), "log_decay and phase: received the shapes"),
        (lambda: RingSpectrum(np.ones(2), np.float32([1, 1])), "must have one dtype"),
        (lambda: DiscretisedSpectrum([1.0], [1.0], [1.0, 2.0]), r"log_step: .*\(1,\) for one step"),
        (lambda: LRURing(0.9, 0.5), "r_min: received 0.9, it must not be above r_max = 0.5"),
        (lambda: LRURing(r_max=1.0), "r_max: received 1.0"),
        (lambda: S4DLin(step_min=0.0), "step_min: received 0.0, it must be positive"),
        (lambda: S4DInv(step_min=1.0), "step_min: received 1.0, it must not be above"),
        (lambda: GLU(np.eye(2), np.ones(3)), "weight and bias: received"),
        (lambda: DiagonalSSM.random("lru", 3, key=jax.random.key(0)), r"start: .*LRURing\(\)"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_default_scan_is_the_recurrence():
    u = np.ones((3, 1))
    np.testing.assert_array_equal(MODEL.simulate(u), MODEL.simulate(u, scan=Recurrence()))
