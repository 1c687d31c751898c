"""Recorded calls of `tacit.theory`."""

import numpy as np
from recorded import Fresh, call

from tacit.theory import connectivity, kernel

_rng = np.random.default_rng(0)
W0 = 0.3 * _rng.normal(size=(4, 4)) / 2
w, m = _rng.normal(size=(2, 4)) / 2
A0, B0 = _rng.normal(size=(2, 3, 3))
MASK = np.array([[True, False, False], [True, True, False], [False, False, True]])
DIAGONAL = np.eye(3, dtype=bool)
VALUES = np.array([[1.0, 0.5, 0.2], [0.6, 0.9, 0.1], [0.3, 0.2, 1.1]])
RESPONSE = 0.8 ** np.arange(6.0)
TIMES = np.array([0.0, 0.5, 2.0])
MOMENTS = [1.5, 0.65, 0.455]  # atoms 0.7 and 0.1 of weights 0.83…, a positive measure
ATOMS = [0.5 * 0.8**j + 0.7 * 0.3**j for j in range(4)]
SEQUENCES = _rng.normal(size=(2, 4, 1))
WIDE_W, WIDE_F, WIDE_C = (
    _rng.normal(size=(6, 6)), _rng.normal(size=(6, 1)), _rng.normal(size=(1, 6)),
)  # fmt: skip
FAMILY = dict(depth=3, scale=0.1, ratio=2.0, blocks=2, block_size=2, target=1.5)
NETWORK = connectivity.LinearNetwork.random(4, 0.3, seed=0)


def _state() -> connectivity.FixedPoint:
    return connectivity.FixedPoint(NETWORK, 1.0)


CALLS = {
    "connectivity.DecomposedNetwork.of": call(network=NETWORK),
    "connectivity.FixedPoint": call(network=NETWORK, target=1.0),
    "connectivity.LinearNetwork.random": call(size=4, g=0.3, seed=0),
    "connectivity.SimulatedTrial": call(network=NETWORK, target=1.0, steps=20),
    "connectivity.change_norm": call(g=0.3, target=1.0),
    "connectivity.change_series": call(times=TIMES, target=0.5),
    "connectivity.conserved": call(W=W0, w=w, m=m),
    "connectivity.conserved_drift": call(W0=W0, W=W0 + 0.1, w=w, m=m),
    "connectivity.decomposed_curve": call(
        network=connectivity.DecomposedNetwork.of(NETWORK), targets=1.0
    ),
    "connectivity.exact_g0": call(target=1.0),
    "connectivity.gradient_descent": call(
        "", {"lost": "inf", "watch": "returns-text returns-nan"},
        "NaN after an epoch at which it diverged",
        state=Fresh(_state), rate=0.01, epochs=3, lost=1e6, watch=lambda state: 1.0
    ),
    "connectivity.gradient_norm": call(g=0.3, target=1.0),
    "connectivity.large_n": call(g=0.3, targets=1.0, nodes=20),
    "connectivity.largest_stable_rate": call(W=np.outer(w, w), w=w, dt=0.1, steps=10),
    "connectivity.learning_curve": call(W0=W0, w=w, m=m, targets=1.0),
    "connectivity.learning_time": call(g=0.3),
    "connectivity.limit_spectrum": call(g=0.3, nodes=20),
    "connectivity.one_vector": call(frequency=0.2, dt=0.1, steps=100),
    "connectivity.output_series": call(times=TIMES, target=0.5, g=0.2),
    "connectivity.series_end": call(target=0.5, g=0.2),
    "connectivity.shuffled_loss": call(g=0.3),
    "connectivity.shuffled_output_series": call(times=TIMES, target=0.5, g=0.2),
    "connectivity.singular_value_series": call(times=TIMES, target=0.5, g=0.2),
    "connectivity.traces": call(g=0.3),
    **{
        f"connectivity.LearningCurve.{name}": call(
            "", {"times": "inf"}, "", self=Fresh(lambda: connectivity.exact_g0(1.0)), times=TIMES,
            target=1.0,
        )
        for name in ("output", "loss", "arc_length", "gradient_norm", "change")
    },
    "connectivity.LearningCurve.singular_values": call(
        "", {"times": "inf"}, "", self=Fresh(lambda: connectivity.exact_g0(1.0)), times=TIMES,
        target=1.0, count=2,
    ),
    "connectivity.LearningCurve.learning_time": call(
        self=Fresh(lambda: connectivity.exact_g0(1.0)), target=1.0, fraction=0.1
    ),
    "connectivity.LearningCurve.radius_of_convergence": call(
        self=Fresh(lambda: connectivity.exact_g0(1.0)), target=1.0
    ),
    "depth.alignment_bound": call(A0=A0, b0=B0[0], targets=np.array([1.0, 2.0, 3.0])),
    "depth.conserved_quantity": call(
        "", None, "infinite at second = 0, or by overflow, for which log is there", first=2.0,
        second=1.0, depth=3, log=False,
    ),
    "depth.coupled_group_count": call(factors=[A0, B0], observed=MASK, tolerance=1e-12),
    "depth.coupled_groups": call(factors=[A0, B0], observed=MASK),
    "depth.coupling": call(factors=[A0, B0], observed=MASK),
    "depth.disconnected_limit": call(A0=A0, B0=B0, observed=DIAGONAL, values=VALUES),
    "depth.early_flow": call(A0=A0, B0=B0, observed=DIAGONAL, values=VALUES, size=1e-4),
    "depth.escape_time": call(
        "", {"ratio": "inf"}, "overflow, for which log is there", **FAMILY, log=False,
    ),
    "depth.halfway_ratio": call("", None, "", depth=3, product_scale=0.1, blocks=2, target=1.0),
    "depth.lazy_bound": call(A=A0, B=B0, observed=MASK, values=VALUES),
    "depth.lazy_condition": call(
        "", None, "the rank is known for two factors", factors=[A0, B0], observed=MASK,
        values=VALUES,
    ),
    "depth.limit_effective_rank": call("", {"ratio": "inf"}, "", **FAMILY),
    "depth.limit_factor_effective_rank": call(
        "", {"ratio": "inf"}, "", depth=3, scale=0.1, ratio=2.0, blocks=2, target=1.5
    ),
    "depth.limit_singular_values": call("", {"ratio": "inf"}, "", **FAMILY, log=False),
    "depth.plasticity_bound": call(diagonal=1.0, added=0.5),
    "depth.reduced_flow": call("", {"times": "inf", "ratio": "inf"}, "", times=TIMES, **FAMILY),
    "depth.vanishing_limit": call(A0=A0, B0=B0, observed=DIAGONAL, values=VALUES),
    "kernel.Smooth": call(
        "", {"function": "returns-text returns-nan", "derivative": "returns-text returns-nan"},
        "", function=np.tanh, derivative=lambda u: np.cosh(u) ** -2.0, name="tanh",
    ),
    **{
        f"kernel.{kind}.moments": call(
            "", {"a": "inf nan", "b": "inf nan", "c": "inf minus-inf nan"}, "",
            self=getattr(kernel, kind)(), a=np.array([1.0, 2.0]), b=np.array([1.5, 1.0]),
            c=np.array([0.2, -0.3]),
        )
        for kind in ("Erf", "Identity", "ReLU", "Tanh")
    },
    "kernel.finite_width_gram": call(W=WIDE_W, F=WIDE_F, C=WIDE_C, length=3),
    "kernel.finite_width_response": call(W=WIDE_W, F=WIDE_F, C=WIDE_C, length=3),
    "kernel.heaviest_lag": call(nu_w=0.5, nu_f=1.0, nu_c=1.0),
    "kernel.lag_weights": call(length=4, nu_w=0.5, nu_f=1.0, nu_c=1.0),
    "kernel.learning_curve": call(
        "", None, "a rate above the largest diverges, and a zero Gram matrix has no largest",
        gram=np.diag([3.0, 2.0, 1.5, 1.0]), x=SEQUENCES, y=SEQUENCES, rate=0.05,
        steps=np.array([0, 3, 10]), start=np.zeros((4, 1, 1)), x_test=SEQUENCES,
    ),
    "kernel.limit_kernel": call(x=SEQUENCES, x2=SEQUENCES, nu_w=0.5, nu_f=1.0, nu_c=1.0),
    "kernel.recurrent_kernel": call(
        x=SEQUENCES, x2=SEQUENCES, nonlinearity=kernel.Erf(), nu_w=0.5, nu_f=1.0, nu_c=1.0,
        nu_b=0.1, train_bias=True, scale_inputs=False,
    ),
    "kernel.toeplitz": call(x=SEQUENCES),
    "lowdim.extrapolation_bound": call(
        nodes=[0.3, 0.8], weights=[0.7, 0.5], loss=1e-4, lag=7, length=5, radius=1.0, constant=1.0
    ),
    "lowdim.moment_range": call(moments=ATOMS, lag=5, support=(-1.0, 1.0), tolerance=1e-14),
    "lowdim.nonextrapolating_student": call(
        teacher=RESPONSE, length=3, width=5, wrong_value=2.0, radius=1.0
    ),
    "lowdim.prony": call(moments=ATOMS, order=2, tolerance=1e-14),
    "lowdim.threshold": call(order=3, channels=1, ends=0),
    "memoryless.cyclic_counterexample": call(width=4, target=0.7),
    "memoryless.impulse_response": call(A=W0, B=w[:, None], C=m[None], length=4),
    "memoryless.impulse_responses": call(
        A=W0[None], B=w[None, :, None], C=m[None, None], length=4
    ),
    "memoryless.near_zero_loss_counterexample": call(width=5, target=0.7, length=3, loss=1e-3),
    "memoryless.population_gradients": call(A=W0, B=w[:, None], C=m[None], target=0.7, length=4),
    "memoryless.population_loss": call(A=W0, B=w[:, None], C=m[None], target=0.7, length=4),
    "memoryless.spectrum": call(A=W0 + W0.T, B=w[:, None], symmetric=True),
    "regimes.extrapolation_scale": call("", None, "where the error stays above the level",
        target=RESPONSE, length=3, nu_w=0.5, level=0.5, goal=2e-3, largest=30.0
    ),
    "regimes.first_correction": call(target=RESPONSE, length=3, nu_w=0.5),
    "regimes.lazy_fit": call(
        parts={"A": np.eye(4), "C": np.eye(4)}, rates={"A": 0.1, "C": 1.0}, gap=RESPONSE[:3]
    ),
    "regimes.rated_kernel": call(
        parts={"A": np.eye(4), "C": np.eye(4)}, rates={"A": 0.1, "C": 1.0}
    ),
    "regimes.ssm_kernel_parts": call(
        "", dict.fromkeys(
            ("eigenvalues", "input_map", "output_map", "factor", "by_eigenvalue", "by_factor"),
            "complex",
        ), "",
        eigenvalues=np.array([0.5, 0.3j]), input_map=np.ones((2, 1)), output_map=np.ones((1, 2)),
        length=3, factor=np.ones(2), by_eigenvalue=np.eye(2), by_factor=np.zeros((2, 2)),
    ),
    "regimes.kappa": call(
        "", None, "where a lag has no weight", target=RESPONSE, gamma0=0.5, length=3, nu_w=0.5,
        nu_f=1.0, nu_c=1.0,
    ),
    "regimes.kernel_norm": call(
        "", None, "where a lag has no weight", target=RESPONSE, length=3, nu_w=0.5, nu_f=1.0,
        nu_c=1.0,
    ),
    "regimes.kernel_response": call("", {"times": "inf"}, "",
        target=RESPONSE, times=TIMES, length=3, nu_w=0.5, nu_f=1.0, nu_c=1.0
    ),
    "regimes.threshold": call("", None, "for a target that is zero",
        target=RESPONSE, length=3, nu_w=0.5, nu_f=1.0, nu_c=1.0, at=1.0
    ),
    "regimes.wide_error": call(target=RESPONSE, gamma0=0.5, length=3, nu_w=0.5, goal=2e-3),
    "regimes.wide_flow": call(
        target=RESPONSE, gamma0=0.5, length=3, nu_w=0.5, goal=2e-3, rtol=1e-3, steps=100, turns=1
    ),
    "regimes.wide_start": call(length=3, nu_w=0.5, turns=1),
}  # fmt: skip
CALLS = {f"theory.{name}": made for name, made in CALLS.items()}
RECORDS = {
    f"theory.{name}": "what a function here returns"
    for name in (
        "connectivity.Conserved", "connectivity.DescentCurve", "connectivity.LearningCurve",
        "connectivity.LimitSpectrum", "connectivity.OneVector", "connectivity.Traces",
        "depth.DisconnectedLimit", "depth.Eigenvalues", "depth.LazyBound", "depth.LazyCondition",
        "depth.LimitSpectrum", "depth.PlasticityBound", "depth.TwoFactors",
        "kernel.LearningCurve", "kernel.Moments", "kernel.RecurrentKernel",
        "lowdim.Atoms", "lowdim.ExtrapolationBound", "lowdim.MomentRange", "lowdim.Student",
        "memoryless.CyclicCounterexample", "memoryless.Gradients",
        "memoryless.NearZeroLossCounterexample", "regimes.LazyFit", "regimes.WideFlow",
    )
} | {
    "theory.connectivity.DecomposedNetwork": "made by DecomposedNetwork.of",
    "theory.connectivity.LinearNetwork": "made by LinearNetwork.random",
    "theory.kernel.Erf": "without arguments",
    "theory.kernel.Identity": "without arguments",
    "theory.kernel.Nonlinearity": "abstract",
    "theory.kernel.ReLU": "without arguments",
    "theory.kernel.Tanh": "without arguments",
}  # fmt: skip
