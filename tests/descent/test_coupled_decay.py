"""SGD, Adam and RMSProp with weight decay inside the gradient: their first updates by hand."""

import numpy as np
import pytest

from tacit.descent import coupled_decay

GRADIENT, WEIGHTS = np.array([1.0, 2.0], np.float32), np.array([10.0, 20.0], np.float32)


@pytest.mark.parametrize(
    ("name", "options", "factors"),
    [("sgd", {}, (1.0, 1.0)), ("sgd", {"nesterov": True}, (1.9, 1.9)),
     ("adam", {}, (1 / 2, 1 / 4)), ("rmsprop", {"momentum": 0.0}, (10 / 2, 10 / 4))],
)  # fmt: skip
def test_the_first_update_is_that_of_the_gradient_with_its_decay(name, options, factors):
    method = coupled_decay(name, 0.1, 0.1, **options)
    update, _ = method.update(GRADIENT, method.init(WEIGHTS), WEIGHTS)
    whole = GRADIENT + 0.1 * WEIGHTS
    np.testing.assert_allclose(update, -0.1 * whole * np.array(factors), rtol=1e-4)


def test_other_names_are_refused():
    with pytest.raises(ValueError, match="name: received 'lion', it must be one of"):
        coupled_decay("lion", 0.1, 0.0)
