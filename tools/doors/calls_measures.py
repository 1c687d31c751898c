"""Recorded calls of `tacit.measures`."""

import numpy as np
from recorded import call

_rng = np.random.default_rng(0)
MATRIX = _rng.normal(size=(5, 4))
SQUARE = _rng.normal(size=(5, 5))
OTHER = SQUARE + 0.1 * _rng.normal(size=(5, 5))
VALUES = np.array([3.0, 2.0, 0.5])
LOSSES = np.array([1.0, 0.6, 0.3, 0.04, 0.03, 0.02])
RESPONSE = 0.8 ** np.arange(8.0)
DIVERGED = "nan inf minus-inf"  # a run that has diverged is an outcome
TIMES = np.arange(1.0, 7.0)

CALLS = {
    "balancedness": call(B=_rng.normal(size=(5, 2)), C=_rng.normal(size=(2, 5))),
    "change_singular_values": call(initial=SQUARE, final=OTHER),
    "by_inputs": call(weights=_rng.normal(size=(2, 2, 3, 4))),
    "by_outputs": call(weights=_rng.normal(size=(2, 2, 3, 4))),
    "mean_layer_ranks": call(
        "", {"layers": "as:weights as:values"}, "", layers=[MATRIX, SQUARE]),
    "crossing": call(
        "", {"y": DIVERGED, "level": "inf minus-inf", "never": DIVERGED, "at_start": DIVERGED}, "",
        x=TIMES, y=LOSSES, level=0.2, falling=True, for_good=False, log_x=False, log_y=False,
        never=9.0, at_start=0.5, axis=-1,
    ),
    "effective_rank": call(matrix=MATRIX),
    "effective_rank_from_singular_values": call(values=VALUES),
    "effective_rank_squared": call(matrix=MATRIX),
    "effective_rank_squared_from_singular_values": call(values=VALUES),
    "effective_ranks": call(spectra=np.stack([VALUES, VALUES])),
    "eigenvalues": call(matrix=SQUARE),
    "epochs_to_fraction": call(
        "", {"losses": DIVERGED}, "infinity where the loss never falls so far",
        losses=LOSSES, fraction=0.1, initial=1.0, window=1, sustained=2),
    "extrapolation_error": call(
        "", {"student": DIVERGED, "teacher": DIVERGED}, "relative to a tail that vanishes",
        student=RESPONSE, teacher=RESPONSE**1.1, start=2, stop=6, relative=True
    ),
    "factor_balancedness": call(factors=[MATRIX, MATRIX.T]),
    "functional_rank": call("", {"losses": DIVERGED}, "", losses=LOSSES, initial=1.0, fraction=0.1),
    "hankel": call(response=RESPONSE, rows=3),
    "hankel_singular_values": call(response=RESPONSE, rows=3),
    "kernel_rotation": call(start=MATRIX @ MATRIX.T, end=SQUARE @ SQUARE.T),
    "largest_lyapunov_exponent": call(
        "", None, "minus infinity: forgotten at once", W=SQUARE, dt=0.5, time=5.0, warm_up=1.0,
        seed=3,
    ),
    "leading_real_parts": call(matrix=SQUARE, count=2, tolerance=1e-3),
    "numerical_rank": call(matrix=MATRIX, tolerance=1e-6),
    "numerical_rank_from_singular_values": call(values=VALUES, tolerance=1e-6),
    "outlying_eigenvalues": call(matrix=SQUARE, radius=1.0, margin=0.1),
    "relative_change": call(start=SQUARE, end=OTHER),
    "settling_point": call(
        "", {"y": DIVERGED}, "infinity if it never settles", x=TIMES, y=LOSSES, level=0.2,
    ),
    "shuffled": call(matrix=MATRIX, seed=3),
    "singular_values": call(matrix=MATRIX),
    "singular_values_or_nan": call(matrices=np.stack([MATRIX, MATRIX])),
    "stable_rank": call(matrix=MATRIX),
    "stable_rank_from_singular_values": call(values=VALUES),
    "stable_ranks": call(spectra=np.stack([VALUES, VALUES])),
    "mean_tail_errors": call(
        "", {"differences": DIVERGED}, "an output that overflowed is infinitely wrong",
        differences=np.stack([[RESPONSE, RESPONSE**1.1]]), lengths=np.array([3]),
    ),
    "tail_errors": call(
        "", {"responses": DIVERGED, "targets": DIVERGED}, "relative to a tail that vanishes",
        responses=np.stack([[RESPONSE, RESPONSE**1.1]]), targets=np.stack([RESPONSE**1.2]),
        lengths=np.array([3]), horizons=[5, 8],
    ),
    "truncated": call(matrix=MATRIX, rank=2),
    "truncation_losses": call(loss=np.sum, initial=SQUARE, final=OTHER, ranks=[0, 1, 2]),
    "truncations": call(matrix=MATRIX, ranks=[0, 1, 2]),
    "with_truncated_change": call(initial=SQUARE, final=OTHER, rank=2),
}  # fmt: skip
CALLS = {f"measures.{name}": made for name, made in CALLS.items()}
