"""Adapters in PEFT itself, and files of PyTorch's, where these are installed (CONTRIBUTING.md)."""

import copy
import pathlib
import pickle
import warnings

import numpy as np
import pytest

from tacit.checkpoints import CheckpointError, NormTolerance, UniformRank, compress, open_checkpoint

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("default")  # theirs are not ours to mend


def tuned(model, ranks=(3,), noise=1e-4):
    """A copy whose matrices have changed by a low rank and a little noise, its vectors too."""
    torch.manual_seed(1)
    made, place = copy.deepcopy(model), 0
    with torch.no_grad():
        for weight in made.parameters():
            if weight.ndim > 1:
                rows, rank = weight.shape[0], ranks[place % len(ranks)]
                columns = weight.numel() // rows
                change = torch.randn(rows, rank) @ torch.randn(rank, columns) / columns**0.5
                weight += weight.std() * (change + noise * torch.randn(rows, columns)).reshape(
                    weight.shape
                )
                place += 1
            else:
                weight += 1e-3 * torch.randn_like(weight)
    return made


def saved(model, folder):
    from safetensors.torch import save_file

    folder.mkdir()
    if hasattr(model, "save_pretrained"):
        model.save_pretrained(folder)
    else:
        save_file(model.state_dict(), folder / "model.safetensors")
    return folder


def loaded(base, folder):
    """The model in PEFT, no key of the adapter missing or left over."""
    peft = pytest.importorskip("peft")
    from safetensors.torch import load_file

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = peft.PeftModel.from_pretrained(copy.deepcopy(base), folder)
    assert not [one for one in told if "missing adapter keys" in str(one.message)]
    found = peft.set_peft_model_state_dict(model, load_file(folder / "adapter_model.safetensors"))
    assert not [key for key in found.missing_keys if "lora" in key]
    assert not found.unexpected_keys
    return model


def error_in_peft(base, after, model):
    """‖adapted − AFTER‖ / ‖AFTER − BEFORE‖ with the changes that PEFT's own layers compute."""
    found = {
        f"{name}.weight": layer.get_delta_weight("default").detach()
        for name, layer in model.base_model.model.named_modules()
        if hasattr(layer, "get_delta_weight")
        and ("default" in layer.lora_A or "default" in layer.lora_embedding_A)
    }
    goal, lost, total = dict(after.named_parameters()), 0.0, 0.0
    for name, weight in base.named_parameters():
        change = (goal[name] - weight).detach().double()
        held = found.get(name, torch.zeros(())).double()
        lost, total = lost + float(((change - held) ** 2).sum()), total + float((change**2).sum())
    return (lost / total) ** 0.5


def llama(tied):
    transformers = pytest.importorskip("transformers")
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=200, hidden_size=32, intermediate_size=80, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=tied,
        )
    )  # fmt: skip


def gpt2():
    transformers = pytest.importorskip("transformers")
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=200, n_embd=32, n_layer=2, n_head=4, n_positions=40)
    )


def short_names():
    nn = torch.nn
    inner = nn.Sequential(nn.Linear(50, 40), nn.ReLU(), nn.Linear(40, 30))
    return nn.Sequential(nn.Linear(60, 50), nn.ReLU(), inner)


def kernels():
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.Conv2d(16, 32, 3), nn.Conv2d(32, 32, 1),
        nn.Conv2d(32, 32, 3, groups=4), nn.Conv2d(32, 32, 3, groups=32), nn.Flatten(),
        nn.Linear(512, 10),
    )  # fmt: skip


CASES = {
    "llama": (lambda: llama(False), (3,), NormTolerance(0.1), (4, 12)),
    "llama, tied": (lambda: llama(True), (3,), NormTolerance(0.1), (4, 12)),
    "gpt2": (gpt2, (3,), NormTolerance(0.1), (4, 12)),
    "short names, unequal ranks": (short_names, (3, 7, 5), NormTolerance(0.01), None),
    "kernels": (kernels, (2,), UniformRank(2), None),
}


@pytest.mark.parametrize("case", CASES)
def test_an_adapter_loads_and_is_as_far_off_as_was_said(tmp_path, case):
    make, ranks, budget, _ = CASES[case]
    torch.manual_seed(0)
    base = make()
    after = tuned(base, ranks)
    made = compress(
        saved(base, tmp_path / "base"), saved(after, tmp_path / "after"),
        tmp_path / "s.safetensors", budget, adapter=tmp_path / "adapter",
    )  # fmt: skip
    model = loaded(base, tmp_path / "adapter")
    assert error_in_peft(base, after, model) == pytest.approx(
        made.adapter.error, rel=1e-3, abs=1e-6
    )
    grouped = {"4.weight", "5.weight"} if case == "kernels" else set()
    assert grouped == {n for n, why in made.adapter.left_out.items() if "grouped" in why}


@pytest.mark.parametrize("case", [name for name, one in CASES.items() if one[3]])
def test_what_the_adapter_puts_out_is_what_was_tuned(tmp_path, case):
    """Embeddings and heads too, which is where most of it went."""
    make, ranks, budget, shape = CASES[case]
    torch.manual_seed(0)
    base = make()
    after = tuned(base, ranks)
    with torch.no_grad():  # an adapter holds no vectors
        kept = dict(base.named_parameters())
        for name, weight in after.named_parameters():
            if weight.ndim < 2:
                weight.copy_(kept[name])
    compress(
        saved(base, tmp_path / "base"), saved(after, tmp_path / "after"),
        tmp_path / "s.safetensors", budget, adapter=tmp_path / "adapter",
    )  # fmt: skip
    words = torch.randint(0, 200, shape)
    with torch.no_grad():
        before, goal, found = (
            one.eval()(words).logits for one in (base, after, loaded(base, tmp_path / "adapter"))
        )
    assert float((found - goal).norm() / (goal - before).norm()) < 0.05


def test_a_state_dict_is_read_as_it_is(tmp_path):
    state = {
        "w": torch.arange(6.0).reshape(2, 3).T,  # not contiguous
        "brain": torch.tensor([1.5, -2.0], dtype=torch.bfloat16),
        "whole": torch.arange(3),
        "truth": torch.tensor([True, False]),
        "half": torch.tensor([0.5], dtype=torch.float16),
    }
    for name, content in (
        ("plain", state), ("nested", {"model": state, "step": 3}),
        ("older", {"state_dict": state}), ("parameters", {n: t.clone() for n, t in state.items()}),
    ):  # fmt: skip
        path = tmp_path / f"{name}.pt"
        torch.save(content, path, _use_new_zipfile_serialization=name != "older")
        with open_checkpoint(path) as found:
            assert set(found.specs) == set(state)
            assert str(found.specs["brain"].dtype) == "bfloat16"
            for key, tensor in state.items():
                array = found.tensor(key)
                assert array.shape == tuple(tensor.shape)
                np.testing.assert_array_equal(
                    array.astype(np.float64), tensor.to(torch.float64).numpy()
                )


class Evil:
    """What makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return pathlib.Path.touch, (self.path,)


def test_a_file_that_would_run_code_is_refused_and_runs_none(tmp_path):
    path = tmp_path / "w.pt"
    path.write_bytes(pickle.dumps(Evil(tmp_path / "pwned"), protocol=2))
    module = tmp_path / "module.pt"
    torch.save(torch.nn.Linear(2, 2), module)
    for place in (path, module):
        with pytest.raises(CheckpointError, match="cannot be read with weights_only") as error:
            open_checkpoint(place)
        assert "nothing in it was run" in str(error.value)
        assert "\n" not in str(error.value)
    assert not (tmp_path / "pwned").exists()
    pickle.loads(path.read_bytes())
    assert (tmp_path / "pwned").exists()  # as it would, and must not have


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"steps": 3}, "holds no tensors by name"),
        ([1, 2], "holds a list, not tensors by name"),
        ({"w": torch.zeros(2, 2).to_sparse()}, "'w' is not a plain one"),
        ({"w": torch.zeros(2, dtype=torch.complex64)}, "'w' is not a plain one"),
    ],
)
def test_what_is_no_state_dict_is_one_sentence(tmp_path, content, words):
    path = tmp_path / "w.pt"
    torch.save(content, path)
    with pytest.raises(CheckpointError, match=words):
        open_checkpoint(path)
