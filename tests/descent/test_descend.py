"""The loop: outcomes, lanes, records, precision, against independent computations.

Two tests look inside, at the plan of packing: it changes how long a descent takes, not its result.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tacit.descent import Lanes, LevenbergMarquardt, Record, Stop, descend
from tacit.descent._plan import Packing, ProgramCosts, buckets


class Modes(eqx.Module):
    """A balanced diagonal linear RNN in the plainest form: response Σ b² λ^j."""

    eigenvalues: jax.Array
    weights: jax.Array


class Match(eqx.Module):
    """Fit a response over the lags in the mask."""

    target: jax.Array
    mask: jax.Array

    def residuals(self, model: Modes) -> jax.Array:
        terms, response = model.weights**2, []
        for _ in range(self.target.shape[0]):
            response.append(jnp.sum(terms))
            terms = terms * model.eigenvalues
        return self.mask * (jnp.stack(response) - self.target)

    def loss(self, model: Modes) -> jax.Array:
        return jnp.sum(self.residuals(model) ** 2)


def draw(seed: int, length: int, *, width: int = 12, longest: int = 8, dtype=np.float64):
    rng = np.random.default_rng(seed)
    model = Modes(rng.normal(0, 0.3, width).astype(dtype), rng.normal(0, 0.3, width).astype(dtype))
    target = (0.5 * 0.8 ** np.arange(longest) + 0.5 * (-0.5) ** np.arange(longest)).astype(dtype)
    return model, Match(target, (np.arange(longest) < length).astype(dtype))


def draw_lanes(count: int):
    """Lanes with their own start and masked length: one program for several lengths."""
    models, problems = zip(*(draw(i, 3 + i % 6) for i in range(count)), strict=True)
    return Lanes.stack(models), Lanes.stack(problems)


def numpy_adam(model: Modes, problem: Match, *, rate: float, steps: int):
    """Adam as Kingma and Ba (2015) write it, with the gradient worked out by hand."""
    lam, b = (np.array(a, dtype=np.float64) for a in (model.eigenvalues, model.weights))
    target, mask = np.asarray(problem.target), np.asarray(problem.mask)
    lags = np.arange(target.size)
    m, v = np.zeros((2, lam.size)), np.zeros((2, lam.size))
    for t in range(1, steps + 1):
        powers = lam[:, None] ** lags
        r = mask * (b**2 @ powers - target)
        slope = np.zeros_like(powers)
        slope[:, 1:] = lags[1:] * powers[:, :-1]
        g = np.stack([2 * b**2 * (slope @ (mask * r)), 4 * b * (powers @ (mask * r))])
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        step = rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        lam, b = lam - step[0], b - step[1]
    return lam, b


def test_adam_agrees_with_a_numpy_loop_over_3000_steps():
    model, problem = draw(0, 6)
    result = descend(model, problem, optax.adam(1e-3), stop=Stop(3000))
    lam, b = numpy_adam(model, problem, rate=1e-3, steps=3000)
    np.testing.assert_allclose(result.model.eigenvalues, lam, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.model.weights, b, rtol=0, atol=1e-12)
    assert result.steps == 3000
    assert result.outcome == "stopped"


def test_adam_agrees_with_pytorch_over_3000_steps():
    torch = pytest.importorskip("torch", reason="PyTorch comes with the bench extra")
    model, problem = draw(0, 6)
    lam = torch.tensor(np.asarray(model.eigenvalues), requires_grad=True)
    b = torch.tensor(np.asarray(model.weights), requires_grad=True)
    optimiser = torch.optim.Adam([lam, b], lr=1e-3)
    target, mask = (torch.tensor(np.asarray(a)) for a in (problem.target, problem.mask))
    lags = torch.arange(target.shape[0])
    for _ in range(3000):
        optimiser.zero_grad()
        response = b**2 @ lam[:, None] ** lags
        torch.sum((mask * (response - target)) ** 2).backward()
        optimiser.step()
    result = descend(model, problem, optax.adam(1e-3), stop=Stop(3000))
    np.testing.assert_allclose(result.model.eigenvalues, lam.detach(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.model.weights, b.detach(), rtol=0, atol=1e-12)


@pytest.fixture
def short_segments(monkeypatch):
    """Segments of a few steps, and packing whatever it costs: small tests see much of both."""
    monkeypatch.setattr("tacit.descent._plan.SECONDS", 1e-3)
    monkeypatch.setattr("tacit.descent._plan.FIRST", 4)
    monkeypatch.setattr(
        "tacit.descent._plan.Packing.bucket",
        lambda self, present, running, clock: buckets(present, running)[-1],
    )


@pytest.mark.parametrize(
    ("method", "tolerance"),
    [
        pytest.param(optax.adam(1e-2), 0.0, id="adam", marks=pytest.mark.bits),
        # Damped solves amplify the last bit, which may be rounded differently at another size.
        pytest.param(LevenbergMarquardt(), 1e-9, id="lm"),
    ],
)
def test_a_lane_is_the_same_in_any_batch(method, tolerance, short_segments):
    models, problems = draw_lanes(48)
    stop = Stop(300, loss=1e-8)
    whole = descend(models, problems, method, stop=stop)
    assert np.unique(whole.steps).size > 5  # lanes end at different times
    assert whole.statistics.segments > 2
    for size in (12, 1):  # a size that lanes are packed to as well, and one alone
        part = descend(
            Lanes.stack([models[i] for i in range(size)]),
            Lanes.stack([problems[i] for i in range(size)]),
            method,
            stop=stop,
        )
        for iterate in ("model", "best"):
            ours, theirs = getattr(whole, iterate).tree, getattr(part, iterate).tree
            for name in ("eigenvalues", "weights"):
                np.testing.assert_allclose(
                    getattr(ours, name)[:size], getattr(theirs, name), rtol=0, atol=tolerance
                )
        for name in ("best_step", "steps", "outcome"):
            np.testing.assert_array_equal(getattr(whole, name)[:size], getattr(part, name))


def test_packing_keeps_every_lane_in_its_place(short_segments):
    # Most lanes have an easy goal and end early; those spread among them go on to the last step.
    models, problems = draw_lanes(40)
    goals = np.full(40, 1e-2)
    goals[[7, 23, 39]] = [1e-4, 1e-5, 0.0]
    whole = descend(models, problems, optax.adam(1e-2), stop=Stop(600, loss=goals))
    assert whole.statistics.programs > 1
    for lane in (0, 7, 39):
        alone = descend(
            models[lane], problems[lane], optax.adam(1e-2), stop=Stop(600, loss=goals[lane])
        )
        np.testing.assert_array_equal(whole.model[lane].weights, alone.model.weights)
        assert whole.steps[lane] == alone.steps
        assert whole.outcome[lane] == alone.outcome


def test_rate_is_the_learning_rate_of_a_lane():
    model, problem = draw(3, 5)
    rates = np.array([1e-3, 5e-3, 1e-2])
    together = descend(
        Lanes.stack([model] * 3), problem, optax.adam(1.0), stop=Stop(200), rate=rates
    )
    for lane, rate in enumerate(rates):
        alone = descend(model, problem, optax.adam(float(rate)), stop=Stop(200))
        np.testing.assert_allclose(together.model[lane].weights, alone.model.weights, rtol=1e-12)


def test_gradient_descent_is_the_plain_recursion():
    # One weight, loss (w − 1)²: w_n = 1 − (1 − 2η)ⁿ (1 − w₀), with the factor 2 of the square.
    result = descend(
        {"w": np.array(3.0)},
        lambda model: (model["w"] - 1) ** 2,
        optax.sgd(0.1),
        stop=Stop(50),
        record=Record([0, 1, 10, 50], {"w": lambda model: model["w"]}),
    )
    exact = 1 + 0.8 ** np.array([0, 1, 10, 50]) * 2
    np.testing.assert_allclose(result.records["w"], exact, rtol=1e-13)
    np.testing.assert_allclose(result.records["loss"], (exact - 1) ** 2, rtol=1e-12)
    np.testing.assert_allclose(result.loss, (exact[-1] - 1) ** 2, rtol=1e-12)


def test_outcomes_are_told_apart():
    def quadratic(model):
        return model["scale"] ** 2 * jnp.sum(model["w"] ** 2)

    start = {"w": np.ones((4, 2)), "scale": np.ones(4)}
    result = descend(
        Lanes(start),
        quadratic,
        optax.sgd(1.0),
        # converges; too slow for its budget; grows without bound; moves too little to count
        rate=np.array([0.1, 1e-2, 5.0, 1e-6]),
        stop=Stop(60, loss=np.array([1e-3, 1e-30, 1e-30, 1e-30]), patience=20, diverged=1e6),
    )
    assert result.outcome.tolist() == ["converged", "stopped", "diverged", "stalled"]
    assert result.outcomes == {"converged": 1, "stopped": 1, "diverged": 1, "stalled": 1}
    assert result.steps[1] == 60
    assert result.loss[0] <= 1e-3
    assert np.isfinite(result.best_loss).all()
    assert (result.best_loss <= result.loss).all()


def test_nan_is_divergence_and_the_best_iterate_survives():
    result = descend(np.array(1.0), lambda w: jnp.log(w), optax.sgd(0.3), stop=Stop(100))
    assert result.outcome == "diverged"
    assert np.isnan(result.loss)
    assert np.isfinite(result.best_loss)
    assert result.best > 0


def test_at_the_limits_themselves():
    """A loss of just `diverged` is not above it, and the first of equal losses is the best."""
    still = descend(
        np.ones(2), lambda w: jnp.sum(0 * w) + 3, optax.sgd(0.1), stop=Stop(9, diverged=3)
    )
    assert (still.outcome, still.steps, still.best_step) == ("stopped", 9, 0)


def test_stopping_on_the_gradient():
    result = descend(
        np.array([3.0, 4.0]),
        lambda w: 0.5 * jnp.sum(w**2),
        optax.sgd(0.5),
        stop=Stop(100, gradient=0.3),
    )
    # |gradient| = |w| = 5, 2.5, 1.25, .625, .3125, .15625
    assert result.outcome == "converged"
    assert result.steps == 5


def test_best_is_the_lowest_loss_seen():
    model, problem = draw(1, 8)
    result = descend(
        model, problem, optax.adam(0.3), stop=Stop(25), record=Record.every(1, until=25)
    )
    losses = result.records["loss"]
    assert result.best_loss == losses.min()
    assert result.best_step == losses.argmin()
    assert result.best_loss < result.loss  # a rate of 0.3 overshoots, so last and best differ
    with jax.enable_x64(True):
        np.testing.assert_allclose(problem.loss(result.best), losses.min(), rtol=1e-12)


@pytest.mark.parametrize("steps", [[0, 7, 50], list(range(0, 151)), [150]])
def test_records_equal_shorter_runs(steps):
    # More record points than one segment holds, uneven ones, and the last step alone.
    models, problems = draw_lanes(5)
    result = descend(
        models,
        problems,
        optax.adam(1e-2),
        stop=Stop(150),
        record=Record(steps, {"weights": lambda model: model.weights}),
    )
    assert result.records["weights"].shape == (5, len(steps), 12)
    for at in {0, len(steps) // 2, len(steps) - 1}:
        short = descend(models, problems, optax.adam(1e-2), stop=Stop(int(steps[at])))
        np.testing.assert_array_equal(result.records["weights"][:, at], short.model.tree.weights)
        np.testing.assert_allclose(result.records["loss"][:, at], short.loss, rtol=1e-12)


def test_records_of_ended_lanes_show_their_end(short_segments):
    models, problems = draw_lanes(12)
    goals = np.where(np.arange(12) == 11, 0.0, 1e-2)
    result = descend(
        models,
        problems,
        optax.adam(1e-2),
        stop=Stop(800, loss=goals),
        record=Record([0, 500, 799, 800], {"weights": lambda model: model.weights}),
    )
    assert result.statistics.programs > 1  # the ended lanes were taken out
    for lane in range(11):
        np.testing.assert_array_equal(
            result.records["weights"][lane, -1], result.model[lane].weights
        )
        np.testing.assert_array_equal(
            result.records["weights"][lane, 2], result.model[lane].weights
        )


def test_random_data_depend_on_the_lane_and_the_step_only():
    def noisy(model, *, key):
        return jnp.sum((model - jax.random.normal(key, model.shape)) ** 2)

    start = np.zeros((3, 2))
    result = descend(Lanes(start), noisy, optax.sgd(0.1), stop=Stop(20), key=jax.random.key(1))
    again = descend(Lanes(start), noisy, optax.sgd(0.1), stop=Stop(20), key=jax.random.key(1))
    np.testing.assert_array_equal(result.model.tree, again.model.tree)
    assert np.unique(np.asarray(result.model.tree)).size == 6  # lanes differ
    keys = Lanes(jax.vmap(lambda i: jax.random.fold_in(jax.random.key(1), i))(jnp.arange(3)))
    alone = descend(start[2], noisy, optax.sgd(0.1), stop=Stop(20), key=Lanes(keys.tree[2:]))
    np.testing.assert_array_equal(result.model.tree[2], alone.model)


def test_a_problem_may_bring_its_gradient():
    class Handmade(eqx.Module):
        def loss(self, model):
            return jnp.sum(model**2)

        def loss_and_gradient(self, model):
            return jnp.sum(model**2), jnp.ones_like(model)  # not the true one: so it is seen used

    result = descend(np.zeros(3), Handmade(), optax.sgd(0.25), stop=Stop(4))
    np.testing.assert_allclose(result.model, -np.ones(3))


def test_arrays_that_are_not_floating_point_stay():
    models = Lanes({"w": np.ones((3, 2)), "index": np.array([0, 1, 0])})
    result = descend(models, lambda m: m["w"][m["index"]] ** 2, optax.sgd(0.25), stop=Stop(1))
    np.testing.assert_allclose(result.model.tree["w"], [[0.5, 1], [1, 0.5], [0.5, 1]])
    np.testing.assert_array_equal(result.model.tree["index"], [0, 1, 0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_precision_is_that_of_the_arrays(dtype):
    model, problem = draw(0, 6, dtype=dtype)
    for method in (optax.adam(1e-3), LevenbergMarquardt()):
        result = descend(model, problem, method, stop=Stop(5), record=Record([1, 2]))
        assert result.model.weights.dtype == dtype
        assert result.best.weights.dtype == dtype
        assert result.loss.dtype == dtype
        assert result.records["loss"].dtype == dtype


def test_an_optax_schedule_and_a_line_search_work():
    model, problem = draw(0, 6)
    scheduled = descend(
        model,
        problem,
        optax.adam(optax.exponential_decay(1e-2, 100, 0.5)),
        stop=Stop(500),
    )
    plain = descend(model, problem, optax.adam(1e-2), stop=Stop(500))
    assert scheduled.loss < 1e-2
    assert scheduled.loss != plain.loss
    searched = descend(model, problem, optax.lbfgs(), stop=Stop(200, loss=1e-10))
    assert searched.outcome == "converged"


def test_progress_is_quiet_unless_asked(capfd):
    model, problem = draw(0, 6)
    descend(model, problem, optax.adam(1e-2), stop=Stop(100))
    assert capfd.readouterr() == ("", "")
    descend(model, problem, optax.adam(1e-2), stop=Stop(100), progress=True, title="fit")
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "fit" in shown.err
    assert "1/1" in shown.err


def test_packing_weighs_a_compilation_against_what_it_saves():
    assert buckets(600, 150) == [600, 150]
    assert buckets(600, 151) == [600]
    assert buckets(600, 1)[-1] == 2  # never a batch of one
    packing = Packing(ProgramCosts())
    assert not packing.learn(600, 64, 2.0)  # the first segment of a size includes its compilation
    assert packing.learn(600, 1000, 1.0)
    assert packing.bucket(600, 100, clock=1000) == 600  # would save a second at the price of two
    assert packing.bucket(600, 100, clock=5000) == 150
    assert packing.bucket(600, 300, clock=5000) == 600  # they do not fit
    packing.programs.sizes.add(150)
    assert packing.bucket(600, 30, clock=1000) == 150  # a program that is there costs nothing


@pytest.mark.parametrize(
    ("losses", "outcome"),
    [
        (lambda step: -5.0, "stalled"),
        (lambda step: -5.0 + 1e-4 * step, "stalled"),  # rises
        (lambda step: -5.0 - 1e-6 * step, "stalled"),  # falls by less than a thousandth
        (lambda step: -5.0 * 1.01**step, "stopped"),
        (lambda step: 1.0 - 0.3 * step, "stopped"),  # through zero
        (lambda step: 0.0 * step, "stalled"),
    ],
)
def test_patience_counts_progress_at_negative_losses(losses, outcome):
    def loss(step):  # whatever its value, a step of one
        return jax.lax.stop_gradient(losses(step) + step) - step

    result = descend(np.float64(0.0), loss, optax.sgd(1.0), stop=Stop(40, patience=10))
    assert result.outcome == outcome


def test_patience_is_the_number_of_steps_without_progress():
    """Progress of a tenth a step until 3, then none: patience counts from the last progress."""

    def loss(x):
        return jnp.where(x > 0.65, x, 0.65)

    def run(patience):
        stop = Stop(40, patience=patience, progress=1e-3)
        return descend(np.float64(1.0), loss, optax.sgd(0.1), stop=stop)

    for patience in (1, 5):
        result = run(patience)
        assert (result.outcome, int(result.steps)) == ("stalled", 4 + patience)
    goal = Stop(40, loss=0.75, patience=5, progress=1e-3)  # reached with 0.7, not with 0.8
    result = descend(np.float64(1.0), loss, optax.sgd(0.1), stop=goal)
    assert (result.outcome, int(result.steps)) == ("converged", 3)
