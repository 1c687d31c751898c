"""Users' own models: 500 lanes under Adam for 2,000 steps, beside a hand-written `vmap` + `scan`.

Four models as one writes them in Equinox on a first day: a tanh RNN, a perceptron of two layers, a
complex diagonal state-space model and two factors of a matrix, each with a plain loss, 100 seeds ×
5 rates. Both codes stand side by side below: `Ours` hands model and loss to `descend`, which also
keeps the best iterate, the outcome and the stopping state of every lane; `ByHand` is a scan over
the steps under `vmap`, with the same optimiser, which keeps nothing but the last model. The two are
timed in turn, on one core. Compilation counts in full for both sides of the first ratio.

    python -m benchmarks.own_models [rnn mlp ssm factors]
"""

import sys
from typing import Any

from benchmarks._measure import cpu_seconds, pin, report

SEEDS, RATES, STEPS = 100, (1e-3, 2e-3, 5e-3, 1e-2, 2e-2), 2_000
SEQUENCES, LENGTH = 8, 12
REPEATS = 3


def rnn():
    """A tanh RNN of eight units, and the mean squared error of its last output."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class TanhRNN(eqx.Module):
        W: jax.Array
        U: jax.Array
        b: jax.Array
        c: jax.Array

        def __init__(self, *, key):
            w_key, u_key, c_key = jax.random.split(key, 3)
            self.W = jax.random.normal(w_key, (8, 8)) / jnp.sqrt(8.0)
            self.U = jax.random.normal(u_key, (8, 1))
            self.b = jnp.zeros(8)
            self.c = jax.random.normal(c_key, (8,)) / 8

        def __call__(self, inputs):
            def step(x, u):
                return jnp.tanh(self.W @ x + self.U @ u + self.b), None

            x, _ = jax.lax.scan(step, jnp.zeros(8), inputs)
            return self.c @ x

    inputs = jax.random.normal(jax.random.key(1), (SEQUENCES, LENGTH, 1))
    targets = inputs[:, -3, 0]

    def loss(model):
        return jnp.mean((jax.vmap(model)(inputs) - targets) ** 2)

    return (lambda key: TanhRNN(key=key)), loss


def mlp():
    """A perceptron with one hidden layer of 32 units on 64 examples."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    inputs = jax.random.normal(jax.random.key(1), (64, 4))
    targets = jnp.sin(inputs[:, :1]) * inputs[:, 1:2]

    def loss(model):
        return jnp.mean((jax.vmap(model)(inputs) - targets) ** 2)

    return (lambda key: eqx.nn.MLP(4, 1, 32, 1, activation=jnp.tanh, key=key)), loss


def ssm():
    """A diagonal state-space model with eight complex states, and the error of all its outputs."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class DiagonalSSM(eqx.Module):
        log_decay: jax.Array
        angle: jax.Array
        B: jax.Array  # real and imaginary parts
        C: jax.Array

        def __init__(self, *, key):
            angle_key, b_key, c_key = jax.random.split(key, 3)
            self.log_decay = jnp.full(8, -1.0)
            self.angle = jax.random.uniform(angle_key, (8,), maxval=jnp.pi)
            self.B = jax.random.normal(b_key, (2, 8)) / 4
            self.C = jax.random.normal(c_key, (2, 8)) / 4

        def __call__(self, inputs):
            eigenvalues = jnp.exp(-jnp.exp(self.log_decay) + 1j * self.angle)
            B, C = self.B[0] + 1j * self.B[1], self.C[0] + 1j * self.C[1]

            def step(x, u):
                x = eigenvalues * x + B * u
                return x, jnp.real(C @ x)

            return jax.lax.scan(step, jnp.zeros(8, "complex64"), inputs)[1]

    inputs = jax.random.normal(jax.random.key(1), (SEQUENCES, LENGTH))
    targets = jnp.cumsum(inputs, axis=1) / jnp.sqrt(1.0 + jnp.arange(LENGTH))

    def loss(model):
        return jnp.mean((jax.vmap(model)(inputs) - targets) ** 2)

    return (lambda key: DiagonalSSM(key=key)), loss


def factors():
    """Two 10 × 10 factors that complete a matrix of rank two, half of it seen."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Factors(eqx.Module):
        A: jax.Array
        B: jax.Array

        def __init__(self, *, key):
            a_key, b_key = jax.random.split(key)
            self.A = jax.random.normal(a_key, (10, 10)) / 10
            self.B = jax.random.normal(b_key, (10, 10)) / 10

    left_key, right_key, mask_key = jax.random.split(jax.random.key(1), 3)
    left = jax.random.normal(left_key, (10, 2))
    matrix = left @ jax.random.normal(right_key, (2, 10))
    mask = jax.random.bernoulli(mask_key, 0.5, (10, 10))

    def loss(model):
        return jnp.sum(mask * (model.A @ model.B - matrix) ** 2)

    return (lambda key: Factors(key=key)), loss


MODELS = {"rnn": rnn, "mlp": mlp, "ssm": ssm, "factors": factors}


def starts(make: Any) -> tuple[Any, Any]:
    """All models, with a lane axis, and the rate of each."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.key(0), SEEDS)
    models = eqx.filter_vmap(make)(jnp.repeat(keys, len(RATES), axis=0))
    return models, jnp.tile(jnp.array(RATES), SEEDS)


class Ours:
    """`descend` with lanes, a plain loss and a rate for each lane."""

    def __init__(self, make: Any, loss: Any) -> None:
        self.loss = loss
        self.models, self.rates = starts(make)

    def __call__(self) -> Any:
        import optax

        from tacit.descent import Lanes, Stop, descend

        found = descend(
            Lanes(self.models),
            self.loss,
            optax.adam(1.0),
            rate=self.rates,
            stop=Stop(STEPS),
            progress=False,
        )
        return found.loss


class ByHand:
    """Twenty lines of `vmap` and `scan`."""

    def __init__(self, make: Any, loss: Any) -> None:
        import equinox as eqx
        import jax
        import optax

        models, self.rates = starts(make)
        self.arrays, rest = eqx.partition(models, eqx.is_inexact_array)

        def train(arrays, rate):
            adam = optax.adam(rate)

            def step(carry, _):
                arrays, state = carry
                gradient = jax.grad(lambda arrays: loss(eqx.combine(arrays, rest)))(arrays)
                updates, state = adam.update(gradient, state)
                return (optax.apply_updates(arrays, updates), state), None

            (arrays, _), _ = jax.lax.scan(step, (arrays, adam.init(arrays)), length=STEPS)
            return arrays, loss(eqx.combine(arrays, rest))

        self.train = jax.jit(jax.vmap(train))

    def __call__(self) -> Any:
        import numpy as np

        return np.asarray(self.train(self.arrays, self.rates)[1])


def main() -> None:
    """A JSON line for each model: seconds of CPU time, and by hand over ours."""
    names = sys.argv[1:] or list(MODELS)
    if unknown := [name for name in names if name not in MODELS]:
        sys.exit(f"own_models: {unknown[0]!r} is not known, there are {', '.join(MODELS)}")
    pin()
    import jax
    import numpy as np
    import optax

    from tacit.descent import Lanes, Stop, descend

    # What both sides load on first use is not timed: the two libraries, and one small program.
    descend(Lanes(jax.numpy.ones((2, 1))), lambda x: (x**2).sum(), optax.adam(0.1), stop=Stop(1))
    for name in names:
        make, loss = MODELS[name]()
        ours, by_hand = Ours(make, loss), ByHand(make, loss)
        cold, peer_cold = cpu_seconds(ours), cpu_seconds(by_hand)
        warm, peer_warm = 1e9, 1e9
        for _ in range(REPEATS):
            warm, peer_warm = min(warm, cpu_seconds(ours)), min(peer_warm, cpu_seconds(by_hand))
        apart = np.abs(ours() - by_hand())
        report(
            f"{SEEDS} seeds × {len(RATES)} rates, {STEPS} steps: {MODELS[name].__doc__}",
            cold=cold,
            warm=warm,
            peers={"vmap + scan by hand": peer_warm},
            by_hand_with_compile=round(peer_cold, 3),
            ratio_both_with_compile=round(peer_cold / cold, 2),
            ratio_both_warm=round(peer_warm / warm, 2),
            median_difference_of_losses=float(np.median(apart)),
        )


if __name__ == "__main__":
    main()
