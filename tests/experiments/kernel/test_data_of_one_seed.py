"""The sequences of kernel's experiments: what is tested on was not trained on."""

import numpy as np
import pytest

from tacit.reproduction import find_experiment


@pytest.mark.parametrize(
    ("name", "arguments"), [("kernel/fig3", {"delay": 2}), ("kernel/fig1", {})]
)
def test_test_sequences_are_others_with_noise_of_their_own(name, arguments):
    experiment = find_experiment(name).from_preset("smoke")
    x, y, x_test, y_test = experiment.data(seed=0, **arguments)[:4]
    assert x.shape == x_test.shape
    assert y.shape == y_test.shape
    assert not np.isin(x_test, x).any()
    assert not np.isin(y_test, y).any()
