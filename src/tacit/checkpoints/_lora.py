"""A change as a LoRA adapter, in the form of PEFT's files."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tacit._errors import UsageError
from tacit._files import FileKindError, refuse_link, write_atomically
from tacit._tensors import Spec, write_tensors
from tacit.checkpoints._factor_bank import FactorBank

_PREFIX, _WEIGHT = "base_model.model.", ".weight"


def write_adapter(
    folder: Path, bank: FactorBank, ranks: Mapping[str, int | None]
) -> tuple[str, ...]:
    """Write `adapter_model.safetensors` and `adapter_config.json`; the names it cannot hold.

    A linear layer `m.weight` of shape (out, in) becomes `m.lora_A.weight` (r, in) and
    `m.lora_B.weight` (out, r); a convolution of PyTorch's (out, in, k, k) has A (r, in, k, k) and
    B (out, r, 1, 1). Scalings are one: alpha is the rank, layer by layer. What an adapter cannot
    hold is left as BEFORE has it: vectors, tensors stored whole, and names that do not end with
    `.weight`, such as those of recurrent layers.
    """
    try:
        refuse_link(folder)
        for name in ("adapter_model.safetensors", "adapter_config.json"):
            refuse_link(folder / name)
    except FileKindError as error:
        raise UsageError(f"adapter: {error}") from None
    specs: dict[str, Spec] = {}
    parts: dict[str, np.ndarray] = {}
    modules: dict[str, int] = {}
    left_out = []
    for name in (*bank.factored, *bank.whole):
        rank, shape = ranks.get(name), bank.pair.specs[name].shape
        fits = name.endswith(_WEIGHT) and (
            len(shape) == 2 or (len(shape) == 4 and bank.factored[name].layout.rows == shape[0])
        ) if name in bank.factored else False  # fmt: skip
        if not fits or rank is None:
            left_out.append(name)
            continue
        if not rank:
            continue
        factors, module = bank.factored[name], name.removesuffix(_WEIGHT)
        modules[module] = rank
        ends = ((rank, *shape[1:]), (shape[0], rank, *(1,) * (len(shape) - 2)))
        for side, part, end in zip(
            "AB", (factors.right[:rank], factors.left[:, :rank]), ends, strict=True
        ):
            key = f"{_PREFIX}{module}.lora_{side}.weight"
            specs[key] = Spec(part.dtype, end)
            parts[key] = part
    folder.mkdir(parents=True, exist_ok=True)
    write_tensors(
        folder / "adapter_model.safetensors",
        specs,
        lambda key: [parts[key]],
        metadata={"format": "pt"},
    )
    write_atomically(folder / "adapter_config.json", _config(modules))
    return tuple(left_out)


def _config(modules: Mapping[str, int]) -> bytes:
    most = max(modules.values(), default=1)
    other = {module: rank for module, rank in modules.items() if rank != most}
    said = {
        "peft_type": "LORA",
        "base_model_name_or_path": None,
        "task_type": None,
        "r": most,
        "lora_alpha": most,
        "rank_pattern": other,
        "alpha_pattern": other,
        "target_modules": sorted(modules),
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "init_lora_weights": True,
        "use_rslora": False,
    }
    return (json.dumps(said, indent=2, ensure_ascii=False) + "\n").encode()
