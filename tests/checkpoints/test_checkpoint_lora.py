"""Adapters as PEFT reads them: its rules for names and its formulas, restated here in NumPy."""

import json
import re

import numpy as np
import pytest
import safetensors.numpy

from tacit.checkpoints import NormTolerance, UniformRank, compress, save_checkpoint

RANKS = (3, 7, 5, 2)


def of_rank(rng, rank, *shape):
    """A change of a rank, in float32; a kernel's is that of out × (in · k · k)."""
    columns = int(np.prod(shape[1:]))
    change = rng.normal(size=(shape[0], rank)) @ rng.normal(size=(rank, columns))
    return change.reshape(shape).astype(np.float32)


def pair_of(shapes, ranks=RANKS, vectors=()):
    """Weights before and after, each matrix with a change of its own rank."""
    rng = np.random.default_rng(0)
    before = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    places = {name: place for place, name in enumerate(n for n in shapes if len(shapes[n]) > 1)}
    after = {
        name: array + of_rank(rng, ranks[places[name] % len(ranks)], *array.shape)
        if name in places
        else array + (name in vectors)
        for name, array in before.items()
    }
    return before, after


def adapted(tmp_path, before, after, budget, **options):
    """The compression, PEFT's configuration, and its tensors, after a look at their form."""
    folder = tmp_path / "adapter"
    made = compress(
        before, after, tmp_path / "s.safetensors", budget, adapter=folder, force=True, **options
    )
    config = json.loads((folder / "adapter_config.json").read_text())
    return made, config, safetensors.numpy.load_file(folder / "adapter_model.safetensors")


def rank_of(config, module):
    """PEFT's `get_pattern_key` (0.14 to 0.21), then `rank_pattern` and `alpha_pattern`."""
    found = []
    for pattern, default in (("rank_pattern", "r"), ("alpha_pattern", "lora_alpha")):
        keys = [key for key in config[pattern] if re.match(rf"(.*\.)?({key})$", module)]
        assert len(keys) < 2, "two keys match"
        found.append(config[pattern][keys[0]] if keys else config[default])
    assert found[0] == found[1]  # a scaling of one
    return found[0]


def is_target(config, module):
    """PEFT's `match_target_against_key`, of an expression."""
    assert isinstance(config["target_modules"], str)
    return re.fullmatch(config["target_modules"], module) is not None


def change_of(parts, module, rank, *, kind="linear"):
    """What PEFT adds to a module's weight: `get_delta_weight` of its layers."""
    prefix = f"base_model.model.{module}."
    names = ("lora_embedding_A", "lora_embedding_B") if kind == "embedding" else (
        "lora_A.weight", "lora_B.weight")  # fmt: skip
    A, B = (parts[prefix + name] for name in names)
    if kind == "convolution":
        assert A.ndim == B.ndim == 4
        assert B.shape[2:] == (1, 1)
        assert (A.shape[0], B.shape[1]) == (rank, rank)
        return np.einsum("or,rikl->oikl", B[:, :, 0, 0], A)
    assert (A.shape[0], B.shape[1]) == (rank, rank)
    change = B @ A
    return change if kind == "linear" else change.T


def test_short_names_with_unequal_ranks_have_their_own(tmp_path):
    """`0` must not be `2.0` as well, nor a dot any character."""
    modules = ("0", "2.0", "2.2", "12", "a.b", "aXb", "x.a.b", "head")
    before, after = pair_of({f"{module}.weight": (60, 50) for module in modules})
    made, config, parts = adapted(tmp_path, before, after, NormTolerance(0.001))
    assert made.adapter.modules == dict.fromkeys(modules, "linear")
    for place, module in enumerate(modules):
        assert is_target(config, module)
        assert rank_of(config, module) == RANKS[place % len(RANKS)]
        change = change_of(parts, module, RANKS[place % len(RANKS)])
        name = f"{module}.weight"
        np.testing.assert_allclose(before[name] + change, after[name], atol=1e-4)
    for other in ("1", "2", "2.1", "0.0", "x.0", "a.b.a.b", "head.0", "heads", "a", ""):
        assert not is_target(config, other)
    assert len(parts) == 2 * len(modules)
    assert made.adapter.left_out == {}
    assert made.adapter.error < 1e-5


def test_an_embedding_is_transposed_under_its_own_names(tmp_path):
    shapes = {"model.embed_tokens.weight": (90, 30), "model.up.weight": (60, 30)}
    before, after = pair_of(shapes)
    made, config, parts = adapted(tmp_path, before, after, NormTolerance(0.001))
    assert made.adapter.modules == {"model.embed_tokens": "embedding", "model.up": "linear"}
    assert parts["base_model.model.model.embed_tokens.lora_embedding_A"].shape == (3, 90)
    assert parts["base_model.model.model.embed_tokens.lora_embedding_B"].shape == (30, 3)
    change = change_of(parts, "model.embed_tokens", 3, kind="embedding")
    np.testing.assert_allclose(
        before["model.embed_tokens.weight"] + change, after["model.embed_tokens.weight"], atol=1e-4
    )
    assert "Taken for embeddings: model.embed_tokens. If a head shares" in made.report()
    assert config["fan_in_fan_out"] is False


@pytest.mark.parametrize(
    ("name", "bias", "embedding"),
    [
        ("wte", None, True), ("h.wpe", None, True), ("shared", None, True),
        ("bert.embeddings.word_embeddings", None, True), ("token_emb", None, True),
        ("embeddings.0", None, True), ("Embed_0", None, True),
        ("embed_out", None, False), ("embedding_proj", None, False), ("embed_linear", 90, False),
        ("embed", 90, False), ("0", None, False), ("shared_expert", None, False),
        ("swte", None, False), ("a.member", None, False),
    ],
)  # fmt: skip
def test_embeddings_are_known_by_their_names(tmp_path, name, bias, embedding):
    shapes = {f"{name}.weight": (90, 30)} | ({f"{name}.bias": (bias,)} if bias else {})
    made, *_ = adapted(tmp_path, *pair_of(shapes), UniformRank(3))
    assert made.adapter.modules == {name: "embedding" if embedding else "linear"}


def test_what_is_told_decides(tmp_path):
    shapes = {"0.weight": (90, 30), "embed.weight": (80, 30), "h.c.weight": (30, 70)}
    before, after = pair_of(shapes)
    told = {"embeddings": ["0"], "transposed": ["*.c"]}
    made, config, parts = adapted(tmp_path, before, after, NormTolerance(0.001), **told)
    kinds = {"0": "embedding", "embed": "linear", "h.c": "transposed"}
    assert made.adapter.modules == kinds
    assert config["fan_in_fan_out"] is True
    for (module, kind), rank in zip(kinds.items(), RANKS, strict=False):
        change, name = change_of(parts, module, rank, kind=kind), f"{module}.weight"
        np.testing.assert_allclose(before[name] + change, after[name], atol=1e-4)
    none, *_ = adapted(tmp_path, before, after, UniformRank(2), embeddings=[], transposed=[])
    assert set(none.adapter.modules.values()) == {"linear"}
    for word in ("embeddings", "transposed"):
        with pytest.raises(ValueError, match=f"{word}: received 'gone', which no module is called"):
            adapted(tmp_path, before, after, UniformRank(2), **{word: ["gone"]})


GPT2 = {
    "h.0.attn.c_attn.weight": (32, 96), "h.0.attn.c_attn.bias": (96,),
    "h.0.attn.c_proj.weight": (32, 32), "h.0.attn.c_proj.bias": (32,),
    "h.0.mlp.c_fc.weight": (32, 128), "h.0.mlp.c_fc.bias": (128,),
    "h.0.mlp.c_proj.weight": (128, 32), "h.0.mlp.c_proj.bias": (32,),
}  # fmt: skip


def test_weights_that_are_in_by_out_are_known_by_their_biases(tmp_path):
    """GPT-2's: the square one is what its namesake is."""
    before, after = pair_of(GPT2)
    made, config, parts = adapted(tmp_path, before, after, NormTolerance(0.001))
    assert set(made.adapter.modules.values()) == {"transposed"}
    assert len(made.adapter.modules) == 4
    assert config["fan_in_fan_out"] is True
    for place, module in enumerate(made.adapter.modules):
        change, name = change_of(parts, module, RANKS[place], kind="turned"), f"{module}.weight"
        np.testing.assert_allclose(before[name] + change, after[name], atol=1e-4)


def test_the_same_names_with_linear_layers_are_linear(tmp_path):
    shapes = {n: s[::-1] for n, s in GPT2.items()}
    made, config, _ = adapted(tmp_path, *pair_of(shapes), UniformRank(2))
    assert set(made.adapter.modules.values()) == {"linear"}
    assert config["fan_in_fan_out"] is False


def test_a_square_one_whose_namesakes_differ_is_linear(tmp_path):
    shapes = {
        "a.c.weight": (30, 60), "a.c.bias": (60,), "b.c.weight": (60, 30), "b.c.bias": (60,),
        "d.c.weight": (40, 40), "d.c.bias": (40,),
    }  # fmt: skip
    made, *_ = adapted(tmp_path, *pair_of(shapes), UniformRank(2))
    assert made.adapter.modules == {"a.c": "transposed", "b.c": "linear", "d.c": "linear"}


def test_what_it_cannot_hold_is_named_in_the_first_line_and_counts(tmp_path):
    """The error is the adapter's own: what it leaves out is missing whole."""
    shapes = {
        "up.weight": (60, 40), "up.bias": (60,), "norm.weight": (40,), "odd.weight": (50, 30),
        "odd.bias": (7,), "rnn.weight_hh_l0": (64, 16), "stem.weight": (12, 3, 3, 3),
        "deep.weight": (24, 12, 3, 3), "grouped.weight": (24, 6, 3, 3),
        "each.weight": (24, 1, 3, 3), "line.weight": (24, 12, 3), "out.weight": (1, 60),
    }  # fmt: skip
    before, after = pair_of(shapes, ranks=(2,), vectors=("up.bias", "norm.weight"))
    made, config, parts = adapted(tmp_path, before, after, UniformRank(2))
    assert made.adapter.modules == {
        "up": "linear", "stem": "convolution", "deep": "convolution",
    }  # fmt: skip
    assert made.adapter.left_out == {
        "up.bias": "a bias", "norm.weight": "a vector",
        "odd.weight": "with a bias that fits neither side",
        "rnn.weight_hh_l0": "no weight of a module",
        "grouped.weight": "perhaps a grouped convolution",
        "each.weight": "perhaps a grouped convolution", "line.weight": "with 3 axes",
        "out.weight": "without factors that are smaller",
    }  # fmt: skip
    first = made.report().splitlines()[0]
    assert first.startswith("Not in the adapter: ")
    assert all(name in first for name in made.adapter.left_out)
    assert first.index("grouped.weight") < first.index("norm.weight (a vector)")
    assert first.endswith("it holds 1 linear, 2 convolution.")
    lost = held = 0.0
    for name, array in before.items():
        change = after[name].astype(float) - array
        module = name.removesuffix(".weight")
        if module in made.adapter.modules:
            kind = made.adapter.modules[module]
            assert is_target(config, module)
            found = change_of(parts, module, rank_of(config, module), kind=kind)
            np.testing.assert_allclose(found, change, atol=1e-4)
            lost += np.sum((change - found) ** 2)
        else:
            lost += np.sum(change**2)
        held += np.sum(change**2)
    np.testing.assert_allclose(made.adapter.error, np.sqrt(lost / held), rtol=1e-4)
    assert made.error < 0.01 < made.adapter.error
    assert made.to_dict()["adapter"]["error"] == made.adapter.error


def test_where_nothing_is_held_nothing_is_written(tmp_path):
    before = {"norm.weight": np.zeros(9, np.float32)}
    after = {"norm.weight": np.ones(9, np.float32)}
    made = compress(
        before, after, tmp_path / "s.safetensors", UniformRank(1), adapter=tmp_path / "a"
    )
    assert not (tmp_path / "a").exists()
    assert made.adapter.error == 1
    assert "it holds nothing, and is not written" in made.report().splitlines()[0]


def test_what_has_not_changed_is_no_target(tmp_path):
    before, after = pair_of({"a.weight": (40, 30), "b.weight": (40, 30)})
    after["b.weight"] = before["b.weight"]
    made, config, parts = adapted(tmp_path, before, after, UniformRank(3))
    assert [*made.adapter.modules] == ["a"]
    assert not is_target(config, "b")
    assert len(parts) == 2
    assert made.adapter.left_out == {}


def test_what_is_not_finite_is_missing_without_end(tmp_path):
    before, after = pair_of({"a.weight": (40, 30), "b.weight": (40, 30)})
    after["b.weight"] = np.full_like(after["b.weight"], np.nan)
    made, *_ = adapted(tmp_path, before, after, UniformRank(3))
    assert made.adapter.left_out == {"b.weight": "without factors that are smaller"}
    assert made.adapter.error == np.inf


LLAMA = {"model.embed_tokens.weight": (90, 30), "model.up.weight": (60, 30)}


@pytest.mark.parametrize(
    ("config", "more", "tied"),
    [
        ({"architectures": ["LlamaForCausalLM"], "vocab_size": 90}, {}, True),
        ({"architectures": ["GPT2LMHeadModel"], "vocab_size": 90}, {}, True),
        ({"architectures": ["LlamaModel"], "vocab_size": 90}, {}, False),
        ({"architectures": ["LlamaForCausalLM"], "vocab_size": 91}, {}, False),
        ({"architectures": ["LlamaForCausalLM"], "vocab_size": 90},
         {"lm_head.weight": (90, 30)}, False),
        ({"architectures": []}, {}, False),
        ({"architectures": [3]}, {}, False),
        ([1], {}, False),
    ],
)  # fmt: skip
def test_a_head_that_shares_the_embedding_has_its_change(tmp_path, config, more, tied):
    before, after = pair_of({**LLAMA, **more})
    for name, arrays in (("before", before), ("after", after)):
        (tmp_path / name).mkdir()
        save_checkpoint(tmp_path / name / "model.safetensors", arrays)
    (tmp_path / "before" / "config.json").write_text(json.dumps(config))
    made, said, parts = adapted(
        tmp_path, tmp_path / "before", tmp_path / "after", NormTolerance(0.001)
    )
    assert made.adapter.tied == ("model.embed_tokens" if tied else None)
    assert ("lm_head" in made.adapter.modules) == (tied or bool(more))
    assert ("merging would add the change twice" in made.report()) == tied
    assert ("If a head shares" in made.report()) == (config == [1])
    if tied:
        assert is_target(said, "lm_head")
        assert rank_of(said, "lm_head") == 3
        change = change_of(parts, "lm_head", 3)
        name = "model.embed_tokens.weight"
        np.testing.assert_allclose(before[name] + change, after[name], atol=1e-4)
        assert made.adapter.error < 1e-5
