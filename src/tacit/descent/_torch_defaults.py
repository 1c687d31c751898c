"""Optimisers with PyTorch's defaults, for a rate that lanes choose themselves."""

import optax

from tacit._doors import door, text, wrong

_MADE = {
    "momentum": lambda: optax.sgd(1.0, momentum=0.9),
    "adam": lambda: optax.adam(1.0, b1=0.9, b2=0.999, eps=1e-8),
    "rmsprop": lambda: optax.rmsprop(1.0, decay=0.99, eps=1e-8, eps_in_sqrt=False),
    "adagrad": lambda: optax.adagrad(1.0, initial_accumulator_value=0.0, eps=1e-20),
}


@door(answer="any", name=text)
def torch_defaults(name: str) -> optax.GradientTransformation:
    """An optimiser of rate one with PyTorch's other defaults; `descend(rate=…)` scales it.

    Adagrad's ε stands inside the root here, so that 1e-20 is PyTorch's 1e-10 outside of it.

    **Arguments:**

    - `name`: momentum (SGD with 0.9), adam, rmsprop or adagrad.
    """
    if name not in _MADE:
        raise wrong("name", name, f"must be one of {list(_MADE)}")
    return _MADE[name]()
