"""Schedules: warm and cold stages against the descents that they stand for."""

import re

import jax
import numpy as np
import optax
import pytest

from tacit.descent import (
    Cold,
    GradientFlow,
    Lanes,
    Record,
    Stage,
    Stop,
    Warm,
    descend,
    run_schedule,
)
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion, Pattern
from tacit.theory.depth import plasticity_bound

TARGET = np.array([[1.0, 0.1], [10.0, 1.0]])
FEW = Pattern.diagonal(2)
MORE = FEW.with_entries([[0, 1], [0, 0]])
FLOW = GradientFlow(rtol=1e-9, atol=1e-13)
STOP = Stop(4000, loss=1e-16)


def problems(pattern, count=3):
    return Lanes.stack([MatrixCompletion(TARGET, pattern)] * count)


@pytest.fixture(scope="module")
def starts():
    return Lanes.stack(
        [DeepFactorisation.coupled(2, 2, scale=1e-3, ratio=ratio) for ratio in (np.inf, 100.0, 2.0)]
    )


@pytest.fixture(scope="module")
def result(starts):
    return run_schedule(
        starts,
        [
            Stage("pre", problems(FEW), FLOW, STOP),
            Stage("warm", problems(MORE), FLOW, STOP, record=Record([0, 10])),
            Stage("cold", problems(MORE), FLOW, STOP, start=Cold()),
            Stage("again", problems(MORE), FLOW, Stop(0), start=Warm(after="pre")),
        ],
    )


def product(result, lane):
    return np.asarray(result.model[lane].product())


def test_stages_are_the_descents_that_they_stand_for(result, starts):
    pre = descend(starts, problems(FEW), FLOW, stop=STOP)
    warm = descend(pre.model, problems(MORE), FLOW, stop=STOP)
    cold = descend(starts, problems(MORE), FLOW, stop=STOP)
    for name, alone in (("pre", pre), ("warm", warm), ("cold", cold)):
        for ours, theirs in zip(
            jax.tree.leaves(result[name].model), jax.tree.leaves(alone.model), strict=True
        ):
            np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))
    assert result.last is result["again"]
    assert list(result) == ["pre", "warm", "cold", "again"]
    # A stage without a step shows what it began with.
    np.testing.assert_array_equal(product(result["again"], 1), product(result["pre"], 1))
    np.testing.assert_array_equal(result["warm"].records["loss"][:, 0], result["again"].loss)


def test_a_warm_start_from_the_identity_keeps_the_rank_of_theorem_4_2(result):
    """The schedule of the theorem: diagonal from α I, then w₁₂ = 0.1 is revealed."""
    values = np.linalg.svd(product(result["warm"], 0), compute_uv=False)
    rank = (values**2).sum() / values[0] ** 2
    assert rank >= plasticity_bound(1.0, 0.1).stable_rank
    assert abs(rank - 1.8189) < 1e-3
    assert product(result["warm"], 0)[1, 0] < 0
    cold = np.linalg.svd(product(result["cold"], 2), compute_uv=False)
    assert (cold**2).sum() / cold[0] ** 2 < 1.3  # coupled from the start: close to rank one


def test_histories_and_converged_lanes(result, starts):
    assert result.history("warm") == ("pre", "warm")
    assert result.history("cold") == ("cold",)
    assert result.history("again") == ("pre", "again")
    assert result.converged("warm").tolist() == [True] * 3
    assert not result.converged("again").any()
    # A lane whose first stage was cut off does not count as converged later on.
    cut = run_schedule(
        starts, [Stage("pre", problems(FEW), FLOW, Stop(3, loss=1e-16)),
                 Stage("warm", problems(MORE), FLOW, STOP)],
    )  # fmt: skip
    assert (cut["warm"].outcome == "converged").all()
    assert not cut.converged("warm").any()
    with pytest.raises(KeyError, match="no stage 'post'"):
        cut["post"]


def test_one_model_the_best_iterate_and_another_cold_start():
    adam, stop = optax.adam(0.1), Stop(60)
    model, other = (
        DeepFactorisation.random([2, 2, 2], scale=0.5, key=jax.random.key(k)) for k in (0, 1)
    )
    problem = MatrixCompletion(TARGET, FEW)
    found = run_schedule(
        model,
        [
            Stage("pre", problem, adam, stop),
            Stage("best", problem, adam, Stop(0), start=Warm(best=True)),
            Stage("other", problem, adam, Stop(0), start=Cold(other)),
        ],
    )
    assert found["best"].loss == found["pre"].best_loss
    np.testing.assert_array_equal(
        np.asarray(found["other"].model.factors[0]), np.asarray(other.factors[0])
    )
    assert found.converged("pre").shape == ()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda s: [], ["stages", "none"]),
        (lambda s: ["pre"], ["stages[0]", "'pre'"]),
        (lambda s: [s("a"), s("a")], ["stages[1].name", "'a'"]),
        (lambda s: [s("a", start=Warm(after="b")), s("b")], ["stages[0].start", "'b'", "[]"]),
        (lambda s: [s("")], ["name", "''"]),
        (lambda s: [s("a", start="warm")], ["start", "'warm'"]),
        (lambda s: [Stage("a", lambda model: 0.0, optax.sgd(0.1), 10)], ["stop", "10"]),
    ],
)
def test_refusals(make, words):
    def stage(name, **options):
        return Stage(name, MatrixCompletion(TARGET, FEW), FLOW, STOP, **options)

    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        run_schedule(DeepFactorisation([np.eye(2)]), make(stage))
    assert all(word in str(caught.value) for word in words)
