"""Recorded calls of `tacit.models`."""

import jax
import numpy as np
from recorded import call

from tacit.models import (
    BY_VECTORS,
    GRU,
    Arithmetic,
    DeepFactorisation,
    Dense,
    Diagonal,
    DiagonalSSM,
    LinearRNN,
    LRURing,
    RateRNN,
    Recurrence,
    RingSpectrum,
    ScaledConv,
    ScaledLinearRNN,
    SSMStack,
    StackedLSTM,
    ZeroOrderHold,
    random_linear_rnns,
)

_rng = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    """Small normal entries."""
    return 0.3 * _rng.normal(size=shape)


KEY = jax.random.key(0)
LINEAR = LinearRNN(Dense(normal(3, 3)), normal(3, 1), normal(1, 3))
SCALED = ScaledLinearRNN(normal(4, 4), normal(4, 1), normal(1, 4))
FACTORS = DeepFactorisation([normal(2, 2), normal(2, 2)])
RATES = RateRNN(normal(3, 3), normal(3, 1), normal(1, 3), dt=0.5)
GATED = GRU(normal(6, 1), normal(6, 2), normal(6), normal(2), normal(1, 2))
INPUTS = normal(5, 1)
RING = RingSpectrum(normal(3), normal(3), normal(3))
LAYER = DiagonalSSM(RING, normal(2, 3, 1), normal(2, 1, 3))
STACK = SSMStack.random(LRURing(), 1, features=2, modes=2, key=KEY)

CALLS = {
    "GRU": call(
        input_weights=normal(6, 1), recurrent_weights=normal(6, 2), bias=normal(6),
        candidate_bias=normal(2), readout=normal(1, 2),
    ),
    "LSTM": call(
        input_weights=normal(8, 1), recurrent_weights=normal(8, 2), bias=normal(8),
        readout=normal(1, 2),
    ),
    "ConjugatePairs": call(real=normal(3), imag=normal(3)),
    "DeepFactorisation": call(factors=[normal(2, 3), normal(4, 2)]),
    "DeepFactorisation.random": call(sizes=[2, 3, 2], scale=0.1, dtype=np.float64, key=KEY),
    "DeepFactorisation.coupled": call(
        "", {"ratio": "inf"}, "", size=3, depth=2, scale=0.1, ratio=2.0, dtype=np.float64
    ),
    "DeepFactorisation.product_singular_values": call(self=FACTORS, balanced=True),
    "Dense": call(matrix=normal(3, 3)),
    "Diagonal": call(eigenvalues=normal(3)),
    "DiagonalSSM": call(spectrum=RING, B=normal(2, 3, 1), C=normal(2, 1, 3)),
    "DiagonalSSM.impulse_response": call(self=LAYER, length=4),
    "DiagonalSSM.simulate": call(self=LAYER, inputs=INPUTS, scan=Recurrence()),
    "DiagonalSSM.hankel_singular_values": call(self=LAYER, length=5),
    "DiagonalSSM.random": call(
        start=LRURing(), modes=3, inputs=1, outputs=1, scale=0.1, dtype=np.float64, key=KEY
    ),
    "DiscretisedSpectrum": call(
        log_decay=normal(3), frequency=normal(3), log_step=normal(1), rule=ZeroOrderHold()
    ),
    "GLU": call(weight=normal(2, 2), bias=normal(2)),
    "LRURing": call(r_min=0.1, r_max=0.9, max_phase=3.0, normalised=True),
    "PlainSpectrum": call(real=normal(3), imag=normal(3)),
    "RingSpectrum": call(log_decay=normal(3), phase=normal(3), log_gain=normal(3)),
    "S4DInv": call(rule=ZeroOrderHold(), step_min=0.01, step_max=0.1),
    "S4DLin": call(rule=ZeroOrderHold(), step_min=0.01, step_max=0.1),
    "SSMStack.random": call(
        start=LRURing(), layers=1, features=2, modes=2, inputs=1, outputs=1, scale=0.1,
        gated=True, dtype=np.float64, key=KEY,
    ),
    "SSMStack.simulate": call(self=STACK, inputs=INPUTS, scan=Recurrence()),
    "LinearRNN": call(transition=Diagonal(normal(3)), B=normal(3, 1), C=normal(1, 3)),
    "LinearRNN.impulse_response": call(self=LINEAR, length=4),
    "LinearRNN.response_jacobian": call(self=LINEAR, length=4),
    "LinearRNN.simulate": call(self=LINEAR, inputs=INPUTS, initial_state=normal(3)),
    "LinearRNN.hankel_singular_values": call(self=LINEAR, length=5),
    "LinearRNN.from_impulse_response": call(
        response=0.5 ** np.arange(6.0)[:, None, None], order=1
    ),
    "LinearRNN.random": call(
        transition=Dense, width=3, inputs=1, outputs=1, scale=0.1, balanced=False,
        dtype=np.float64, key=KEY,
    ),
    "Parametrisation": call(name="by maps", input_power=0.0, output_power=1.0),
    "RateRNN": call(
        "", {"nonlinearity": "returns-text returns-nan"}, "",
        W=normal(3, 3), inputs=normal(3, 1), outputs=normal(1, 3), dt=0.5, nonlinearity=np.tanh,
        parametrisation=BY_VECTORS,
    ),
    "RateRNN.rates": call(self=RATES, inputs=normal(2, 5, 1)),
    "RateRNN.random": call(
        "", {"nonlinearity": "returns-text returns-nan"}, "",
        width=3, inputs=1, outputs=1, g=0.5, dt=0.5, nonlinearity=np.tanh,
        parametrisation=BY_VECTORS, dtype=np.float32, key=KEY,
    ),
    "ScaledConv": call(theta=normal(4, 1, 1), rho=np.ones(4)),
    "ScaledConv.impulse_response": call(self=ScaledConv(normal(4, 1, 1), np.ones(4)), length=3),
    "ScaledConv.simulate": call(self=ScaledConv(normal(4, 1, 1), np.ones(4)), inputs=INPUTS),
    "ScaledConv.from_impulse_response": call(response=normal(4, 1, 1), rho=np.ones(4)),
    "ScaledLinearRNN": call(W=normal(4, 4), F=normal(4, 1), C=normal(1, 4)),
    "ScaledLinearRNN.impulse_response": call(self=SCALED, length=3),
    "ScaledLinearRNN.simulate": call(self=SCALED, inputs=INPUTS),
    "ScaledLinearRNN.from_impulse_response": call(response=normal(4, 1, 1)),
    "ScaledLinearRNN.random": call(
        width=4, inputs=1, outputs=1, nu_w=0.5, nu_f=1.0, nu_c=1.0, dtype=np.float64, key=KEY
    ),
    "StackedLSTM": call(
        "", {"biases": "as:bias"}, "",
        input_weights=[normal(8, 1)], recurrent_weights=[normal(8, 2)], biases=[normal(8)],
        readout=normal(1, 2), readout_bias=normal(1),
    ),
    "StackedLSTM.outputs_after": call(
        self=StackedLSTM.random(2, layers=1, key=KEY), inputs=normal(2, 4, 1).astype(np.float32),
        lengths=np.array([3, 4]), dropout=0.2, key=KEY,
    ),
    "StackedLSTM.random": call(
        width=2, layers=2, inputs=1, outputs=1, dtype=np.float32, key=KEY
    ),
    "Symmetric": call(upper=normal(6)),
    "Symmetric.from_matrix": call(matrix=np.eye(3)),
    "image_network": call(
        name="resnet18", key=KEY, classes=2, width=0.1,
        arithmetic=Arithmetic(np.float32, "highest"),
    ),
    "impulse_responses": call(
        models=random_linear_rnns(Dense, 3, scale=0.1, keys=jax.random.split(KEY, 2)), length=3
    ),
    "keras_gated": call(kind=GRU, width=2, key=KEY),
    "keras_linear_rnn": call(width=3, key=KEY),
    "random_linear_rnns": call(
        transition=Dense, width=3, scale=0.1, keys=jax.random.split(KEY, 2), channels=1,
        balanced=False,
    ),
    "xavier_gated": call(kind=GRU, width=2, gain=1.0, key=KEY),
    "xavier_linear_rnn": call(width=3, gain=1.0, key=KEY),
}  # fmt: skip
CALLS = {f"models.{name}": made for name, made in CALLS.items()}
RECORDS = {
    "models.AbstractDiscretisation": "abstract",
    "models.AbstractGate": "abstract",
    "models.AbstractScan": "abstract",
    "models.AbstractSpectrum": "abstract",
    "models.AbstractStart": "abstract",
    "models.AbstractTransition": "abstract",
    "models.AssociativeScan": "takes no arguments",
    "models.Bilinear": "takes no arguments",
    "models.GELU": "takes no arguments",
    "models.Convolution": "takes no arguments",
    "models.Recurrence": "takes no arguments",
    "models.SSMBlock": "made by SSMStack.random",
    "models.SSMStack": "made by SSMStack.random",
    "models.ZeroOrderHold": "takes no arguments",
    "models.Arithmetic": "a choice of dtypes, as it is",
    "models.BatchNorm": "part of a network of image_network",
    "models.ReLUNet": "made by image_network",
    "models.ResNet": "made by image_network",
    "models.Statistics": "what a batch norm saw",
    "models.VGG": "made by image_network",
    "models.renewed": "what descend puts back, of a network and what it saw",
    "models.identity": "the function x ↦ x, handed to RateRNN",
}
