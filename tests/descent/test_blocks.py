"""More lanes than are computed at a time: what a lane does cannot depend on its block.

One test looks inside: no result shows the size of a block.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tacit.descent import GradientFlow, Lanes, Record, Stop, descend
from tacit.descent._blocks import block_size, row_count

COUNT = 300  # more than four blocks of 64: the last rows are empty
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
@pytest.mark.skipif(
    jax.__version_info__ >= (0, 12),
    reason="from JAX 0.12 on the last rows of a block, too few for a vector, may be rounded apart",
)
@pytest.mark.parametrize("shared", [False, True], ids=["own problems", "one problem"])
def test_lanes_in_blocks_are_the_lanes_alone(given, shared):
    every = np.arange(COUNT)
    whole = run(given, every, shared=shared)
    assert set(whole.outcomes) == {"converged", "stopped"}
    assert np.unique(whole.steps).size > 10
    # Some blocks without empty rows, and each of the others fits one.
    for rows in (every[:150], every[150:200], every[200:250], every[250:]):
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
        (150, 16, np.float64, 50),  # tiny models: some thousand numbers, 64 lanes at most
        (600, 16, np.float64, 64),  # many of them, whole blocks
        (48, 1680, np.float64, 48),  # larger ones together, as far as a core's cache holds them
        (96, 1680, np.float64, 48),
        (96, 1680, np.float32, 96),
        (3, 1_000_000, np.float32, 1),
    ],
)
def test_blocks_are_even_and_fit_the_cache(count, numbers, dtype, expected):
    assert block_size(np.zeros((count, numbers), dtype)) == expected


@pytest.mark.parametrize(
    ("count", "numbers", "expected"),
    [
        (255, 16, 255),  # few blocks: no row is empty, and none is computed in vain
        (256, 16, 256),
        (257, 16, 320),
        (1000, 16, 1024),
        (1025, 16, 1280),
        (2400, 16, 2560),
        (500, 81, 500),  # blocks of 50
        (2000, 600, 2000),  # larger models
    ],
)
def test_many_small_models_have_whole_blocks_and_few_numbers_of_them(count, numbers, expected):
    assert row_count(np.zeros((count, numbers))) == expected


def test_on_an_accelerator_no_row_is_empty(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    params = np.zeros((1000, 16))
    assert row_count(params) == block_size(params) == 1000


def test_other_numbers_of_lanes_have_the_same_program(given, compilations):
    def plain(model):
        return jnp.sum(jnp.abs(model) ** 3)

    def other(count, method):
        return descend(
            Lanes(np.resize(given["start"], (count, 3)).astype(np.float32)),
            plain,
            method,
            stop=Stop(20),
            rate=np.resize(given["rate"], count),
            record=Record([0, 3, 20]),
        )

    for method in (optax.adam(0.02), GradientFlow(until=1.0)):
        first = other(500, method)
        with compilations() as seen:
            fewer = other(470, method)
        assert seen == []
        assert fewer.model.tree.shape == (470, 3)
        assert fewer.records["loss"].shape == (470, 3)
        np.testing.assert_array_equal(fewer.model.tree, first.model.tree[:470])
        np.testing.assert_array_equal(fewer.records["loss"], first.records["loss"][:470])
        assert sum(fewer.outcomes.values()) == 470
        assert fewer.statistics.lane_steps == 470 * first.statistics.lane_steps // 500
