"""What an inspection says of a pair, and of a training."""

import json

import numpy as np
import pytest

from tacit import measures
from tacit.checkpoints import CheckpointError, delta, inspect, inspect_run, save_checkpoint
from tacit.draw import Figure


def test_delta_is_after_minus_before(tensors, pair):
    before, after = tensors
    with delta(*pair) as change:
        assert set(change) == {"up.weight", "rnn.weight_hh_l0", "conv.weight", "up.bias"}
        for name in change:
            np.testing.assert_array_equal(change[name], after[name] - before[name])
        assert [change.is_changed(name) for name in ("up.bias", "steps")] == [True, False]
        with pytest.raises(KeyError):
            change["steps"]


def test_an_inspection_agrees_with_measures(tensors):
    before, after = tensors
    found = inspect(before, after)
    shares = {}
    for name in ("up.weight", "rnn.weight_hh_l0", "conv.weight"):
        one = found.by_name[name]
        matrix = np.float64(after[name] - before[name]).reshape(len(before[name]), -1)
        np.testing.assert_allclose(one.norm, np.linalg.norm(matrix), rtol=1e-6)
        np.testing.assert_allclose(one.spectrum.values, measures.singular_values(matrix), atol=1e-5)
        np.testing.assert_allclose(one.start_norm, np.linalg.norm(before[name]), rtol=1e-6)
        shares[name] = np.linalg.norm(matrix) ** 2
        left = measures.truncated(matrix, one.rank) - matrix
        assert np.linalg.norm(left) <= np.sqrt(0.1) * one.norm
    by_outputs = measures.by_outputs(np.moveaxis(after["conv.weight"] - before["conv.weight"],
                                                 (2, 3), (0, 1)).swapaxes(2, 3))  # fmt: skip
    np.testing.assert_allclose(
        found.by_name["conv.weight"].spectrum.values,
        measures.singular_values(by_outputs),
        atol=1e-5,
    )
    total = sum(shares.values()) + np.linalg.norm(after["up.bias"]) ** 2
    for name, share in shares.items():
        np.testing.assert_allclose(found.by_name[name].share, share / total, rtol=1e-5)
    assert found.by_name["up.weight"].spectrum.edge().above == 3
    assert found.by_name["conv.weight"].spectrum.edge().above == 1
    assert found.unchanged == ("steps",)
    assert found.low_rank_numbers < found.numbers


def test_a_stacked_block_is_seen_by_gate(tensors):
    before, after = tensors
    gates = inspect(before, after).by_name["rnn.weight_hh_l0"].gates
    change = after["rnn.weight_hh_l0"] - before["rnn.weight_hh_l0"]
    assert [gate.name[-3:] for gate in gates] == ["[i]", "[f]", "[g]", "[o]"]
    for gate, block in zip(gates, np.split(change, 4), strict=True):
        np.testing.assert_allclose(gate.spectrum.values, measures.singular_values(block), atol=1e-5)
    assert inspect(before, after, gates=1).by_name["rnn.weight_hh_l0"].gates == ()


def test_gates_by_shape_or_as_told():
    rng = np.random.default_rng(0)

    def gates(shapes, **options):
        before = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
        after = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
        found = inspect(before, after, **options)
        return {one.name: len(one.gates) for one in found.tensors}

    lstm = {"l.weight_ih_l0": (32, 5), "l.weight_hh_l0": (32, 8), "out.weight": (32, 8)}
    assert gates(lstm) == {"l.weight_ih_l0": 4, "l.weight_hh_l0": 4, "out.weight": 0}
    assert gates(lstm, gates=4) == dict.fromkeys(lstm, 4)
    assert gates({"gru.weight_hh": (24, 8)}) == {"gru.weight_hh": 3}
    assert gates({"attention.qkv": (24, 8)}) == {"attention.qkv": 0}
    assert gates({"attention.qkv": (24, 8)}, gates=3) == {"attention.qkv": 3}


def test_what_is_not_finite_is_said(tensors):
    before, after = dict(tensors[0]), dict(tensors[1])
    after["up.weight"] = after["up.weight"].copy()
    after["up.weight"][0, 0] = np.nan
    found = inspect(before, after)
    assert not found.by_name["up.weight"].is_finite
    assert "NaN or infinity in up.weight" in found.report()
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert np.isclose(sum(one.share for one in found.tensors), 1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_other_precisions(tensors, dtype):
    import ml_dtypes  # noqa: F401  # registers bfloat16

    before, after = ({"w": part["up.weight"].astype(dtype)} for part in tensors)
    found = inspect(before, after).by_name["w"]
    wide = after["w"].astype(np.float64) - before["w"].astype(np.float64)
    np.testing.assert_allclose(found.norm, np.linalg.norm(wide), rtol=1e-5)
    assert found.spectrum.edge().above == 3


def test_the_functional_rank_is_that_of_measures(tensors):
    before, after = tensors
    target = after["up.weight"].astype(np.float64)

    def loss(path):
        from tacit.checkpoints import open_checkpoint

        with open_checkpoint(path) as found:
            return 0.01 + float(np.mean((found.tensor("up.weight") - target) ** 2))

    found = inspect(before, after, evaluate=loss, max_drop=0.1).functional
    assert found.rank == 3
    assert found.ranks[:5] == (0, 1, 2, 3, 4)
    np.testing.assert_allclose(found.losses[0], found.before, rtol=1e-5)
    where = measures.functional_rank(
        np.array(found.losses), initial=found.before, fraction=found.allowed / found.before
    )
    assert found.ranks[where] == 3


def test_a_report_and_a_figure(tensors, pair):
    found = inspect(*pair)
    words = found.report()
    assert "| up.weight | 60×40 |" in words
    assert "| · i | 16×16 |" in words
    assert "1 not changed: steps." in words
    assert isinstance(found.plot(), Figure)
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [one["name"] for one in record["tensors"] if "gates" in one] == ["rnn.weight_hh_l0"]


def run_of(folder, ranks, names="step-{}"):
    """Checkpoints whose change has these ranks, of growing size."""
    rng = np.random.default_rng(0)
    start = rng.normal(size=(50, 40)).astype(np.float32)
    save_checkpoint(folder / f"{names.format(0)}.safetensors", {"w": start})
    for step, rank in enumerate(ranks, start=1):
        U = np.linalg.qr(rng.normal(size=(50, rank)))[0]
        V = np.linalg.qr(rng.normal(size=(40, rank)))[0]
        path = folder / f"{names.format(100 * step)}.safetensors"
        save_checkpoint(path, {"w": start + (step * U @ V.T).astype(np.float32)})


def test_a_training_in_the_order_of_its_steps(tmp_path):
    run_of(tmp_path, [4, 2, 2, 3, 6, 12, 20], names="v2-step-{}")
    found = inspect_run(tmp_path)
    assert found.steps == (100, 200, 300, 400, 500, 600, 700)
    np.testing.assert_array_equal(found.rank, [4, 2, 2, 3, 6, 11, 18])  # equal singular values
    np.testing.assert_allclose(found.stable_rank, [4, 2, 2, 3, 6, 12, 20], rtol=1e-4)
    assert found.take_off == 500  # 6 is a quarter of the way from 2 to 18
    assert found.losses is None
    assert found.best_step is None
    assert "takes off after step 500" in found.report()
    assert isinstance(found.plot(), Figure)


def test_a_training_that_does_not_take_off(tmp_path):
    run_of(tmp_path, [3, 3, 4])
    found = inspect_run(tmp_path, evaluate=lambda path: abs(len(path.name) - 20.0))
    assert found.take_off is None
    assert "does not take off" in found.report()
    assert len(found.losses) == 4
    assert found.best_step == 100
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["losses"]


def test_checkpoints_in_folders_of_their_own(tmp_path):
    for step in (0, 50, 1000):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        save_checkpoint(folder / "model.safetensors", {"w": np.full((3, 3), step, np.float32)})
    (tmp_path / "notes.txt").touch()
    assert inspect_run(tmp_path).steps == (50, 1000)
    assert inspect_run(tmp_path, before={"w": np.ones((3, 3), np.float32)}).steps == (0, 50, 1000)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ([], "has no checkpoints"),
        (["step-1"], "has one checkpoint"),
        (["final", "step-1"], "no step number"),
        (["a-1", "b-1"], "the same step number, 1"),
    ],
)
def test_a_folder_that_is_no_training(tmp_path, files, words):
    for name in files:
        save_checkpoint(tmp_path / f"{name}.safetensors", {"w": np.zeros((2, 2))})
    with pytest.raises(CheckpointError, match=words):
        inspect_run(tmp_path)


def test_bad_arguments(tensors, tmp_path):
    before, after = tensors
    for options, words in [
        ({"gates": 0}, "gates: received 0"),
        ({"leading": 0}, "leading: received 0"),
        ({"max_drop": -1.0}, "max_drop: received -1"),
        ({"evaluate": 3}, "evaluate: received 3"),
        ({"evaluate": ""}, "evaluate: received no command"),
    ]:
        with pytest.raises(ValueError, match=words):
            inspect(before, after, **options)
    with pytest.raises(CheckpointError, match="share no tensor"):
        inspect({"a": np.zeros(2)}, {"b": np.zeros(2)})
    with pytest.raises(CheckpointError, match="cannot be read"):
        inspect_run(tmp_path / "gone")
