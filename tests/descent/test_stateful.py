"""Problems with a state and with steps that count, and descents that go on from a checkpoint."""

import io
import os
import struct
import tracemalloc
import zipfile

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tacit._tensors import encoded
from tacit.descent import Checkpoint, Lanes, Record, Stop, cosine, descend
from tacit.descent import _loop as loop
from tacit.descent import _plan as plan
from tacit.descent._checkpoint import Keeper


class Averaging(eqx.Module):
    """A number that is trained, and the running mean of what was drawn at every step."""

    weight: jax.Array
    mean: jax.Array


class Drawn(eqx.Module):
    """½ (w − x_t)², x_t from the key and the step; the mean of the x_t is state."""

    stochastic = True
    counts_steps = True

    def draw(self, key, step):
        return jax.random.normal(jax.random.fold_in(key, step))

    def loss(self, model, *, key, step):
        return self.loss_and_state(model, key=key, step=step)[0]

    def loss_and_state(self, model, *, key, step):
        x = self.draw(key, step)
        state = Averaging(None, 0.9 * model.mean + 0.1 * x)
        return 0.5 * (model.weight - x) ** 2, state


def start(count=2):
    lanes = [Averaging(jnp.float32(place), jnp.float32(0)) for place in range(count)]
    return Lanes.stack(lanes)


METHOD = optax.chain(optax.add_decayed_weights(0.1), optax.sgd(cosine(0.5, 40), momentum=0.9))


def test_the_state_is_what_the_problem_leaves_and_no_method_touches_it():
    key = jax.random.key(3)
    found = descend(start(), Drawn(), METHOD, stop=Stop(5), key=key)
    for lane, own in enumerate(jax.random.split(key, 2)):
        mean = 0.0
        for step in range(5):
            mean = 0.9 * mean + 0.1 * float(Drawn().draw(own, step))
        assert float(found.model[lane].mean) == pytest.approx(mean, rel=1e-5)
    assert float(found.model[0].weight) != 0


def test_a_problem_that_counts_is_told_its_step_and_keeps_its_key():
    seen = descend(
        start(), Drawn(), optax.sgd(0.0), stop=Stop(3), key=jax.random.key(0), record=Record([0, 2])
    )
    own = jax.random.split(jax.random.key(0), 2)[1]
    by_hand = [0.5 * (1 - float(Drawn().draw(own, step))) ** 2 for step in (0, 2)]
    np.testing.assert_allclose(seen.records["loss"][1], by_hand, rtol=1e-5)


def run(path, *, lanes=2, **options):
    return descend(
        start(lanes), Drawn(), METHOD, stop=Stop(40), key=jax.random.key(1),
        record=Record([0, 7, 30, 40], {"mean": lambda model: model.mean}),
        checkpoint=None if path is None else Checkpoint(path, seconds=0), **options,
    )  # fmt: skip


def test_a_measure_is_computed_where_it_is_recorded_and_at_the_end_only(monkeypatch):
    monkeypatch.setattr(plan, "FIRST", 8)
    monkeypatch.setattr(plan, "SECONDS", 1e-9)  # many segments
    looks = []

    def measure(model):
        jax.debug.callback(lambda mean: looks.append(float(mean)), model.mean)
        return model.mean

    found = descend(start(), Drawn(), METHOD, stop=Stop(40), key=jax.random.key(1),
                    record=Record([0, 7, 40], {"mean": measure}))  # fmt: skip
    assert found.statistics.segments > 8
    assert len(looks) <= 2 * 4  # of each lane: three records and the end
    np.testing.assert_array_equal(found.records["mean"][:, -1], found.model.tree.mean)


class KilledError(Exception):
    """As if the process had ended there."""


@pytest.mark.parametrize("lanes", [2, 300], ids=["two", "many, with empty rows behind them"])
def test_a_killed_descent_goes_on_where_it_was(tmp_path, monkeypatch, lanes):
    monkeypatch.setattr(plan, "FIRST", 8)
    path, segments = tmp_path / "deep" / "run.safetensors", loop.run_segment
    whole, count = run(None, lanes=lanes), 0

    def some(*args):
        nonlocal count
        count += 1
        if count > 1:
            raise KilledError
        return segments(*args)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "run_segment", some)
        with pytest.raises(ValueError, match="KilledError"):
            run(path, lanes=lanes)
    assert path.exists()
    clocks = []

    def noted(kind, fixed, lanes, clock):
        clocks.append(int(clock))
        return segments(kind, fixed, lanes, clock)

    monkeypatch.setattr(loop, "run_segment", noted)
    again = run(path, lanes=lanes)
    assert clocks[0] >= 8  # not from the start
    for name in ("loss", "best_loss", "best_step", "steps"):
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))
    for name, values in whole.records.items():
        np.testing.assert_array_equal(again.records[name], values)
    jax.tree.map(np.testing.assert_array_equal, again.model.tree, whole.model.tree)


def bomb(path):
    """An archive of a few hundred kilobytes that unpacks to 200 MB."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            header, {"descr": "|u1", "fortran_order": False, "shape": (200_000_000,)}
        )
        archive.writestr("owner.npy", header.getvalue() + bytes(200_000_000))


def of_an_unknown_method(path):
    """One bit of an archive's directory flipped: it cannot be unpacked."""
    np.savez(path.with_suffix(".npz"), owner=np.array("me"))
    data = bytearray(path.with_suffix(".npz").read_bytes())
    data[data.index(b"PK\x01\x02") + 10] = 99
    path.write_bytes(data)


def announces(path):
    """A header of 64 GB, in an archive and in a file of now."""
    head = repr({"descr": "<f8", "fortran_order": False, "shape": (2**33,)}).encode() + b"\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("owner.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)


def lies(path):
    made = encoded({"owner": np.zeros(8)}, {"owner": "me"})
    path.write_bytes(made.replace(b"[8]", b"[9]"))


def sparse(path):
    with path.open("wb") as file:
        file.write(encoded({}, {"owner": "me"}))
        file.truncate(2**36)


def of_a_flipped_bit(path):
    data = bytearray(encoded({"x": np.arange(8.0)}, {"owner": "me"}))
    data[-3] ^= 1
    path.write_bytes(data)


def a_pipe(path):
    os.mkfifo(path)


@pytest.mark.parametrize(
    "harm", [bomb, of_an_unknown_method, announces, lies, sparse, of_a_flipped_bit, a_pipe]
)
def test_a_damaged_or_hostile_checkpoint_is_passed_over_at_little_cost(tmp_path, harm):
    path = tmp_path / "run.safetensors"
    harm(path)
    tracemalloc.start()
    try:
        assert Keeper(Checkpoint(path), "me").load() is None
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_what_is_kept_comes_back(tmp_path):
    path = tmp_path / "deep" / "run.safetensors"
    arrays = {"lanes/0": np.asfortranarray(np.eye(2, 3)), "clock": np.asarray(7)}
    Keeper(Checkpoint(path), "me").save(arrays)
    found = Keeper(Checkpoint(path), "me").load()
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
    assert Keeper(Checkpoint(path), "you").load() is None


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_what_is_not_its_checkpoint_is_passed_over(tmp_path, content):
    path = tmp_path / "run.safetensors"
    if content is None:  # that of another descent
        descend(start(3), Drawn(), METHOD, stop=Stop(4), key=jax.random.key(1),
                checkpoint=Checkpoint(path, seconds=0))  # fmt: skip
    else:
        path.write_bytes(content)
    found, whole = run(path), run(None)
    np.testing.assert_array_equal(found.loss, whole.loss)


def test_wrong_numbers_are_named(tmp_path):
    with pytest.raises(ValueError, match="seconds: received -1"):
        Checkpoint(tmp_path / "a.safetensors", seconds=-1)
    with pytest.raises(ValueError, match="steps: received 0"):
        cosine(0.1, 0)


def test_the_rate_falls_along_a_cosine():
    rates = [float(cosine(0.2, 10)(jnp.int32(step))) for step in (0, 5, 10, 20)]
    np.testing.assert_allclose(rates, [0.2, 0.1, 0, 0], atol=1e-8)
