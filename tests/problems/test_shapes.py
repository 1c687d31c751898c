"""Every loss takes the shapes that it documents, and none that would be broadcast."""

import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest

from tacit.models import (
    DeepFactorisation,
    Dense,
    Diagonal,
    DiagonalSSM,
    LinearRNN,
    LRURing,
    RateRNN,
    ScaledLinearRNN,
    SSMStack,
)
from tacit.problems import (
    CentredResponse,
    EmpiricalLoss,
    FiniteResponse,
    LinearDataLoss,
    LinearSampledLoss,
    MatrixCompletion,
    PopulationLoss,
    RatedResponse,
    RatedWindows,
    ResponseLoss,
    SampledLoss,
    SeededCompletion,
    SequenceBatches,
    SequenceLoss,
    TaskLoss,
    Trials,
)
from tacit.problems.tasks import Romo

KEY = jax.random.key(0)
rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def as_users_have_it():
    """Without the checker of types that the tests run under: it would refuse first."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


def linear(outputs=1, inputs=1):
    return LinearRNN(Diagonal([0.5, 0.3]), np.ones((2, inputs)), np.ones((outputs, 2)))


def floats(*shape):
    return jnp.asarray(rng.normal(size=shape), jnp.float32)


def wrong_shapes(*shape):
    """Shapes that broadcast with this one, or hold as many numbers: all but itself."""
    found = {
        shape[1:],
        shape[:-1],
        (1, *shape),
        (*shape, 1),
        shape[::-1],
        (*shape[:-1], shape[-1] + 1),
    }
    found |= {
        tuple(1 if axis == place else size for axis, size in enumerate(shape))
        for place in range(len(shape))
    }
    return sorted(found - {shape, ()} - {(2, *shape)}, key=str)


# Each: what is made of an array of some shape (and used), the right shape, what is named.
MADE = {
    "PopulationLoss target": (
        lambda x: PopulationLoss(x, jnp.ones(4)).loss(linear(2, 3)),
        (4, 2, 3),
    ),
    "PopulationLoss mask": (lambda x: PopulationLoss(floats(4, 2, 3), x).loss(linear(2, 3)), (4,)),
    "EmpiricalLoss targets": (
        lambda x: EmpiricalLoss(floats(5, 4, 3), x, jnp.ones(4)).loss(linear(2, 3)),
        (5, 4, 2),
    ),
    "EmpiricalLoss inputs": (
        lambda x: EmpiricalLoss(x, floats(5, 4, 2), jnp.ones(4)).loss(linear(2, 3)),
        (5, 4, 3),
    ),
    "EmpiricalLoss weights": (
        lambda x: EmpiricalLoss(floats(5, 4, 3), floats(5, 4, 2), abs(x)).loss(linear(2, 3)),
        (4,),
    ),
    "LinearDataLoss target": (
        lambda x: LinearDataLoss(x, jnp.eye(12)).loss(linear(2, 3)),
        (4, 2, 3),
    ),
    "LinearDataLoss root": (
        lambda x: LinearDataLoss(floats(4, 2, 3), x).loss(linear(2, 3)),
        (12, 12),
    ),
    "LinearSampledLoss target": (
        lambda x: LinearSampledLoss(x, jnp.ones(4), 5).loss(linear(2, 3), key=KEY),
        (4, 2, 3),
    ),
    "LinearSampledLoss mask": (
        lambda x: LinearSampledLoss(floats(4, 2, 3), x, 5).loss(linear(2, 3), key=KEY),
        (4,),
    ),
    "ResponseLoss target": (lambda x: ResponseLoss(x).loss(linear(2, 1)), (4, 2)),
    "SequenceLoss response": (
        lambda x: SequenceLoss.white(np.asarray(x)).loss(linear(2, 3)),
        (4, 2, 3),
    ),
    "SequenceBatches y": (
        lambda x: SequenceBatches.of(np.asarray(floats(5, 4, 3)), np.asarray(x), size=2).loss(
            linear(2, 3), key=KEY
        ),
        (5, 4, 2),
    ),
    "MatrixCompletion target": (
        lambda x: MatrixCompletion(x, np.ones((3, 2), bool)).loss(factors(3, 2)),
        (3, 2),
    ),
    "MatrixCompletion observed": (
        lambda x: MatrixCompletion(floats(3, 2), np.asarray(x) < 9).loss(factors(3, 2)),
        (3, 2),
    ),
    "Trials outputs": (lambda x: trials().loss(x), (5, 6, 2)),
    "Trials mask": (lambda x: trials()._replace(mask=x).loss(floats(5, 6, 2)), (5, 6)),
    "Trials targets": (lambda x: trials()._replace(targets=x).loss(floats(5, 6, 2)), (5, 6, 2)),
    "CentredResponse start": (lambda x: centred(start=x), (4,)),
    "CentredResponse mask": (lambda x: centred(mask=x), (4,)),
    "CentredResponse target": (lambda x: centred(target=x), (4,)),
    "RatedWindows outputs": (
        lambda x: RatedWindows.of(stack(1), floats(3, 4, 2), x).loss(stack(1)),
        (3, 4),
    ),
    "RatedResponse mask": (lambda x: rated(mask=x), (4,)),
    "RatedResponse target": (lambda x: rated(target=x), (4, 1, 1)),
}


def factors(rows, columns):
    return DeepFactorisation((floats(2, columns), floats(rows, 2)))


def trials():
    return Trials(floats(5, 6, 3), floats(5, 6, 2), jnp.ones((5, 6)))


def scaled(outputs=1):
    return ScaledLinearRNN(floats(8, 8), floats(8, 1), floats(outputs, 8))


def centred(model=None, **parts):
    given = {"target": floats(4), "start": floats(4), "mask": jnp.ones(4)} | parts
    one = jnp.float32(1)
    return CentredResponse(**given, gamma=one, w_rate=one).loss(model or scaled())


def rated(**parts):
    layer = DiagonalSSM.random(LRURing(0.4, 0.9), 4, key=KEY)
    made = RatedResponse.of(layer, np.ones(4), length=3)
    given = {"target": made.target, "mask": made.mask} | parts
    return RatedResponse(made.start, made.scales, **given).loss(made.unmoved())


def stack(outputs):
    return SSMStack.random(
        LRURing(0.4, 0.9),
        1,
        features=3,
        modes=4,
        inputs=2,
        outputs=outputs,
        dtype=np.float32,
        key=KEY,
    )


@pytest.mark.parametrize("name", MADE)
def test_the_documented_shape_passes_and_no_other(name):
    use, shape = MADE[name]
    with jax.enable_x64(False):
        assert np.isfinite(use(floats(*shape)))
        for other in wrong_shapes(*shape):
            if name in ANY_LENGTH and other[1:] == shape[1:]:
                continue
            with pytest.raises(ValueError, match=r"^\w+( and \w+)?: received .*must"):
                use(floats(*other))


ANY_LENGTH = ("ResponseLoss target", "SequenceLoss response")  # the target alone says how long


# Models with too many or too few channels, for every loss that asks a model.
PROBLEMS = {
    "population": lambda m: PopulationLoss(floats(4, 2, 3), jnp.ones(4)).loss(m),
    "residuals": lambda m: PopulationLoss(floats(4, 2, 3), jnp.ones(4)).residuals(m),
    "empirical": lambda m: EmpiricalLoss(floats(5, 4, 3), floats(5, 4, 2), jnp.ones(4)).loss(m),
    "by step": lambda m: EmpiricalLoss(floats(5, 4, 3), floats(5, 4, 2), jnp.ones(4)).error_by_step(
        m
    ),
    "sampled": lambda m: SampledLoss(linear(2, 3), jnp.ones(4), 5, 3).loss(m, key=KEY),
    "linear data": lambda m: LinearDataLoss(floats(4, 2, 3), jnp.eye(12)).loss(m),
    "linear sampled": lambda m: LinearSampledLoss(floats(4, 2, 3), jnp.ones(4), 5).loss(m, key=KEY),
    "sequences": lambda m: SequenceLoss.of(
        np.asarray(floats(5, 4, 3)), np.asarray(floats(5, 4, 2))
    ).loss(m),
    "batches": lambda m: SequenceBatches.of(
        np.asarray(floats(5, 4, 3)), np.asarray(floats(5, 4, 2)), size=2
    ).loss(m, key=KEY),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_model_of_other_channels_is_refused(name):
    assert np.isfinite(PROBLEMS[name](linear(2, 3))).all()
    for channels in ((1, 3), (2, 1), (1, 1), (3, 2), (6, 1)):
        with pytest.raises((ValueError, TypeError)) as caught:
            PROBLEMS[name](linear(*channels))
        if channels != (2, 1):  # JAX itself may refuse inputs that the model has not
            assert "received" in str(caught.value) or "shape" in str(caught.value)


def test_a_network_of_one_output_is_no_answer_to_a_task_of_two():
    task = Romo()
    right, wrong = (
        RateRNN.random(8, inputs=task.inputs, outputs=count, g=1.0, key=KEY) for count in (2, 1)
    )
    assert np.isfinite(TaskLoss(task, 2).loss(right, key=KEY))
    with pytest.raises(ValueError, match="give the network the outputs of the task"):
        TaskLoss(task, 2).loss(wrong, key=KEY)


def test_entries_outside_of_one_output_are_not_left_out_in_silence():
    with pytest.raises(ValueError, match="give it one of each"):
        centred(model=scaled(outputs=2))
    with pytest.raises(ValueError, match="give it one output"):
        RatedWindows.of(stack(2), floats(3, 4, 2), floats(3, 4)).loss(stack(2))
    seeded = SeededCompletion(MatrixCompletion(floats(3, 2), np.ones((3, 2), bool)), jnp.uint32(0))
    with pytest.raises(ValueError, match="target's shape"):
        seeded.loss_and_step(factors(3, 1), jnp.uint32(0))


def test_a_finite_teacher_and_a_dense_student_fit():
    teacher = FiniteResponse(np.ones((4, 2, 3)))
    student = LinearRNN(Dense(np.eye(2) / 2), np.ones((2, 3)), np.ones((2, 2)))
    assert np.isfinite(PopulationLoss.of(teacher, 4).loss(student))
