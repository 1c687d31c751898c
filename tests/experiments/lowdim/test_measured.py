"""What a descent leaves, as the experiments of lowdim store it."""

from types import SimpleNamespace

import jax
import numpy as np

from tacit.descent import Lanes
from tacit.experiments.lowdim.lengths import MaskedTargets
from tacit.models import Dense, impulse_responses, random_linear_rnns
from tacit.reproduction import find_experiment


def test_the_last_iterate_comes_before_the_best():
    last, best = (
        random_linear_rnns(Dense, 3, scale=0.3, keys=jax.random.split(jax.random.key(n), 2))
        for n in (0, 1)
    )
    result = SimpleNamespace(
        model=Lanes(last), best=Lanes(best), loss=np.array([3.0, 4.0]),
        best_loss=np.array([1.0, 2.0]), outcome=np.array(["stopped"] * 2), steps=np.array([5, 5]),
    )  # fmt: skip
    experiment = find_experiment("lowdim/fig3b").from_preset("smoke")
    lags = max(experiment.horizons)
    responses = impulse_responses(last, lags) * 1.1
    targets = MaskedTargets(responses, np.array([3, 4]), 1)
    found = experiment.measured(targets, result)
    np.testing.assert_array_equal(found["train_loss"], [[3.0, 1.0], [4.0, 2.0]])
    for place, models in enumerate((last, best)):
        expected = impulse_responses(models, lags)[..., 0, 0]
        np.testing.assert_array_equal(found["response"][:, place], expected)
