"""Recorded calls of `tacit.problems`."""

import jax
import jax.numpy as jnp
import numpy as np
from calls_models import FACTORS, KEY, LAYER, LINEAR, RATES, SCALED, STACK, normal
from recorded import Fresh, call

from tacit import problems
from tacit.models import StackedLSTM

with jax.enable_x64(True):
    RESPONSE = jnp.asarray(normal(4, 1, 1))
    VECTORS = jnp.asarray(normal(5, 2), jnp.float32)
    DATA = jnp.asarray(normal(3, 4, 1))
    WEIGHTS = jnp.ones(4)
MASK = np.eye(2, dtype=bool)
MARKED = np.stack([normal(2, 5), np.ones((2, 5))], axis=2)
WINDOWS = problems.RatedWindows.of(STACK, normal(3, 4, 1), normal(3, 4))
WORDS = [np.array([0, 1]), np.array([2, 3, 4]), np.array([1]), np.array([0, 3, 4])]
SENTENCES = problems.Sentences.of(WORDS, np.array([0, 1, 1, 0]), np.asarray(VECTORS), groups=1)
SEEDED = problems.Seeded(StackedLSTM.random(2, layers=1, inputs=2, key=KEY), jnp.int32(0))
FLIP = dict(
    dt=0.5, duration=10.0, fixation=1.0, pulse=1.0, delay=1.0, shortest=2.0, longest=4.0,
    amplitude=0.5,
)  # fmt: skip

IMAGES = problems.Images.of(
    np.zeros((3, 4, 4, 3), np.uint8), np.array([0, 1, 0]), mean=np.full(3, 0.5),
    deviation=np.full(3, 0.2),
)  # fmt: skip


ONE_RATE = {"A": 0.1, "B": 1.0, "C": 1.0}


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


def _teacher(*, key: jax.Array) -> object:
    return problems.linear_teacher(2, key=key)


CALLS = {
    "RatedResponse.of": call(
        model=LAYER, target=normal(4), length=3, rates=ONE_RATE, adaptive=False
    ),
    "lazy_prediction": call(
        model=LAYER, target=normal(4), length=3, rates=ONE_RATE, centred=False
    ),
    "CentredResponse.of": call(
        target=normal(4), start=normal(4), length=3, gamma=0.5, w_rate=1.0
    ),
    "Cosine": call(dt=0.1, duration=2.0, frequency=0.5, periods=1.0),
    "EmpiricalLoss": call(inputs=DATA, targets=DATA, weights=WEIGHTS),
    "EmpiricalLoss.with_random_labels": call(
        self=problems.EmpiricalLoss(DATA, DATA, WEIGHTS), after=2, key=KEY
    ),
    "EmpiricalLoss.loss": call(self=problems.EmpiricalLoss(DATA, DATA, WEIGHTS), model=LINEAR),
    "FiniteResponse": call(response=normal(4, 1, 1)),
    "FiniteResponse.impulse_response": call(
        self=problems.FiniteResponse(normal(4, 1, 1)), length=6
    ),
    "FiniteResponse.simulate": call(
        self=problems.FiniteResponse(normal(4, 1, 1)), inputs=normal(5, 1)
    ),
    "FlipFlop": call(**FLIP),
    "ImageBatches": call(images=IMAGES, size=2, shift=1, mirror=True),
    "Images.of": call(
        "", {"mean": "as:deviation", "deviation": "as:mean"}, "",
        pixels=np.zeros((3, 4, 4, 3), np.uint8), labels=np.array([0, 1, 0]),
        mean=np.array([0.5, 0.5, 0.5]), deviation=np.array([0.2, 0.2, 0.2]),
    ),
    "split_means": call(train=IMAGES, test=IMAGES, most=2),
    "LinearDataLoss": call(target=RESPONSE, root=jnp.eye(4)),
    "LinearDataLoss.of": call(teacher=LINEAR, inputs=normal(3, 4, 1), longest=5),
    "LinearSampledLoss": call(target=RESPONSE, mask=WEIGHTS, sequences=3),
    "LinearSampledLoss.loss": call(
        self=problems.LinearSampledLoss(RESPONSE, WEIGHTS, 3), model=LINEAR, key=KEY
    ),
    "Mante": call(
        dt=0.5, coherences=(0.125, 0.25), fixation=1.0, stimulus=4.0, delay=1.0, response=4.0,
        noise=0.05, amplitude=0.5,
    ),
    "MatrixCompletion": call(
        "", {"observed": "as:mask", "target": "nan inf minus-inf"}, "", target=normal(2, 2),
        observed=MASK,
    ),
    "MatrixCompletion.loss": call(
        self=problems.MatrixCompletion(normal(2, 2), MASK), model=FACTORS
    ),
    "Pattern": call(mask=MASK),
    "Pattern.of": call("", {"observed": "as:mask"}, "", observed=MASK),
    "Pattern.classes": call(rows=2, columns=2, least=1, most=2),
    "Pattern.numbered": call(rows=2, columns=2, numbers=[1, 2]),
    "Pattern.named": call("", {"name": "as:mask"}, "", name="10.01"),
    "Pattern.with_entries": call(
        "", {"observed": "as:mask"}, "", self=problems.Pattern(MASK),
        observed=np.ones((2, 2), bool),
    ),
    "Pattern.diagonal": call(size=3),
    "Pattern.column": call(rows=3, columns=2, index=1),
    "Pattern.block_diagonal": call(blocks=2, block_size=2),
    "Pattern.random": call("", {"count": "as:counts"}, "", rows=3, columns=3, count=4, key=KEY),
    "Pattern.nested": call(rows=3, columns=3, counts=[2, 4], key=KEY),
    "MaskedTargets": call(responses=normal(2, 4, 1, 1), lengths=np.array([2, 3]), padding=2),
    "MaskedTargets.fresh_data_loss": call(
        self=problems.MaskedTargets(normal(2, 4, 1, 1), np.array([2, 3]), 2), sequences=3
    ),
    "PopulationLoss": call(target=RESPONSE, mask=WEIGHTS),
    "PopulationLoss.of": call(teacher=LINEAR, length=3, longest=5),
    "PopulationLoss.loss": call(self=problems.PopulationLoss.of(LINEAR, 3), model=LINEAR),
    "ResponseLoss": call(target=DATA[0]),
    "Romo": call(
        dt=0.5, duration=16.0, fixation=1.0, pulse=1.0, shortest=2.0, longest=4.0, delay=2.0,
        response=4.0, lowest=0.5, highest=1.5, gap=0.2, amplitude=0.5,
    ),
    "SampledLoss": call(teacher=LINEAR, weights=WEIGHTS, sequences=3, inputs=1),
    "SampledLoss.last": call(
        teacher=LINEAR, length=3, longest=4, sequences=3, inputs=1, dtype=np.float64
    ),
    "SampledLoss.sample": call(
        self=problems.SampledLoss(LINEAR, WEIGHTS, 3, 1), key=KEY, sequences=2
    ),
    "SentenceBatches": call(sentences=SENTENCES, size=2, dropout=0.1),
    "SentenceBatches.loss": call(
        self=problems.SentenceBatches(SENTENCES, 2), model=SEEDED, key=KEY
    ),
    "Sentences.of": call(
        sentences=WORDS, labels=np.array([0, 1, 1, 0]), vectors=np.asarray(VECTORS), groups=1,
        least=1,
    ),
    "SequenceBatches.of": call(x=normal(3, 4, 1), y=normal(3, 4, 1), size=2),
    "SequenceLoss.of": call(x=normal(3, 4, 1), y=normal(3, 4, 1)),
    "SequenceLoss.white": call(response=normal(4, 1, 1)),
    "SequenceLoss.loss": call(
        self=problems.SequenceLoss.of(normal(3, 4, 1), normal(3, 4, 1)), model=SCALED
    ),
    "Simple": call(dt=0.5, target=0.5, duration=10.0, fixation=1.0, response=1.0),
    "Simple.sample": call(
        self=problems.Simple(duration=10.0), key=KEY, batch=2, dtype=np.float32
    ),
    "TaskLoss": call(task=problems.Simple(), batch=2, train_maps=True, one_by_one=True),
    "TaskLoss.loss": call(
        self=problems.TaskLoss(problems.Simple(duration=10.0), 2), model=RATES, key=KEY
    ),
    "Trials.loss": call("", None, "JAX carries what overflows along", 
        self=problems.Simple(duration=5.0).sample(KEY, 2), outputs=np.zeros((2, 10, 1), np.float32)
    ),
    "adversarial_population_loss": call(wrong=normal(4, 1, 1), length=2),
    "balanced_teacher": call(eigenvalues=normal(3), weights=normal(3)),
    "RatedWindows.of": call(start=STACK, inputs=normal(3, 4, 1), outputs=normal(3, 4), rate=0.1),
    "RatedWindows.predicted": call("", None, "JAX carries what overflows along",
        self=WINDOWS, trained=STACK, inputs=normal(2, 5, 1)
    ),
    "cut_record": call(
        inputs=normal(40, 1), outputs=normal(40), window=2, windows=3, horizon=4, tests=2,
        rng=Fresh(_rng),
    ),
    "delay_teacher": call(order=3),
    "delayed_copy": call(x=normal(2, 5, 1), delay=2),
    "equal_weights": call(order=3),
    "even_spectrum": call(order=3, low=0.1, high=0.9),
    "filter_sequences": call(response=normal(4, 1, 1), x=normal(3, 5, 1)),
    "gaussian_weights": call(order=3, channels=2, key=KEY),
    "half_population_loss": call(teacher=LINEAR, length=3, longest=5),
    "induction": call(x=MARKED, lag=2),
    "leaky_average": call(x=normal(2, 5, 1), decay=0.9),
    "linear_teacher": call(order=3, radius=0.9, key=KEY),
    "low_rank_matrix": call(rows=3, columns=4, rank=2, dtype=np.float64, key=KEY),
    "lying_teacher": call(teacher=LINEAR, length=2, wrong=normal(3)),
    "memoryless_teacher": call(weight=0.7),
    "mode_response": call(teacher="two", lags=4),
    "named_teacher": call(name="even", order=3, key=KEY),
    "outputs": call("", None, "JAX carries what overflows along", model=LINEAR, inputs=DATA),
    "random_rnn_response": call(units=4, inputs=1, nu_w=0.5, length=3, rng=Fresh(_rng)),
    "random_spectrum": call(order=3, low=0.1, high=0.9, key=KEY),
    "random_unbalanced_teacher": call(order=3, key=KEY),
    "rational_teacher": call(order=3, ends=1, jitter=0.2, seed=0),
    "response": call(model=LINEAR, length=4),
    "second_moment_root": call(inputs=normal(5, 3, 1), longest=4),
    "spread_weights": call(order=3, channels=2),
    "step_weights": call(length=2, until=3, longest=5),
    "teacher_responses": call(make=_teacher, seeds=np.array([0, 1]), lags=3),
    "wave_response": call(teacher="fast", horizon=5, width=3),
    "weighted_population_loss": call(target=normal(4, 1, 1), weights=np.ones(4)),
    "with_noise": call(y=normal(3, 4), decibels=10.0, rng=Fresh(_rng)),
}  # fmt: skip
CALLS = {f"problems.{name}": made for name, made in CALLS.items()}
RECORDS = {
    "problems.LazyPrediction": "what lazy_prediction returns",
    "problems.CutRecord": "what cut_record returns",
    "problems.RatedResponse": "made by RatedResponse.of",
    "problems.RatedWindows": "made by RatedWindows.of",
    "problems.predict_lanes": "lazy_prediction of what an experiment has stacked",
    "problems.Images": "made by Images.of",
    "problems.CentredResponse": "made by CentredResponse.of",
    "problems.Seeded": "a model and its number, as they are",
    "problems.SeededCompletion": "a completion and its number, as they are",
    "problems.Sentences": "made by Sentences.of",
    "problems.SequenceBatches": "made by SequenceBatches.of",
    "problems.SequenceLoss": "made by SequenceLoss.of and .white",
    "problems.Task": "abstract",
    "problems.Trials": "what Task.sample returns",
}
