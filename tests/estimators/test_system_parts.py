"""The parts of identification: block models, starts, polish, noise and boundary states."""

import warnings

import numpy as np
import pytest

from tacit.estimators._baselines import _least
from tacit.estimators._block_model import (
    BlockModel,
    from_matrices,
    moved,
    residuals_and_jacobian,
    simulate,
)
from tacit.estimators._boundary import state_after
from tacit.estimators._gradient_start import correlations
from tacit.estimators._linear_system import LinearSystem
from tacit.estimators._noise import coloured_criterion, effective_samples, noise_floor
from tacit.estimators._normal_equations import linear_fit, normal_equations
from tacit.estimators._polish import RADIUS, loss_of, polish
from tacit.estimators._records import Records, Scale
from tacit.estimators._system_orders import as_blocks, extended
from tacit.estimators._system_starts import (
    Matrices,
    arx_system,
    hankel_values,
    observer_response,
    realised,
    stabilised,
    subspace_system,
    truncated,
)
from tacit.models import Diagonal, LinearRNN


def system(order=4, inputs=2, outputs=2, *, seed=0):
    """One complex pair of poles, then real ones."""
    rng = np.random.default_rng(seed)
    poles = np.array([0.7, -0.4, 0.2])[: order - 2]
    A = np.zeros((order, order))
    A[:2, :2] = 0.8 * np.array([[np.cos(0.6), np.sin(0.6)], [-np.sin(0.6), np.cos(0.6)]])
    A[range(2, order), range(2, order)] = poles
    change = rng.normal(size=(order, order)) + 3 * np.eye(order)
    B, C = rng.normal(size=(order, inputs)), rng.normal(size=(outputs, order))
    D = rng.normal(size=(outputs, inputs))
    return Matrices(change @ A @ np.linalg.inv(change), change @ B, C @ np.linalg.inv(change), D)


def linear(matrices):
    return LinearSystem(*matrices, np.zeros(matrices.B.shape[1]), np.zeros(matrices.C.shape[0]))


def record(matrices, length=200, *, noise=0.0, seed=1, records=1):
    rng = np.random.default_rng(seed)
    U = [rng.normal(size=(length + 7 * k, matrices.B.shape[1])) for k in range(records)]
    Y = []
    for u in U:
        clean = linear(matrices).simulate(u, rng.normal(size=len(matrices.A)))[0]
        Y.append(clean + noise * rng.normal(size=clean.shape))
    return Records.of(U, Y)


def response(matrices, length=30):
    return linear(matrices).impulse_response(length)


def test_simulation_agrees_with_the_recursion():
    matrices = system(5)
    U = np.random.default_rng(3).normal(size=(50, 2))
    start = np.random.default_rng(4).normal(size=5)
    expected, x = [], start
    for u in U:
        expected.append(matrices.C @ x + matrices.D @ u)
        x = matrices.A @ x + matrices.B @ u
    found, end = linear(matrices).simulate(U, start)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    np.testing.assert_allclose(end, x, atol=1e-10)
    stepped, last = linear(matrices)._stepped(U, U @ matrices.D.T, start)
    np.testing.assert_allclose(stepped, expected, atol=1e-10)
    np.testing.assert_allclose(last, x, atol=1e-10)


@pytest.mark.parametrize("order", [2, 3, 4, 5])
def test_blocks_are_the_same_system_and_its_jacobian_is_exact(order):
    matrices = system(order)
    records = record(matrices, 60, records=2)
    rng = np.random.default_rng(5)
    B = np.concatenate([matrices.B, rng.normal(size=(order, 2))], axis=1)
    D = np.concatenate([matrices.D, rng.normal(size=(2, 1))], axis=1)
    model = from_matrices(matrices.A, B, matrices.C, D)
    expected = [
        linear(matrices).simulate(u, B[:, 2 + k])[0] + D[:, -1]
        for k, u in enumerate(records.measured)
    ]
    for one, other in zip(simulate(model, records), expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)
    _, jacobian = residuals_and_jacobian(model, records)
    step = 1e-6 * rng.normal(size=jacobian.shape[1])
    ahead, _ = residuals_and_jacobian(moved(model, step), records)
    behind, _ = residuals_and_jacobian(moved(model, -step), records)
    change = jacobian @ step
    np.testing.assert_allclose((behind - ahead) / 2, change, atol=1e-7 * np.abs(change).max())


@pytest.mark.parametrize("order", [0, 1, 2, 5])
def test_normal_equations_are_those_of_the_jacobian(order):
    rng = np.random.default_rng(order)
    records = record(system(3), 50, records=2)
    A = np.diag(rng.uniform(-0.9, 0.9, order))
    if order > 2:
        A[:2, :2] = [[0.5, 0.6], [-0.6, 0.5]]
    sizes = ((order, 4), (2, order), (2, 3))
    model = from_matrices(A, *(rng.normal(size=size) for size in sizes))
    errors, jacobian = residuals_and_jacobian(model, records)
    gram, slope = normal_equations(model, records)
    np.testing.assert_allclose(gram, jacobian.T @ jacobian, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(slope, jacobian.T @ errors, rtol=1e-9, atol=1e-9)
    # At the least squares of B and D no direction among these lowers the error any more.
    left, columns = residuals_and_jacobian(linear_fit(model, records), records, linear=True)
    assert np.abs(columns.T @ left).max() < 1e-8 * np.linalg.norm(columns) * np.linalg.norm(left)


def test_era_of_noisy_markov_parameters_agrees_with_control():
    control = pytest.importorskip("control")
    rng = np.random.default_rng(6)
    markov = response(system(4), 21) + 0.01 * rng.normal(size=(21, 2, 2))
    ours = realised(markov, 4)
    theirs, _ = control.eigensys_realization(markov.transpose(1, 2, 0), r=4, m=10, n=10)
    expected = response(Matrices(theirs.A, theirs.B, theirs.C, theirs.D), 40)
    np.testing.assert_allclose(response(ours, 40), expected, atol=1e-10)


def test_every_start_finds_a_system_without_noise():
    matrices, single = system(4), system(3, 1, 1)
    records, alone = record(matrices, 400), record(single, 400)
    markov = observer_response(records, 6, 40)
    np.testing.assert_allclose(markov, response(matrices, 40), atol=1e-8)
    for found, true in (
        (realised(markov, 4), matrices),
        (arx_system(alone, 3), single),
        (subspace_system(records, 4), matrices),
    ):
        np.testing.assert_allclose(response(found), response(true), atol=1e-6)


def test_balanced_truncation_keeps_hankel_values_and_its_error_bound():
    matrices = system(5)
    values = hankel_values(matrices)
    markov = response(matrices, 130)
    dense = np.block([[markov[1 + i + j] for j in range(60)] for i in range(60)])
    np.testing.assert_allclose(values, np.linalg.svd(dense, compute_uv=False)[:5], rtol=1e-8)
    small = truncated(matrices, 3)
    angles = np.linspace(0, np.pi, 200)
    gap = linear(matrices).frequency_response(angles) - linear(small).frequency_response(angles)
    assert np.linalg.norm(gap, 2, axis=(1, 2)).max() <= 2 * values[3:].sum()


def test_poles_outside_are_mirrored():
    wild = Matrices(np.diag([1.25, -0.5]), np.ones((2, 1)), np.ones((1, 2)), np.zeros((1, 1)))
    np.testing.assert_allclose(np.linalg.eigvals(stabilised(wild).A), [0.8, -0.5])


def test_the_polish_reaches_the_noise_and_never_leaves_the_circle():
    records = record(system(4), 300, noise=0.05)
    wild = Matrices(
        1.3 * np.eye(4) + 0.1 * system(4, seed=9).A,
        np.ones((4, 2)),
        np.ones((2, 4)),
        np.ones((2, 2)),
    )
    for name, start in (("OKID", realised(observer_response(records, 8, 40), 4)), ("wild", wild)):
        begun = as_blocks(start, records)
        done = polish(begun, records, steps=60)
        assert done.loss < loss_of(begun, records)
        assert done.model.is_stable(RADIUS)
        if name == "OKID":
            assert done.loss / (300 * 2) == pytest.approx(0.05**2, rel=0.15)
    more = extended(done.model, records)
    assert more.order == 5
    assert loss_of(more, records) <= done.loss * (1 + 1e-9)


def test_two_real_poles_become_a_pair():
    single = system(2, 1, 1)  # a complex pair
    records = record(single, 300)
    start = Matrices(np.diag([0.8, 0.3]), np.ones((2, 1)), np.ones((1, 2)), np.zeros((1, 1)))
    done = polish(as_blocks(start, records), records, steps=60)
    np.testing.assert_allclose(
        np.sort_complex(np.linalg.eigvals(done.model.A)),
        np.sort_complex(np.linalg.eigvals(single.A)),
        atol=1e-5,
    )


@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_coloured_errors_are_worth_fewer_samples(rho):
    noise = np.random.default_rng(0).normal(size=(4000, 1))
    for t in range(1, len(noise)):
        noise[t] += rho * noise[t - 1]
    expected = 4000 * (1 - rho**2) / (1 + rho**2)  # 1 / Σ ρ^{2|k|}
    assert effective_samples([noise]) == pytest.approx(expected, rel=0.1)


def test_the_noise_floor_is_what_noise_makes():
    """In proportion to the errors, above a fresh draw's Hankel value, not far above."""
    records = record(system(3, 1, 1), 500)
    rng = np.random.default_rng(2)
    errors = 0.1 * rng.normal(size=(500, 1))
    floor = noise_floor(records, [errors], seed=0)
    assert noise_floor(records, [3 * errors], seed=0) == pytest.approx(3 * floor)
    entry = 0.1 / np.sqrt(500)  # of a fitted lag
    assert 2 * entry * np.sqrt(15) * 0.7 < floor < 2 * entry * np.sqrt(15) * 2.5


def test_the_state_after_a_record_is_exact_without_noise():
    matrices = system(4)
    rng = np.random.default_rng(8)
    U, start = rng.normal(size=(120, 2)), rng.normal(size=4)
    outputs, end = linear(matrices).simulate(U, start)
    np.testing.assert_allclose(state_after(linear(matrices), U, outputs), end, atol=1e-6)


def test_disturbances_make_late_outputs_count():
    """A slow system that is pushed: the simulated state is far off, the filtered one is not."""
    slow = LinearSystem(
        np.array([[0.999]]), np.ones((1, 1)), np.ones((1, 1)), np.zeros((1, 1)),
        np.zeros(1), np.zeros(1),
    )  # fmt: skip
    rng = np.random.default_rng(1)
    U, push = rng.normal(size=(300, 1)), rng.normal(size=(300, 1))
    outputs, end = slow.simulate(U + push)
    found = state_after(slow, U, outputs + 0.01 * rng.normal(size=outputs.shape))
    simulated = slow.simulate(U)[1]
    assert abs(found - end)[0] < 3.0 < abs(simulated - end)[0]


def test_a_system_whose_errors_overflow_is_passed_over_without_a_warning():
    right = system(2, 1, 1)
    wild = right._replace(A=right.A + 4 * np.eye(2))  # 4³⁰⁰ is a number, its square is not
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _least(record(right, 300), [wild, right]) is right


def test_a_pole_on_the_circle_is_not_stable_and_the_step_is_handed_on():
    one = np.ones((1, 1))
    system = LinearSystem(one, one, one, 0 * one, np.zeros(1), np.zeros(1), step=0.25)
    assert not system.is_stable()
    assert system.to_scipy().dt == 0.25
    control = pytest.importorskip("control")
    assert isinstance(system.to_control(), control.StateSpace)
    assert system.to_control().dt == 0.25
    inside = LinearSystem(0.999 * one, one, one, 0 * one, np.zeros(1), np.zeros(1))
    assert inside.is_stable()


def test_poles_that_fall_together_are_simulated_step_by_step():
    A = np.array([[0.9, 1.0, 0.0], [0.0, 0.9, 1.0], [0.0, 0.0, 0.9]])  # one pole, thrice
    B, C = np.array([[0.0], [0.0], [1.0]]), np.array([[1.0, 0.0, 0.0]])
    system = LinearSystem(A, B, C, np.zeros((1, 1)), np.zeros(1), np.zeros(1))
    inputs = np.random.default_rng(0).normal(size=(60, 1))
    found, end = system.simulate(inputs, np.ones(3))
    state, expected = np.ones(3), []
    for u in inputs:
        expected.append(C @ state)
        state = A @ state + B @ u
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(end, state, rtol=1e-12)


def test_the_criterion_of_coloured_errors_is_the_likelihood_of_one_reflection():
    series = np.cumsum(np.random.default_rng(0).normal(size=19))  # so few allow one lag
    s = series - series.mean()
    forward, backward = s[1:], s[:-1]
    turn = 2 * forward @ backward / (forward @ forward + backward @ backward)
    kept = 1 - turn**2
    left = (kept * s[0] ** 2 + np.sum((forward - turn * backward) ** 2)) / len(s)
    expected = len(s) * np.log(left) - np.log(kept) + np.log(len(s))
    assert expected < len(s) * np.log(np.mean(s**2))  # the reflection is worth its price
    assert coloured_criterion([series[:, None]], [True]) == pytest.approx(expected)


def test_a_system_in_the_units_of_the_data_has_their_levels():
    scale = Scale(np.array([3.0]), np.array([2.0]), np.array([10.0]), np.array([5.0]))
    blocks = (np.array([-0.5]),)
    model = BlockModel(blocks, np.array([[1.0, 0.0]]), np.array([[2.0]]), np.array([[0.5, 0.25]]))
    system = scale.system(model, 1, 0.1)
    assert system.output_level[0] == 10 + 5 * 0.25
    assert (system.B[0, 0], system.C[0, 0], system.D[0, 0]) == (0.5, 10.0, 5 * 0.5 / 2)
    assert (system.input_level[0], system.step) == (3.0, 0.1)


def test_polishing_refuses_to_leave_the_stable_systems():
    rng = np.random.default_rng(0)
    turn = np.array([[np.cos(1.5), -np.sin(1.5)], [np.sin(1.5), np.cos(1.5)]])
    inputs, state, outputs = rng.normal(size=(120, 1)), np.zeros(2), []
    for u in inputs[:, 0]:
        outputs.append(state[0])
        state = 1.01 * turn @ state + np.array([u, 0.0])  # the record rings ever louder
    records = Records.of([inputs], [np.array(outputs)[:, None]])
    guess = Matrices(0.97 * turn, np.ones((2, 1)), np.array([[1.0, 0.0]]), np.zeros((1, 1)))
    start = as_blocks(guess, records)
    done = polish(start, records, steps=40)
    assert done.model.is_stable(RADIUS)
    assert done.loss < loss_of(start, records)
    assert np.abs(np.linalg.eigvals(done.model.A)).max() > 0.999  # as near as it may


def test_the_state_after_a_record_is_corrected_by_what_was_measured():
    rng = np.random.default_rng(0)
    one = np.ones((1, 1))
    system = LinearSystem(0.98 * one, one, one, 0 * one, np.zeros(1), np.zeros(1))
    inputs, state, outputs = rng.normal(size=(300, 1)), 0.0, []
    for u in inputs[:, 0]:
        outputs.append(state + 0.05 * rng.normal())
        state = 0.98 * state + u + rng.normal()  # what the inputs do not tell
    outputs = np.array(outputs)[:, None]
    blind = abs(system.simulate(inputs)[1][0] - state)
    found = system.state_after(inputs, outputs)
    assert abs(found[0] - state) < 2.5  # the last two disturbances cannot be seen
    assert blind > 3


def test_the_loss_of_correlations_is_zero_at_the_system_of_the_record():
    teacher = LinearRNN(Diagonal([0.4, -0.3]), np.ones((2, 1)), np.array([[1.0, 0.5]]))
    response = np.asarray(teacher.impulse_response(30))[:, 0, 0]
    inputs = np.random.default_rng(0).normal(size=(200, 1))
    outputs = np.concatenate([[0.0], np.convolve(inputs[:, 0], response)[:199]])[:, None]
    loss = correlations(Records.of([inputs], [outputs]), 20)
    zero = LinearRNN(Diagonal([0.4, -0.3]), np.ones((2, 1)), np.zeros((1, 2)))
    assert float(loss.loss(teacher)) < 1e-8 < 0.1 < float(loss.loss(zero))


def test_a_constant_signal_has_its_value_for_a_level_without_rounding():
    constant = np.full((29, 1), 0.1)
    assert constant.mean() != 0.1  # what rounding leaves
    scale = Scale.of(constant, constant)
    assert (scale.input_mean[0], scale.input_unit[0]) == (0.1, 1.0)
    assert not scale.records([constant], [constant]).outputs[0].any()
