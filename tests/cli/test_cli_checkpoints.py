"""`tacit inspect`, `compress` and `restore`, as they are typed."""

import json
import sys

import numpy as np
import pytest

from tacit.checkpoints import open_checkpoint, save_checkpoint
from tacit.cli._app import run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A pair of checkpoints, and a program that measures a loss."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    start = rng.normal(size=(30, 20)).astype(np.float32)
    change = (rng.normal(size=(30, 2)) @ rng.normal(size=(2, 20))).astype(np.float32)
    for name, weight in (("before", start), ("after", start + change)):
        save_checkpoint(tmp_path / f"{name}.safetensors", {"a.weight": weight, "b": weight[0]})
    (tmp_path / "loss.py").write_text(
        "import sys, numpy as np, safetensors.numpy as s\n"
        "w, a = (s.load_file(p)['a.weight'] for p in (sys.argv[1], 'after.safetensors'))\n"
        "print('noise')\n"
        "print(1 + float(np.abs(w - a).sum()))\n"
    )
    return tmp_path


PAIR = ["before.safetensors", "after.safetensors"]


def sentence(capsys):
    """The one sentence on standard error."""
    told = capsys.readouterr().err
    assert told.startswith("tacit: ")
    assert told.count("\n") == 1
    return told


@pytest.mark.drawn
def test_a_pair_there_and_back(folder, capsys):
    assert run(["inspect", *PAIR, "--report", "seen"]) == 0
    assert "| a.weight | 30×20 |" in capsys.readouterr().out
    assert (folder / "seen" / "figure.png").stat().st_size > 5000
    assert run(["compress", *PAIR, "--rank", "2", "-o", "small.safetensors"]) == 0
    assert "times smaller" in capsys.readouterr().out
    assert run(["restore", "small.safetensors", PAIR[0], "-o", "back.safetensors", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["error"] < 1e-6
    with open_checkpoint("back.safetensors") as back, open_checkpoint(PAIR[1]) as after:
        np.testing.assert_allclose(back.tensor("a.weight"), after.tensor("a.weight"), atol=1e-5)
        np.testing.assert_array_equal(back.tensor("b"), after.tensor("b"))


def test_by_a_command(folder, capsys):
    command = f"{sys.executable} loss.py {{}}"
    asked = ["compress", *PAIR, "-o", "small.safetensors", "--evaluate", command, "--json"]
    assert run([*asked, "--max-drop", "0.01", "--evaluations", "6", "--lora", "adapter"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["evaluations"] <= 6
    assert told["loss"] <= told["loss_allowed"]
    assert [one["rank"] for one in told["tensors"]] == [2, None]
    assert (folder / "adapter" / "adapter_config.json").exists()
    assert run([*asked, "--rank", "1", "--force"]) == 0
    assert "quality drops: the loss is" in capsys.readouterr().err


def test_a_run(folder, capsys):
    (folder / "run").mkdir()
    for step, name in ((0, "before"), (10, "after")):
        (folder / f"{name}.safetensors").rename(folder / "run" / f"step-{step}.safetensors")
    assert run(["inspect", "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rank"] == [2.0]


def test_a_start_as_a_seed(folder, capsys):
    from tacit._tensors import Spec
    from tacit.checkpoints import NormalStart

    spec = Spec(np.dtype(np.float32), (30, 20))
    start = NormalStart(5, 0.5).tensors({"w": spec})("w")
    save_checkpoint("a.safetensors", {"w": start})
    save_checkpoint("b.safetensors", {"w": start + np.float32(0.25)})
    pair = ["a.safetensors", "b.safetensors"]
    text = "normal seed=5 scale=0.5"
    assert run(["compress", *pair, "--rank", "1", "-o", "s.safetensors", "--start", text]) == 0
    assert run(["restore", "s.safetensors", "-o", "back.safetensors"]) == 0
    with open_checkpoint("back.safetensors") as back:
        np.testing.assert_allclose(back.tensor("w"), start + 0.25, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["inspect", "gone.safetensors", PAIR[1]], "gone.safetensors is not there"),
        (["inspect", PAIR[0]], "is no folder of checkpoints"),
        (["inspect", "loss.py", PAIR[1]], "cannot be read"),
        (["inspect", "."], "no step number in its name"),
        (["inspect", *PAIR, "--gates", "x"], "allowed is an integer"),
        (["inspect", *PAIR, "--start", PAIR[0]], "--start: received with two checkpoints"),
        (["compress", *PAIR, "-o", "s.safetensors"], "give --rank R, --tolerance T or"),
        (["compress", *PAIR, "-o", "s", "--rank", "1", "--tolerance", "0.1"], "received both"),
        (["compress", *PAIR, "-o", "s", "--tolerance", "2"], "tolerance: received 2.0"),
        (["compress", *PAIR, "-o", "s", "--rank", "-1"], "rank: received -1"),
        (["compress", *PAIR, "-o", PAIR[1], "--rank", "1", "--force"], "is one of the inputs"),
        (["compress", *PAIR, "-o", "loss.py", "--rank", "1"], "is there already"),
        (["compress", *PAIR, "-o", "s", "--rank", "1", "--start", "normal"], "must have seed="),
        (["compress", *PAIR, "-o", "s", "--rank", "1", "--start", "nomal seed=1"], "'normal'"),
        (["compress", *PAIR, "-o", "s", "--rank", "1", "--start", "normal seed=1"], "other bits"),
        (["compress", *PAIR, "-o", "s", "--evaluate", "nothing-like-it"], "cannot be run"),
        (["compress", *PAIR, "-o", "s", "--evaluate", "false"], "ended with exit code 1"),
        (["compress", *PAIR, "-o", "s", "--evaluate", "echo"], "must be a number"),
        (["compress", *PAIR, "-o", "s", "--evaluate", "a 'b"], "No closing quotation"),
        (["restore", PAIR[0], "-o", "s"], "is not a compressed checkpoint"),
        (["restore", "gone", "-o", "s"], "gone is not there"),
    ],
)
def test_wrong_use_is_one_sentence(folder, capsys, arguments, words):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert run(arguments) == 2
    assert words in sentence(capsys)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
