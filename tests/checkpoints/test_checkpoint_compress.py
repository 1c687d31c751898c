"""Compress and restore: the error is the one that was reported, and nothing else is touched."""

import json
import os
import signal
import subprocess
import sys
import time

import jax
import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit._tensors import Spec
from tacit.checkpoints import (
    CheckpointError,
    MeasuredLoss,
    ModelStart,
    NormalStart,
    NormTolerance,
    OrthogonalStart,
    UniformRank,
    UniformStart,
    compress,
    open_checkpoint,
    restore,
    save_checkpoint,
)
from tacit.checkpoints._files import tensor_file
from tacit.checkpoints._starts import refuse_start_beyond
from tacit.models import LSTM, StackedLSTM


def read(path):
    with open_checkpoint(path) as found:
        return {name: found.tensor(name) for name in found.specs}


def there_and_back(before, after, folder, budget, **options):
    small, back = folder / "small.safetensors", folder / "back.safetensors"
    made = compress(before, after, small, budget, force=True, **options)
    restored = restore(small, back, before, force=True)
    assert restored.differs == ()
    assert made.bytes == small.stat().st_size
    return made, restored, read(back)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize(
    "budget", [UniformRank(0), UniformRank(2), NormTolerance(0.3), NormTolerance(0.01)]
)
def test_restored_weights_have_the_error_that_was_reported(tensors, tmp_path, dtype, budget):
    """To the last bit of float64: measured again here, from the file that restore wrote."""
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    before, after = (
        {n: a.astype(kind) if a.dtype == np.float32 else a for n, a in part.items()}
        for part in tensors
    )
    made, restored, back = there_and_back(before, after, tmp_path, budget)
    errors, norms = [], []
    for name, stored in made.tensors.items():
        end = after[name].astype(np.float64)
        error = np.linalg.norm(back[name].astype(np.float64) - end)
        norm = np.linalg.norm(end - before[name].astype(np.float64))
        np.testing.assert_allclose(stored.error, error, rtol=1e-12)
        np.testing.assert_allclose(stored.norm, norm, rtol=1e-5)
        assert back[name].dtype == after[name].dtype
        if isinstance(budget, NormTolerance):
            assert stored.error <= budget.tolerance * stored.norm
        errors.append(error)
        norms.append(norm)
    whole = np.linalg.norm(errors) / np.linalg.norm(norms)
    np.testing.assert_allclose([made.error, restored.error], whole, rtol=1e-5)


@settings(max_examples=30, deadline=None)
@given(
    rows=st.integers(1, 40),
    columns=st.integers(1, 40),
    tolerance=st.floats(0.01, 0.95),
    scale=st.sampled_from([1e-6, 1.0, 1e4]),
    seed=st.integers(0, 1000),
)
def test_a_tolerance_is_kept(rows, columns, tolerance, scale, seed, tmp_path_factory):
    rng = np.random.default_rng(seed)
    before = {"w": rng.normal(size=(rows, columns)).astype(np.float32)}
    after = {"w": before["w"] + (scale * rng.normal(size=(rows, columns))).astype(np.float32)}
    folder = tmp_path_factory.mktemp("kept", numbered=True)
    made, _, back = there_and_back(before, after, folder, NormTolerance(tolerance))
    change = np.linalg.norm(np.float64(after["w"]) - before["w"])
    error = np.linalg.norm(np.float64(after["w"]) - back["w"])
    assert error <= tolerance * change * (1 + 1e-6)
    assert made.tensors["w"].bytes <= after["w"].nbytes


def test_what_is_stored_and_how(tensors, tmp_path):
    made, _, back = there_and_back(*tensors, tmp_path, UniformRank(3))
    kinds = {name: (one.kind, one.rank) for name, one in made.tensors.items()}
    assert kinds == {
        "up.weight": ("factors", 3),
        "rnn.weight_hh_l0": ("factors", 3),
        "conv.weight": ("factors", 3),
        "up.bias": ("whole", None),
        "steps": ("unchanged", None),
    }
    stored = safetensors.numpy.load_file(tmp_path / "small.safetensors")
    assert stored["left:up.weight"].shape == (60, 3)
    assert stored["right:conv.weight"].shape == (3, 72)
    assert "whole:steps" not in stored
    for name in ("up.bias", "steps"):
        np.testing.assert_array_equal(back[name], tensors[1][name])
    change = stored["left:up.weight"] @ stored["right:up.weight"]
    np.testing.assert_allclose(tensors[0]["up.weight"] + change, back["up.weight"], atol=1e-5)


def test_factors_that_gain_nothing_are_not_made(tensors, tmp_path):
    made, _, back = there_and_back(*tensors, tmp_path, UniformRank(12))
    assert made.tensors["rnn.weight_hh_l0"].rank == 12
    assert made.tensors["conv.weight"].kind == "whole"
    np.testing.assert_array_equal(back["conv.weight"], tensors[1]["conv.weight"])


def test_what_is_not_finite_is_stored_whole(tensors, tmp_path):
    before, after = dict(tensors[0]), dict(tensors[1])
    after["up.weight"] = after["up.weight"].copy()
    after["up.weight"][3] = [np.nan, np.inf] * 20
    made, _, back = there_and_back(before, after, tmp_path, NormTolerance(0.2))
    assert made.tensors["up.weight"].kind == "whole"
    np.testing.assert_array_equal(back["up.weight"], after["up.weight"])


def test_another_start_is_refused_and_named(tensors, pair, tmp_path):
    small, back = tmp_path / "small.safetensors", tmp_path / "back.safetensors"
    compress(*pair, small, UniformRank(2))
    other = {name: array.copy() for name, array in tensors[0].items()}
    other["up.weight"][0, 0] += 1e-6
    del other["steps"]
    with pytest.raises(CheckpointError, match=r"'up.weight' has other bits; 'steps' is not there"):
        restore(small, back, other)
    with pytest.raises(CheckpointError, match="give it as BEFORE"):
        restore(small, back)
    with pytest.raises(CheckpointError, match="not a compressed checkpoint"):
        restore(pair[0], back, pair[0])
    assert not back.exists()


def test_mismatched_checkpoints_are_refused(tensors, tmp_path):
    after = dict(tensors[1])
    del after["up.bias"]
    with pytest.raises(CheckpointError, match=r"do not match: 'up.bias' is in the first only"):
        compress(tensors[0], after, tmp_path / "s.safetensors", UniformRank(1))
    assert list(tmp_path.iterdir()) == []


def test_no_damage_goes_unnoticed(tensors, pair, tmp_path):
    """A byte changed anywhere in the file: refused, in words, and nothing is written."""
    small, back = tmp_path / "small.safetensors", tmp_path / "back.safetensors"
    compress(*pair, small, UniformRank(1))
    data = small.read_bytes()
    rng = np.random.default_rng(0)
    taken = 0
    for place in rng.integers(0, len(data), 150):
        changed = bytearray(data)
        changed[place] ^= 1 << int(rng.integers(8))
        small.write_bytes(changed)
        try:
            restore(small, back, pair[0], force=True)
        except CheckpointError:
            assert not back.exists()
            continue
        # what is not checked does not count: names of tools, spaces, the errors as they are told
        found = read(back)
        assert back.unlink() is None
        taken += 1
        assert set(found) == set(tensors[1])
    assert taken < 30


def _lies(said):
    """Manifests that say what is not so."""
    tensor = said["tensors"]["up.weight"]
    for change in (
        {"shape": [2**39, 40]}, {"shape": [2**20, 2**20]}, {"shape": "60"}, {"rank": 2**30},
        {"rank": 1}, {"rank": -1}, {"rank": None}, {"dtype": "F64"}, {"dtype": "?"},
        {"kind": "whole"}, {"kind": "unchanged"}, {"kind": "code"}, {"norm": "x"}, {"norm": -1},
        {"error": None}, {"before": "0"}, {"factors": 3},
    ):  # fmt: skip
        yield {**said, "tensors": {**said["tensors"], "up.weight": {**tensor, **change}}}
    for change in (
        {"version": 2}, {"version": None}, {"tensors": []}, {"tensors": {}}, {"start": 3},
        {"start": {"kind": "pickle"}}, {"start": {"kind": "normal"}}, {"before": None, "start": []},
        {"start": {"kind": "model", "model": "Popen", "seed": 0}},
        {"start": {"kind": "normal", "seed": -1}},
    ):  # fmt: skip
        yield {**said, **change}
    yield []


def test_a_manifest_that_lies_is_one_sentence(pair, tmp_path):
    small, back = tmp_path / "small.safetensors", tmp_path / "back.safetensors"
    compress(*pair, small, UniformRank(2))
    with open_checkpoint(small) as found:
        tensors = {name: found.tensor(name) for name in found.specs}
    file = tensor_file(small)
    file.close()
    said = json.loads(file.metadata["tacit.checkpoint"])
    for lie in _lies(said):
        safetensors.numpy.save_file(tensors, small, {"tacit.checkpoint": json.dumps(lie)})
        with pytest.raises(ValueError, match=r"damaged|other bits|is not the start") as error:
            restore(small, back, pair[0])
        assert "\n" not in str(error.value)
        assert not back.exists()


@pytest.mark.parametrize("start", [NormalStart(3), UniformStart(3, 0.5), OrthogonalStart(3, 2.0)])
def test_a_start_that_is_drawn_needs_no_file(start, tmp_path):
    shapes = {"a.weight": (30, 20), "b.weight": (12, 40), "bias": (5,)}
    specs = {name: Spec(np.dtype(np.float32), shape) for name, shape in shapes.items()}
    drawn = start.tensors(specs)
    before = {name: drawn(name) for name in shapes}
    assert not before["bias"].any()
    rng = np.random.default_rng(0)
    after = {n: a + rng.normal(size=a.shape).astype(np.float32) for n, a in before.items()}
    small, back = tmp_path / "small.safetensors", tmp_path / "back.safetensors"
    made = compress(before, after, small, UniformRank(2), start=start)
    restore(small, back)
    with_file = tmp_path / "file.safetensors"
    restore(small, with_file, before)
    assert back.read_bytes() == with_file.read_bytes()
    assert made.tensors["bias"].kind == "whole"
    before["a.weight"][0, 0] += 1
    with pytest.raises(CheckpointError, match=r"what is drawn for 'a.weight' has other bits"):
        compress(before, after, tmp_path / "no.safetensors", UniformRank(2), start=start)


def small_file(path, shape, start, **changes):
    """A compressed file in which nothing has changed: a few hundred bytes, whatever its shape."""
    tensor = {"kind": "unchanged", "dtype": "F64", "shape": shape, "before": "0" * 32}
    said = {"version": 1, "before": "", "start": start, "tensors": {"w": {**tensor, **changes}}}
    header = {"__metadata__": {"tacit.checkpoint": json.dumps(said)}}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text)


def test_a_small_file_draws_no_large_start(tmp_path, monkeypatch):
    """What is drawn is bounded by what is stored, and by the tensors that are restored."""
    small, back = tmp_path / "small.safetensors", tmp_path / "back.safetensors"

    def drawn(*_):
        raise AssertionError("it was drawn")

    monkeypatch.setattr(jax.random, "uniform", drawn)
    monkeypatch.setattr(StackedLSTM, "random", drawn)
    for shape in ([2**15, 2**14], [2**12, 2**12 + 1], [2**25]):
        small_file(small, shape, {"kind": "uniform", "seed": 0})
        assert small.stat().st_size < 400
        with pytest.raises(CheckpointError, match=r"numbers is not drawn for 0 bytes"):
            restore(small, back)
    monkeypatch.undo()
    width = {"width": 4096, "layers": 2, "inputs": 100}  # 200 million numbers
    model = {"kind": "model", "model": "StackedLSTM", "seed": 0, "fold": [], "arguments": width,
             "names": {"w": ".readout"}}  # fmt: skip
    small_file(small, [3, 3], model)
    with pytest.raises(ValueError, match=r"it has more than 16,777,216 numbers"):
        restore(small, back)
    small_file(small, [3, 3], {**model, "fold": [0] * 65})
    with pytest.raises(CheckpointError, match="at most 64 whole numbers"):
        restore(small, back)
    assert not back.exists()


@pytest.mark.parametrize("start", [NormalStart(0), ModelStart("StackedLSTM", 0)])
def test_no_start_is_larger_than_half_a_billion_numbers(start):
    specs = {f"w{n}": Spec(np.dtype(np.float32), (2**28,)) for n in range(2)}
    if isinstance(start, NormalStart):
        start.tensors(specs)  # nothing is drawn yet
    with pytest.raises(CheckpointError, match=r"536,870,913 numbers is too large to be drawn"):
        start.tensors({**specs, "x": Spec(np.dtype(np.float32), ())})


def test_as_much_as_is_stored_allows_is_drawn():
    """A matrix and its change at rank one: what compress writes is what restore takes."""
    stored = 4 * 2 * 2048
    refuse_start_beyond(0, [1 << 24])
    refuse_start_beyond(stored, [stored << 12])
    with pytest.raises(CheckpointError, match="give the start as a file"):
        refuse_start_beyond(0, [1 << 24, 1])
    with pytest.raises(CheckpointError, match="give the start as a file"):
        refuse_start_beyond(stored, [stored << 12, 1])


def test_compress_writes_no_start_that_restore_would_not_draw(tmp_path, monkeypatch):
    monkeypatch.setattr("tacit.checkpoints._starts._DRAWN_FREELY", 100)
    start, spec = NormalStart(0), {"w": Spec(np.dtype(np.float32), (30, 20))}
    before = {"w": start.tensors(spec)("w")}
    small = tmp_path / "small.safetensors"
    with pytest.raises(CheckpointError, match="600 numbers is not drawn for 0 bytes"):
        compress(before, before, small, UniformRank(1), start=start)
    assert not small.exists()


def test_what_is_stored_whole_is_not_drawn_and_does_not_count(tmp_path, monkeypatch):
    monkeypatch.setattr("tacit.checkpoints._starts._DRAWN_FREELY", 100)
    monkeypatch.setattr("tacit.checkpoints._starts._DRAWN_PER_BYTE", 0)
    start, shapes = NormalStart(0), {"v": (90,), "w": (30, 20)}
    drawn = start.tensors({n: Spec(np.dtype(np.float32), shape) for n, shape in shapes.items()})
    before = {name: drawn(name) for name in shapes}
    after = {"v": before["v"], "w": np.full_like(before["w"], np.nan)}
    small, back = tmp_path / "small.safetensors", tmp_path / "back.safetensors"
    made = compress(before, after, small, UniformRank(1), start=start)
    assert [one.kind for one in made.tensors.values()] == ["unchanged", "whole"]
    restore(small, back)
    np.testing.assert_array_equal(read(back)["w"], after["w"])


def test_other_bits_than_were_stored_are_an_error(pair, tmp_path):
    """Of a tensor that is stored whole, and of one that has not changed: both are exact."""
    small, back = tmp_path / "small.safetensors", tmp_path / "back.safetensors"
    compress(*pair, small, UniformRank(2))
    with open_checkpoint(small) as found:
        tensors = {name: found.tensor(name) for name in found.specs}
    with tensor_file(small) as file:
        texts = dict(file.metadata)
    damaged = {**tensors, "whole:up.bias": tensors["whole:up.bias"].copy()}
    damaged["whole:up.bias"].view(np.uint8)[5] ^= 4
    safetensors.numpy.save_file(damaged, small, texts)
    with pytest.raises(CheckpointError, match=r"it is damaged: 'up.bias' has other bits"):
        restore(small, back, pair[0])
    said = json.loads(texts["tacit.checkpoint"])
    said["tensors"]["steps"]["restored"] = "0" * 32
    texts["tacit.checkpoint"] = json.dumps(said)
    safetensors.numpy.save_file(tensors, small, texts)
    with pytest.raises(CheckpointError, match=r"it is damaged: 'steps' has other bits"):
        restore(small, back, pair[0])
    assert not back.exists()


def test_starts_have_the_spread_that_they_say():
    spec = {"w": Spec(np.dtype(np.float64), (400, 300))}
    normal, uniform = (
        NormalStart(0, 2.0).tensors(spec)("w"),
        UniformStart(0, 2.0).tensors(spec)("w"),
    )
    np.testing.assert_allclose(normal.std(), 2 / np.sqrt(300), rtol=0.02)
    assert 0.999 < np.abs(uniform).max() * np.sqrt(300) / 2 <= 1
    turned = OrthogonalStart(0, 2.0).tensors(spec)("w")
    np.testing.assert_allclose(turned.T @ turned, 4 * np.eye(300), atol=1e-9)


def test_the_start_of_a_model_of_ours_is_found_by_its_bits(tmp_path):
    key = jax.random.fold_in(jax.random.key(8), 3)
    model = StackedLSTM.random(12, layers=2, inputs=5, key=key)
    before = {
        "lstm.weight_ih_l0": np.asarray(model.input_weights[0]),
        "lstm.weight_hh_l1": np.asarray(model.recurrent_weights[1]),
        "out": np.asarray(model.readout),
    }
    after = {name: array + np.float32(0.1) for name, array in before.items()}
    start = ModelStart("StackedLSTM", 8, (3,), {"width": 12, "layers": 2, "inputs": 5})
    small, back = tmp_path / "small.safetensors", tmp_path / "back.safetensors"
    compress(before, after, small, UniformRank(1), start=start)
    restore(small, back)
    np.testing.assert_allclose(
        read(back)["lstm.weight_hh_l1"], after["lstm.weight_hh_l1"], atol=1e-6
    )
    other = ModelStart("StackedLSTM", 9, (3,), start.arguments)
    with pytest.raises(CheckpointError, match=r"has no array with the bits of 'lstm.weight_ih_l0'"):
        compress(before, after, tmp_path / "no.safetensors", UniformRank(1), start=other)
    wrong = ModelStart("LSTM", 8, (), {"width": 3, "wide": 12})
    with pytest.raises(
        ValueError,
        match=r"start: tacit.models.LSTM.random: .*(a required|an unexpected keyword) argument",
    ):
        compress(before, after, tmp_path / "no.safetensors", UniformRank(1), start=wrong)
    assert LSTM.gates == 4


def test_an_adapter_that_is_there_is_kept(tensors, tmp_path):
    folder = tmp_path / "adapter"
    made = compress(*tensors, tmp_path / "small.safetensors", NormTolerance(0.2), adapter=folder)
    assert set(made.adapter.left_out) == {"rnn.weight_hh_l0", "up.bias"}
    kept = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sorted(kept) == ["adapter_config.json", "adapter_model.safetensors"]
    with pytest.raises(ValueError, match=r"adapter: .* is there already"):
        compress(*tensors, tmp_path / "two.safetensors", UniformRank(1), adapter=folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == kept


class Loss:
    """The squared error of one tensor, in a function that counts."""

    def __init__(self, after, weights):
        self.after, self.weights, self.paths = after, weights, []

    def __call__(self, path):
        self.paths.append(path)
        found = read(path)
        return 1.0 + sum(
            weight * float(np.sum((found[name] - self.after[name]) ** 2))
            for name, weight in self.weights.items()
        )


def test_a_measured_loss_spends_rank_where_it_matters(tmp_path):
    """One matrix matters and one does not: the second is given up, the first is kept."""
    rng = np.random.default_rng(0)
    before = {name: rng.normal(size=(40, 40)).astype(np.float32) for name in ("used", "unused")}
    after = {n: a + rng.normal(size=(40, 40)).astype(np.float32) for n, a in before.items()}
    loss = Loss(after, {"used": 1e-3})
    made, _, _ = there_and_back(
        before, after, tmp_path, MeasuredLoss(loss, max_drop=0.5, most_evaluations=60)
    )
    assert made.tensors["unused"].rank == 0
    assert made.tensors["used"].rank > 3
    assert made.choice.evaluations <= 60
    assert made.choice.loss <= made.choice.allowed == 1.5
    np.testing.assert_allclose(loss(tmp_path / "back.safetensors"), made.choice.loss, rtol=1e-12)
    assert made.bytes < made.choice.by_tolerance
    assert not made.drops
    assert not loss.paths[0].exists()  # candidates are gone


def test_no_rank_that_is_good_leaves_everything_whole(tensors, tmp_path):
    loss = Loss(tensors[1], dict.fromkeys(("up.weight", "rnn.weight_hh_l0", "conv.weight"), 1e9))
    made, _, back = there_and_back(*tensors, tmp_path, MeasuredLoss(loss, max_drop=0.0))
    assert made.error == 0
    np.testing.assert_array_equal(back["up.weight"], tensors[1]["up.weight"])


def test_a_loss_beside_another_budget_tells_when_quality_drops(tensors, tmp_path):
    loss = Loss(tensors[1], {"up.weight": 1e-3})
    bad = compress(*tensors, tmp_path / "bad.safetensors", UniformRank(0), evaluate=loss)
    good = compress(*tensors, tmp_path / "good.safetensors", UniformRank(20), evaluate=loss)
    assert bad.drops
    assert not good.drops
    assert "more than allowed" in bad.report()
    assert bad.to_dict()["quality_drops"] is True
    never = MeasuredLoss(lambda path: float("nan"))
    with pytest.raises(ValueError, match="inf for AFTER itself"):
        compress(*tensors, tmp_path / "no.safetensors", never)
    assert not (tmp_path / "no.safetensors").exists()


def test_outputs_are_kept_and_inputs_never_written(pair, tmp_path):
    before, after = (path.read_bytes() for path in pair)
    for output in pair:
        with pytest.raises(ValueError, match=r"output: .* is one of the inputs"):
            compress(*pair, output, UniformRank(1), force=True)
    with pytest.raises(ValueError, match="is a folder"):
        compress(*pair, tmp_path, UniformRank(1))
    assert (before, after) == tuple(path.read_bytes() for path in pair)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_what_stops_on_the_way_leaves_all_as_it_was(pair, tmp_path, monkeypatch, stop):
    small = tmp_path / "out" / "small.safetensors"
    compress(*pair, small, UniformRank(1))
    old = small.read_bytes()
    calls = []

    def fails(handle):
        calls.append(handle)
        raise stop

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises((KeyboardInterrupt, OSError)):
        compress(*pair, small, UniformRank(3), force=True)
    assert calls
    assert small.read_bytes() == old
    assert [path.name for path in small.parent.iterdir()] == [small.name]


def test_a_kill_leaves_no_half_written_file(tmp_path):
    """In a process of its own, killed while it writes."""
    code = (
        "import numpy as np, sys, time\n"
        "from pathlib import Path\n"
        "from tacit._tensors import Spec, write_tensors\n"
        "def pieces(name):\n"
        "    yield np.zeros(1000, np.float32)\n"
        "    print('begun', flush=True)\n"
        "    time.sleep(60)\n"
        "write_tensors(Path(sys.argv[1]), {'w': Spec(np.dtype('f4'), (2000,))}, pieces)\n"
    )
    path = tmp_path / "w.safetensors"
    with subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"begun\n"
        child.send_signal(signal.SIGKILL)
    assert not path.exists()
    left = list(tmp_path.iterdir())
    assert all(one.name.startswith(".") and one.name.endswith(".tmp") for one in left)
    for one in left:
        os.utime(one, (time.time() - 2 * 24 * 3600,) * 2)
    save_checkpoint(path, {"w": np.zeros(2)})
    assert sorted(tmp_path.iterdir()) == sorted([*left, path])  # the folder is the user's


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: UniformRank(-1), "rank: received -1"),
        (lambda: NormTolerance(0.0), "tolerance: received 0.0"),
        (lambda: NormTolerance(1.0), "tolerance: received 1.0"),
        (lambda: MeasuredLoss("true", max_drop=-0.1), "max_drop: received -0.1"),
        (lambda: MeasuredLoss("true", most_evaluations=1), "most_evaluations: received 1"),
        (lambda: MeasuredLoss(7), "evaluate: received 7"),
        (lambda: NormalStart(-1), "seed: received -1"),
        (lambda: UniformStart(0, 0.0), "scale: received 0.0"),
        (lambda: ModelStart("os", 0), "model: received 'os'"),
        (lambda: ModelStart("LSTM", 0, (-1,)), r"fold\[0\]: received -1"),
        (lambda: compress({}, {}, "x", 3), "budget: received 3"),
        (lambda: compress({}, {}, "", UniformRank(1)), "output: received ''"),
        (lambda: restore(3, "x"), "compressed: received 3"),
    ],
)
def test_bad_arguments(make, words):
    with pytest.raises(ValueError, match=words):
        make()
