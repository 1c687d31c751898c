"""A grid of lanes and the labelled dataset of its result."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import xarray as xr

from tacit.descent import GradientFlow, Lanes, Record, Stop, descend

SEEDS, RATES = range(3), (1e-1, 1e-2)


def start(seed):
    return np.random.default_rng(seed).normal(size=2)


def grid():
    return Lanes.grid(lambda *, seed, rate: start(seed), seed=SEEDS, rate=RATES)


def bowl(model):
    return jnp.sum(model**2)


def run(lanes, **options):
    options.setdefault("record", Record([0, 5, 20], {"x": lambda model: model}))
    options = {"method": optax.sgd(1.0), "stop": Stop(20), **options}
    return descend(lanes, bowl, **options)


def test_lanes_are_the_points_in_the_order_of_nested_loops():
    lanes = grid()
    assert len(lanes) == 6
    assert lanes.label("seed").tolist() == [0, 0, 1, 1, 2, 2]
    assert lanes.label("rate").tolist() == [1e-1, 1e-2] * 3
    np.testing.assert_array_equal(lanes[3], start(1))


def test_a_result_comes_back_with_the_labels():
    lanes = grid()
    result = run(lanes, rate=lanes.label("rate"))
    dataset = result.to_xarray()
    assert dict(dataset.sizes) == {"seed": 3, "rate": 2, "step": 3, "recorded_x_0": 2}
    for lane, (seed, rate) in enumerate(zip(lanes.label("seed"), lanes.label("rate"), strict=True)):
        here = dataset.sel(seed=seed, rate=rate)
        alone = run(start(seed), rate=rate)
        for name in ("loss", "best_loss", "best_step", "steps", "outcome"):
            assert here[name].item() == getattr(alone, name) == getattr(result, name)[lane]
        np.testing.assert_array_equal(here.recorded_x, alone.records["x"])
        np.testing.assert_array_equal(here.recorded_loss.sel(step=5), alone.records["loss"][1])


def test_a_dataset_goes_back_to_its_lanes():
    lanes = grid()
    result = run(lanes)
    dataset = result.to_xarray()
    flat = dataset.stack(lane=("seed", "rate")).transpose("lane", ...)
    assert flat.seed.values.tolist() == lanes.label("seed").tolist()
    assert flat.rate.values.tolist() == lanes.label("rate").tolist()
    np.testing.assert_array_equal(flat.loss, result.loss)
    np.testing.assert_array_equal(flat.recorded_x, result.records["x"])
    xr.testing.assert_identical(dataset, xr.Dataset.from_dict(dataset.to_dict()))


def test_times_are_a_dimension():
    record = Record.at_times([0.5, 1.0])
    dataset = run(grid(), method=GradientFlow(until=2.0), stop=Stop(500), record=record).to_xarray()
    assert dataset.recorded_loss.dims == ("seed", "rate", "time")
    assert dataset.time.values.tolist() == [0.5, 1.0]
    assert (dataset.recorded_time == dataset.time).all()
    assert dataset.report_time.dims == ("seed", "rate")


def test_one_model_and_lanes_without_a_grid():
    one = run(np.ones(2), record=None).to_xarray()
    assert one.loss.dims == ()
    assert set(one) == {"loss", "best_loss", "best_step", "steps", "outcome"}
    lanes = run(Lanes(np.ones((3, 2)))).to_xarray()
    assert lanes.recorded_x.dims == ("lane", "step", "recorded_x_0")


def test_words_label_and_other_arrays_keep_their_namespace():
    lanes = Lanes.grid(lambda *, kind: jnp.ones(2) * len(kind), kind=("a", "bb"))
    assert isinstance(lanes.tree, jax.Array)
    assert run(lanes, record=None).to_xarray().sel(kind="bb").outcome.item() == "stopped"


def test_labels_follow_replacements_and_not_selections():
    lanes = grid()
    assert lanes.take(np.array([0, 1])).axes == ()
    changed = lanes.replaced(np.array([0]), Lanes(np.zeros((1, 2))))
    assert changed.axes == lanes.axes


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda: Lanes.grid(lambda: 1), "axes: received none"),
        (lambda: Lanes.grid(3, seed=[1]), "make: received 3, it must be a function"),
        (lambda: Lanes.grid(start, seed=[]), r"seed: received \[\], it must hold different values"),
        (
            lambda: Lanes.grid(start, seed=[1, 1]),
            r"seed: received \[1, 1\], it must hold different",
        ),
        (
            lambda: Lanes.grid(start, seed=[np.ones(2)]),
            "seed: received .*, a label must be a number or a word",
        ),
        (lambda: grid().label("width"), r"'width'.*\['seed', 'rate'\]"),
        (
            lambda: Lanes(np.ones((2, 2)), (("seed", (1, 2, 3)),)),
            "3 points, there must be one for each of the 2 lanes",
        ),
        (
            lambda: run(Lanes.grid(lambda *, loss: np.ones(2), loss=[1, 2])).to_xarray(),
            r"\['loss'\].*rename",
        ),
    ],
)
def test_wrong_grids(use, words):
    with pytest.raises(ValueError, match=words):
        use()


def stacked_by_jax(items):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *items)


@pytest.mark.parametrize("kind", ["float32", "float64", "bfloat16", "complex64", "int32", "bool"])
def test_arrays_are_stacked_without_a_program(kind, compilations):
    with jax.enable_x64(True):
        items = [{"x": jnp.full((3, 2), i, kind), "y": jnp.asarray(i, kind)} for i in range(7)]
        expected = stacked_by_jax(items)
    with compilations() as seen:
        found = Lanes.stack(items).tree
    assert seen == []
    for name in ("x", "y"):
        assert isinstance(found[name], jax.Array)
        assert found[name].dtype == kind
        np.testing.assert_array_equal(found[name], expected[name])


def test_what_jax_converts_is_stacked_by_jax():
    keys = [jax.random.key(seed) for seed in range(3)]
    np.testing.assert_array_equal(
        jax.random.key_data(Lanes.stack(keys).tree), jax.random.key_data(jnp.stack(keys))
    )
    for items in (
        [jnp.ones(2, "float32"), jnp.ones(2, "int32")],
        [np.ones(2, "float32"), jnp.ones(2, "float32")],
        [jnp.ones(2, "float32"), np.ones(2, "float16")],
    ):
        found = Lanes.stack(items).tree
        assert found.dtype == jnp.stack(items).dtype
        assert isinstance(found, jax.Array)
    doubled = jax.jit(lambda x: Lanes.stack([x, 2 * x]).tree)(jnp.arange(3.0))
    np.testing.assert_array_equal(doubled, [[0, 1, 2], [0, 2, 4]])
