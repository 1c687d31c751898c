"""depth/fig11, fig12 and fig13-17 at their smallest presets, against independent computations."""

import jax
import numpy as np
import pytest

from tacit.descent import DrawnGradient, Lanes, Stop, descend, torch_defaults
from tacit.experiments.depth.diagonal import equal_diagonal_rank
from tacit.experiments.depth.fig11 import Fig11
from tacit.experiments.depth.fig12 import Fig12
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion, SeededCompletion
from tacit.reproduction import reproduce

DEFAULTS = {"momentum": 1e-3, "adam": 1e-3, "rmsprop": 1e-2, "adagrad": 1e-2}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder for all runs of this file."""
    return tmp_path_factory.mktemp("results")


def test_noise_leaves_the_trend_of_depth(results):
    made = reproduce("depth/fig11", preset="smoke", results=results)
    data = made.dataset
    assert set(made.outcomes) == {"converged"}
    assert float(data["gap"].sel(depth=2).max()) < 1e-5
    rank = data["stable_rank"].sel(scale=1e-5)
    assert (rank.sel(depth=3) < rank.sel(depth=2)).all()
    assert len(made.figure().panels) == 2


def test_without_noise_the_limit_is_theorem_3_3s(results):
    """The dashed line of the figure is what flow reaches."""
    options = {"depth": 3, "noise": 0.0, "scale": [1e-1, 1e-4], "seed": 0}
    made = reproduce("depth/fig11", preset="smoke", results=results, **options)
    scales = np.array([1e-1, 1e-4])
    found = made.dataset["stable_rank"].sel({"depth": 3, "noise": 0.0, "seed": 0, "scale": scales})
    np.testing.assert_allclose(
        found, equal_diagonal_rank(3, scales, ratio=100.0, size=5), rtol=1e-5
    )


def test_depth_is_tested_where_it_matters():
    """At m = 100 each depth differs from the next at αᴸ = 0.1; from 1e-6 deep ranks are one."""
    family = {"ratio": 100.0, "size": 5, "target": 1.0}
    scale, falls = Fig11.from_preset("paper").falls(**family)
    assert scale == 0.1
    assert (falls > 0.5).all()
    small = Fig11(scale=(1e-6, 1e-5))
    assert small.falls(**family)[0] == 1e-5
    assert small.falls(**family)[1].min() < 1e-6


def test_an_unequal_diagonal_decouples_from_the_identity(results):
    made = reproduce("depth/fig12", preset="smoke", results=results)
    data = made.dataset
    assert Fig12().plain_rank == pytest.approx(7.5 / 4)
    assert made.experiment.plain_rank == pytest.approx(5 / 4)
    ends = data["stable_rank"].sel({"ratio": np.inf, "scale": 1e-5})
    np.testing.assert_allclose(ends, 5 / 4, atol=1e-3)
    deep, shallow = (data["stable_rank"].sel(ratio=10.0, scale=1e-5, depth=L) for L in (3, 2))
    assert float(deep) < float(shallow)
    assert len(made.paper_figure().panels) == len(made.experiment.ratio)


def test_every_optimiser_run_is_counted(results):
    made = reproduce("depth/fig13-17", preset="smoke", results=results)
    data = made.dataset
    assert sum(made.outcomes.values()) == data["outcome"].size
    assert (data["best_loss"] <= data["loss"] + 1e-15).all()
    assert (data["best_loss"] <= made.experiment.gate).all()
    notes = [panel.note for panel in made.figure().panels]
    assert notes == ["4 converged; 4 of 4 count"] * 2
    paper = made.paper_figure()  # a panel a scale and optimiser
    assert len(paper.panels) == 2 * len(made.experiment.scale)
    assert {panel.note for panel in paper.panels} == {None}


def start(depth=3, size=4):
    draws = np.random.default_rng(0).standard_normal((depth, size, size))
    with jax.enable_x64(True):
        return DeepFactorisation([0.4 * draw for draw in draws])


@pytest.mark.parametrize("name", DEFAULTS)
def test_an_optimiser_takes_the_steps_of_pytorch(name):
    torch = pytest.importorskip("torch")
    model, rate = start(), DEFAULTS[name]
    problem = MatrixCompletion(np.eye(4), np.eye(4, dtype=bool))
    ours = descend(model, problem, torch_defaults(name), stop=Stop(25), rate=rate, progress=False)

    factors = [torch.tensor(np.array(f)).requires_grad_() for f in model.factors]
    theirs = {
        "momentum": lambda: torch.optim.SGD(factors, lr=rate, momentum=0.9),
        "adam": lambda: torch.optim.Adam(factors),
        "rmsprop": lambda: torch.optim.RMSprop(factors),
        "adagrad": lambda: torch.optim.Adagrad(factors),
    }[name]()
    for _ in range(25):
        theirs.zero_grad()
        product = factors[2] @ factors[1] @ factors[0]
        (0.5 * ((torch.diagonal(product) - 1) ** 2).sum()).backward()
        theirs.step()
    for mine, other in zip(ours.model.factors, factors, strict=True):
        np.testing.assert_allclose(np.asarray(mine), other.detach().numpy(), rtol=1e-6, atol=1e-9)


def test_an_optimiser_of_another_name_is_refused():
    with pytest.raises(ValueError, match="name: received 'sgd', it must be one of"):
        torch_defaults("sgd")


def test_one_entry_a_step_is_the_gradient_of_that_entry():
    """Every step changes the product's loss through one entry; lanes draw their own."""
    model = start(depth=2)
    problem = MatrixCompletion(np.eye(4), np.eye(4, dtype=bool))
    with jax.enable_x64(True):
        problems = Lanes.stack(
            [SeededCompletion(problem, jax.numpy.uint32(seed)) for seed in range(40)]
        )
    B, A = (np.asarray(f) for f in model.factors)
    one = descend(
        Lanes.stack([model] * 40), problems, DrawnGradient(), stop=Stop(1), rate=0.1, progress=False
    )
    whole = 0.5 * np.sum((np.diag(A @ B) - 1) ** 2)
    moved = np.asarray(one.model.tree.factors[1])  # the outer factor of every lane
    seen = set()
    for lane in range(40):
        rows = np.flatnonzero(np.abs(moved[lane] - A).max(axis=1) > 0)
        assert rows.size == 1  # entry (i, i) moves row i of A alone
        i = int(rows[0])
        np.testing.assert_allclose(moved[lane][i], A[i] - 0.1 * (A[i] @ B[:, i] - 1) * B[:, i])
        seen.add(i)
    assert seen == {0, 1, 2, 3}
    still = descend(
        Lanes.stack([model] * 40), problems, DrawnGradient(), stop=Stop(0), rate=0.1, progress=False
    )
    np.testing.assert_allclose(still.loss, whole)  # of all entries, not of the one drawn
