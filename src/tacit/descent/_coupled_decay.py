"""SGD, Adam and RMSProp as PyTorch writes them: weight decay is a part of the gradient."""

import optax

from tacit._doors import door, flag, number, text

COUPLED = ("sgd", "adam", "rmsprop")


@door(
    name=text,
    decay=number(0),
    momentum=number(0, below=1),
    nesterov=flag,
    second=number(0, below=1),
)
def coupled_decay(
    name: str,
    rate: optax.ScalarOrSchedule,
    decay: float,
    *,
    momentum: float = 0.9,
    nesterov: bool = False,
    second: float = 0.999,
) -> optax.GradientTransformation:
    """A method whose update sees the gradient of the loss + decay/2 · ‖w‖².

    **Arguments:**

    - `name`: one of `COUPLED`.
    - `rate`: learning rate, or a schedule of it such as `cosine`.
    - `momentum`, `nesterov`: of SGD and, after its scaling, of RMSProp, which has none where
      `momentum` is 0; `momentum` is also the first moment's factor of Adam.
    - `second`: factor of the second moment of Adam; that of RMSProp is PyTorch's 0.99.
    """
    if name not in COUPLED:
        raise ValueError(f"name: received {name!r}, it must be one of {list(COUPLED)}")
    if not callable(rate):
        number()("rate", rate)
    trace = optax.trace(momentum, nesterov=nesterov) if momentum else optax.identity()
    scaled = optax.scale_by_rms(decay=0.99, eps=1e-8, eps_in_sqrt=False)
    inner = {
        "sgd": trace,
        "adam": optax.scale_by_adam(b1=momentum, b2=second),
        "rmsprop": optax.chain(scaled, trace),
    }[name]
    return optax.chain(optax.add_decayed_weights(decay), inner, optax.scale_by_learning_rate(rate))
