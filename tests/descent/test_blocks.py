"""More lanes than are computed at a time: what a lane does cannot depend on its block.

One test looks inside: no result shows the size of a block.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tacit.descent import Lanes, Record, Stop, descend
from tacit.descent._segment import Lane, block_size

COUNT = 150
RECORD = Record([0, 7, 63, 64, 65, 128, 200], {"x": lambda model: model})


class Noisy(eqx.Module):
    """A bowl that is shaken: it needs a key, a centre of its own, and shows the order of both."""

    stochastic = True
    centre: jax.Array

    def loss(self, model, *, key):
        return jnp.sum((model - self.centre + 0.1 * jax.random.normal(key, model.shape)) ** 2)


@pytest.fixture(scope="module")
def given():
    rng = np.random.default_rng(0)
    return {
        "start": rng.normal(size=(COUNT, 3)),
        "centre": rng.normal(size=(COUNT, 3)),
        "rate": rng.uniform(0.5, 2, COUNT),
        # Some lanes end at once, some after tens of steps, some never.
        "goal": rng.choice([1e3, 0.5, 0.05, 1e-12], COUNT),
    }


def run(given, rows, *, shared):
    with jax.enable_x64(True):
        keys = jax.vmap(lambda i: jax.random.fold_in(jax.random.key(5), i))(jnp.asarray(rows))
        centre = jnp.asarray(given["centre"])
        problem = Noisy(centre[0]) if shared else Lanes(Noisy(centre[rows]))
    return descend(
        Lanes(given["start"][rows]),
        problem,
        optax.adam(0.02),
        stop=Stop(200, loss=given["goal"][rows]),
        rate=given["rate"][rows],
        key=Lanes(keys),
        record=RECORD,
    )


@pytest.mark.bits
@pytest.mark.parametrize("shared", [False, True], ids=["own problems", "one problem"])
def test_lanes_in_blocks_are_the_lanes_alone(given, shared):
    every = np.arange(COUNT)
    whole = run(given, every, shared=shared)
    assert set(whole.outcomes) == {"converged", "stopped"}
    assert np.unique(whole.steps).size > 10
    for rows in (every[:50], every[50:100], every[100:]):  # each fits one block
        part = run(given, rows, shared=shared)
        np.testing.assert_array_equal(whole.model.tree[rows], part.model.tree)
        np.testing.assert_array_equal(whole.best.tree[rows], part.best.tree)
        for name in ("loss", "best_loss", "best_step", "steps", "outcome"):
            np.testing.assert_array_equal(getattr(whole, name)[rows], getattr(part, name))
        for name, values in part.records.items():
            np.testing.assert_array_equal(whole.records[name][rows], values)


@pytest.mark.parametrize(
    ("count", "numbers", "dtype", "expected"),
    [
        (600, 16, np.float64, 60),  # tiny models: some thousand numbers, 64 lanes at most
        (48, 1680, np.float64, 48),  # larger ones together, as far as a core's cache holds them
        (96, 1680, np.float64, 48),
        (96, 1680, np.float32, 96),
        (3, 1_000_000, np.float32, 1),
    ],
)
def test_blocks_are_even_and_fit_the_cache(count, numbers, dtype, expected):
    with jax.enable_x64(True):
        row = jnp.zeros(count, jnp.int32)
        params = jnp.zeros((count, numbers), dtype)
        assert block_size(Lane(params, None, row, params, row, row, row, row, row, row)) == expected
