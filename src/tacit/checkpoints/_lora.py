"""A change as a LoRA adapter, in the form of PEFT's files."""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tacit._errors import UsageError
from tacit._files import FileKindError, refuse_link, write_atomically
from tacit._tensors import Spec, write_tensors
from tacit.checkpoints._factor_bank import FactorBank
from tacit.checkpoints._modules import (
    CONVOLUTION,
    EMBEDDING,
    HEAD,
    LINEAR,
    TRANSPOSED,
    WEIGHT,
    config_beside,
    kinds_of,
    tied_embedding,
)

_PREFIX = "base_model.model."


@dataclass(frozen=True)
class Adapter:
    """What an adapter holds and what it does not.

    - `modules`: name → linear, transposed, embedding or convolution.
    - `left_out`: the changed tensors that it cannot hold → why; with it they stay as in BEFORE.
    - `error`: ‖adapted − AFTER‖ / ‖AFTER − BEFORE‖ over all tensors, measured.
    - `tied`: the embedding whose change the head has, too, because they share their weights.
    - `heads_known`: whether it could be told if a head shares an embedding's weights.
    """

    folder: Path
    modules: Mapping[str, str]
    left_out: Mapping[str, str]
    error: float
    tied: str | None = None
    heads_known: bool = True


def write_adapter(
    folder: Path,
    bank: FactorBank,
    ranks: Mapping[str, int | None],
    *,
    embeddings: Collection[str] | None = None,
    transposed: Collection[str] | None = None,
) -> Adapter:
    """Write `adapter_model.safetensors` and `adapter_config.json`, with factors L R at these ranks.

    | module | weight | A | B |
    |---|---|---|---|
    | linear | (out, in) | `lora_A.weight` = R | `lora_B.weight` = L |
    | transposed | (in, out) | `lora_A.weight` = Lᵀ | `lora_B.weight` = Rᵀ |
    | embedding | (words, d) | `lora_embedding_A` = Lᵀ | `lora_embedding_B` = Rᵀ |
    | convolution | (out, in, k, k) | `lora_A.weight` = R (r, in, k, k) | as L (out, r, 1, 1) |

    Scalings are one: alpha is the rank. Where the head of a language model shares the embedding's
    weights, it has the same change, as a linear layer.
    """
    try:
        refuse_link(folder)
        for name in ("adapter_model.safetensors", "adapter_config.json"):
            refuse_link(folder / name)
    except FileKindError as error:
        raise UsageError(f"adapter: {error}") from None
    pair = bank.pair
    kinds, left_out = kinds_of(pair.specs, embeddings, transposed)
    config = config_beside((*pair.before.paths, *pair.after.paths))
    tied = tied_embedding(pair.specs, kinds, config)
    left_out = {name: left_out[name] for name in (*bank.factored, *bank.whole) if name in left_out}
    parts: dict[str, np.ndarray] = {}
    held: dict[str, int] = {}
    used: dict[str, str] = {}
    for module, kind in kinds.items():
        name = module + WEIGHT
        rank = ranks.get(name)
        if name in bank.whole or (name in bank.factored and rank is None):
            left_out[name] = "without factors that are smaller"
        elif name in bank.factored and not _is_out_first(bank, name, kind):
            left_out[name] = "with its inputs first"
        elif name in bank.factored and rank:
            left, right = bank.factored[name].left[:, :rank], bank.factored[name].right[:rank]
            for place, how in ((module, kind), *([(HEAD, LINEAR)] if module == tied else [])):
                held[place], used[place] = rank, how
                parts |= _pair(place, how, left, right, pair.specs[name].shape)
    specs = {key: Spec(part.dtype, part.shape) for key, part in parts.items()}
    if parts:  # PEFT takes no adapter without modules
        folder.mkdir(parents=True, exist_ok=True)
        write_tensors(
            folder / "adapter_model.safetensors",
            specs,
            lambda key: [parts[key]],
            metadata={"format": "pt"},
        )
        write_atomically(folder / "adapter_config.json", _config(held, TRANSPOSED in used.values()))
    known = bool(config) or HEAD + WEIGHT in pair.specs or EMBEDDING not in used.values()
    return Adapter(folder, used, left_out, _error(bank, ranks, left_out), tied, known)


def _is_out_first(bank: FactorBank, name: str, kind: str) -> bool:
    return kind != CONVOLUTION or bank.factored[name].layout.rows == bank.pair.specs[name].shape[0]


def _pair(
    module: str, kind: str, left: np.ndarray, right: np.ndarray, shape: tuple[int, ...]
) -> dict[str, np.ndarray]:
    """A and B of one module by the names that PEFT reads."""
    A, B = (left.T, right.T) if kind in (TRANSPOSED, EMBEDDING) else (right, left)
    if kind == CONVOLUTION:
        A, B = A.reshape(len(A), *shape[1:]), B.reshape(*B.shape, 1, 1)
    names = ("lora_embedding_{}" if kind == EMBEDDING else "lora_{}.weight").format
    return {f"{_PREFIX}{module}.{names(side)}": part for side, part in (("A", A), ("B", B))}


def _error(bank: FactorBank, ranks: Mapping[str, int | None], left_out: Iterable[str]) -> float:
    """The share of the change that BEFORE and the adapter miss together."""
    lost = set(left_out)
    norms = {name: _norm(bank, name) for name in (*bank.factored, *bank.whole)}
    errors = [
        norm if name in lost else bank.error(name, ranks.get(name)) for name, norm in norms.items()
    ]
    total = float(np.linalg.norm(list(norms.values())))
    if not np.isfinite(total):
        return float("inf")
    return float(np.linalg.norm(errors)) / total if total else 0.0


def _norm(bank: FactorBank, name: str) -> float:
    """‖AFTER − BEFORE‖ of a tensor; infinite if it is no number, zero of what has no floats."""
    if name in bank.factored:
        return bank.factored[name].norm
    if name not in bank.pair:
        return 0.0
    norm = float(np.linalg.norm(bank.pair[name].astype(np.float64)))
    return norm if np.isfinite(norm) else float("inf")


def _config(ranks: Mapping[str, int], turned: bool) -> bytes:
    """PEFT's configuration. It matches names by `(.*\\.)?(key)$`, hence the anchors: `0` would be
    `2.0`, too. There is one key for each rank, and each module is in one.
    """
    by_rank = {
        f"^{_any_of(module for module in ranks if ranks[module] == rank)}": rank
        for rank in sorted(set(ranks.values()))
    }
    most = max(ranks.values(), default=1)
    said = {
        "peft_type": "LORA",
        "base_model_name_or_path": None,
        "task_type": None,
        "r": most,
        "lora_alpha": most,
        "rank_pattern": by_rank,
        "alpha_pattern": by_rank,
        "target_modules": _any_of(ranks),
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": turned,
        "inference_mode": True,
        "init_lora_weights": True,
        "use_rslora": False,
    }
    return (json.dumps(said, indent=2, ensure_ascii=False) + "\n").encode()


def _any_of(modules: Iterable[str]) -> str:
    """An expression that matches these names and no other."""
    return f"(?:{'|'.join(re.escape(module) for module in sorted(modules))})"
