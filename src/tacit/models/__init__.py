"""Models: Equinox modules that act on one example; callers `vmap`.

Networks that read images act on a batch, since batch normalisation does.
"""

from tacit._signatures import with_readable_signatures
from tacit.models._deep_factorisation import DeepFactorisation
from tacit.models._dense import Dense, Symmetric
from tacit.models._diagonal import ConjugatePairs, Diagonal
from tacit.models._diagonal_ssm import DiagonalSSM
from tacit.models._gru import GRU
from tacit.models._image_layers import ARITHMETICS, Arithmetic, BatchNorm, Statistics, renewed
from tacit.models._image_networks import IMAGE_NETWORKS, image_network
from tacit.models._linear_rnn import LinearRNN, impulse_responses, random_linear_rnns
from tacit.models._lstm import LSTM
from tacit.models._rate_recurrence import identity
from tacit.models._rate_rnn import BY_MAPS, BY_VECTORS, Parametrisation, RateRNN
from tacit.models._relu_net import ReLUNet
from tacit.models._resnet import ResNet
from tacit.models._scaled_conv import ScaledConv
from tacit.models._scaled_linear_rnn import ScaledLinearRNN
from tacit.models._spectrum import (
    AbstractDiscretisation,
    AbstractSpectrum,
    Bilinear,
    DiscretisedSpectrum,
    PlainSpectrum,
    RingSpectrum,
    ZeroOrderHold,
)
from tacit.models._ssm_scans import AbstractScan, AssociativeScan, Convolution, Recurrence
from tacit.models._ssm_stack import GELU, GLU, AbstractGate, SSMBlock, SSMStack
from tacit.models._ssm_starts import AbstractStart, LRURing, S4DInv, S4DLin
from tacit.models._stacked_lstm import StackedLSTM
from tacit.models._transition import AbstractTransition
from tacit.models._vgg import VGG
from tacit.models._xavier import (
    keras_gated,
    keras_linear_rnn,
    xavier_gated,
    xavier_linear_rnn,
)

__all__ = [
    "ARITHMETICS",
    "BY_MAPS",
    "BY_VECTORS",
    "GELU",
    "GLU",
    "GRU",
    "IMAGE_NETWORKS",
    "LSTM",
    "VGG",
    "AbstractDiscretisation",
    "AbstractGate",
    "AbstractScan",
    "AbstractSpectrum",
    "AbstractStart",
    "AbstractTransition",
    "Arithmetic",
    "AssociativeScan",
    "BatchNorm",
    "Bilinear",
    "ConjugatePairs",
    "Convolution",
    "DeepFactorisation",
    "Dense",
    "Diagonal",
    "DiagonalSSM",
    "DiscretisedSpectrum",
    "LRURing",
    "LinearRNN",
    "Parametrisation",
    "PlainSpectrum",
    "RateRNN",
    "ReLUNet",
    "Recurrence",
    "ResNet",
    "RingSpectrum",
    "S4DInv",
    "S4DLin",
    "SSMBlock",
    "SSMStack",
    "ScaledConv",
    "ScaledLinearRNN",
    "StackedLSTM",
    "Statistics",
    "Symmetric",
    "ZeroOrderHold",
    "identity",
    "image_network",
    "impulse_responses",
    "keras_gated",
    "keras_linear_rnn",
    "random_linear_rnns",
    "renewed",
    "xavier_gated",
    "xavier_linear_rnn",
]

with_readable_signatures(globals(), __all__)
