"""Problems: what is to be learned, with its loss and, where there is one, its known solution."""

from tacit._signatures import with_readable_signatures
from tacit.problems._centred_response import CentredResponse
from tacit.problems._completion import MatrixCompletion, low_rank_matrix
from tacit.problems._cut_record import CutRecord, cut_record
from tacit.problems._empirical import EmpiricalLoss, SampledLoss, step_weights
from tacit.problems._finite_response import FiniteResponse, lying_teacher
from tacit.problems._images import ImageBatches, Images, split_means
from tacit.problems._known_answers import delayed_copy, induction, leaky_average
from tacit.problems._lag_weights import (
    adversarial_population_loss,
    half_population_loss,
    weighted_population_loss,
)
from tacit.problems._lazy_prediction import LazyPrediction, lazy_prediction, predict_lanes
from tacit.problems._linear_data import LinearDataLoss, LinearSampledLoss, second_moment_root
from tacit.problems._masked_targets import MaskedTargets
from tacit.problems._memoryless_teachers import linear_teacher, memoryless_teacher
from tacit.problems._named_responses import mode_response, wave_response
from tacit.problems._outputs import outputs
from tacit.problems._pattern import Pattern
from tacit.problems._population import PopulationLoss
from tacit.problems._random_sequences import (
    filter_sequences,
    random_rnn_response,
    with_noise,
)
from tacit.problems._rated_response import RatedResponse
from tacit.problems._rated_windows import RatedWindows
from tacit.problems._rational_teacher import rational_teacher
from tacit.problems._response_loss import ResponseLoss, response
from tacit.problems._seeded_completion import SeededCompletion
from tacit.problems._sentences import Seeded, SentenceBatches, Sentences
from tacit.problems._sequences import SequenceBatches, SequenceLoss
from tacit.problems._teachers import (
    TEACHER_NAMES,
    balanced_teacher,
    delay_teacher,
    equal_weights,
    even_spectrum,
    gaussian_weights,
    named_teacher,
    random_spectrum,
    random_unbalanced_teacher,
    spread_weights,
    teacher_responses,
)
from tacit.problems.tasks import Cosine, FlipFlop, Mante, Romo, Simple, Task, TaskLoss, Trials

__all__ = [
    "TEACHER_NAMES",
    "CentredResponse",
    "Cosine",
    "CutRecord",
    "EmpiricalLoss",
    "FiniteResponse",
    "FlipFlop",
    "ImageBatches",
    "Images",
    "LazyPrediction",
    "LinearDataLoss",
    "LinearSampledLoss",
    "Mante",
    "MaskedTargets",
    "MatrixCompletion",
    "Pattern",
    "PopulationLoss",
    "RatedResponse",
    "RatedWindows",
    "ResponseLoss",
    "Romo",
    "SampledLoss",
    "Seeded",
    "SeededCompletion",
    "SentenceBatches",
    "Sentences",
    "SequenceBatches",
    "SequenceLoss",
    "Simple",
    "Task",
    "TaskLoss",
    "Trials",
    "adversarial_population_loss",
    "balanced_teacher",
    "cut_record",
    "delay_teacher",
    "delayed_copy",
    "equal_weights",
    "even_spectrum",
    "filter_sequences",
    "gaussian_weights",
    "half_population_loss",
    "induction",
    "lazy_prediction",
    "leaky_average",
    "linear_teacher",
    "low_rank_matrix",
    "lying_teacher",
    "memoryless_teacher",
    "mode_response",
    "named_teacher",
    "outputs",
    "predict_lanes",
    "random_rnn_response",
    "random_spectrum",
    "random_unbalanced_teacher",
    "rational_teacher",
    "response",
    "second_moment_root",
    "split_means",
    "spread_weights",
    "step_weights",
    "teacher_responses",
    "wave_response",
    "weighted_population_loss",
    "with_noise",
]

with_readable_signatures(globals(), __all__)
