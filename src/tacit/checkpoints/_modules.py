"""What kind of module a weight belongs to, as an adapter must know it: from names and shapes."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tacit._errors import UsageError, shown
from tacit._files import FileKindError, parsed_json, read_regular
from tacit._tensors import Spec

WEIGHT = ".weight"
LINEAR, TRANSPOSED, EMBEDDING, CONVOLUTION = "linear", "transposed", "embedding", "convolution"
VECTOR, BIAS = "a vector", "a bias"  # what no adapter holds
_EMBEDDING = re.compile(r"embed|embd|(^|_)emb(_|$)|^(wte|wpe|shared)$", re.IGNORECASE)
_NO_EMBEDDING = re.compile(r"(proj|projection|out|head|linear|dense|mapping_in)$", re.IGNORECASE)
_WITH_A_HEAD = ("ForCausalLM", "LMHeadModel")  # how the names of transformers' classes end
HEAD = "lm_head"
_MOST_CONFIG = 2**20


def kinds_of(
    specs: Mapping[str, Spec],
    embeddings: Collection[str] | None = None,
    transposed: Collection[str] | None = None,
) -> tuple[dict[str, str], dict[str, str]]:
    """The kind of each module by its name, and why the other tensors belong to none.

    A matrix is a linear layer (out, in), unless

    - it is an embedding: by its name (`wte`, `wpe`, `shared`, or with `emb` in it), having no bias;
      or it is among `embeddings`, if these are given;
    - it is a layer whose weight is (in, out), as GPT-2's are (transformers' `Conv1D`): its bias has
      the length of the other side. Square ones are what their namesakes are. Or it is among
      `transposed`, if these are given.

    A kernel (out, in, k, k) is one of all channels if `in` is the length of another tensor, and so
    what another layer puts out; or if it is the one kernel of which that is not so, or sees three
    colours: the first layer. Else it may be grouped.
    """
    modules = [name.removesuffix(WEIGHT) for name in specs if name.endswith(WEIGHT)]
    for word, patterns in (("embeddings", embeddings), ("transposed", transposed)):
        for pattern in patterns or ():
            if not any(fnmatchcase(module, pattern) for module in modules):
                raise UsageError(f"{word}: received {shown(pattern)}, which no module is called")
    sides = {module: _sides(specs, module) for module in modules}
    turned = {_last(module) for module, (rows, _) in sides.items() if rows is False}
    straight = {_last(module) for module, (rows, _) in sides.items() if rows is True}
    fed = _fed_by_others(specs)
    first = len(fed) - sum(fed.values()) == 1
    kinds: dict[str, str] = {}
    reasons = {
        name: BIAS if name.endswith(".bias") else "no weight of a module"
        for name in specs
        if not name.endswith(WEIGHT)
    }
    for module in modules:
        name, (rows, biased) = module + WEIGHT, sides[module]
        shape = specs[name].shape
        if len(shape) == 2:
            if _chosen(module, embeddings, not biased and _is_embedding(module)):
                kinds[module] = EMBEDDING
                continue
            likely = rows is False or (
                rows is None and _last(module) in turned and _last(module) not in straight
            )
            if _chosen(module, transposed, likely):
                kinds[module] = TRANSPOSED
            elif biased and rows is None and shape[0] != shape[1]:
                reasons[name] = "with a bias that fits neither side"
            else:
                kinds[module] = LINEAR
        elif len(shape) == 4:
            if fed[name] or first or shape[1] == 3:
                kinds[module] = CONVOLUTION
            else:
                reasons[name] = "perhaps a grouped convolution"
        else:
            reasons[name] = VECTOR if len(shape) < 2 else f"with {len(shape)} axes"
    return kinds, reasons


def _fed_by_others(specs: Mapping[str, Spec]) -> dict[str, bool]:
    """Of each kernel, whether another tensor is as long as its inputs are many."""
    lengths = Counter(spec.shape[0] for spec in specs.values() if spec.shape)
    found = {}
    for name, spec in specs.items():
        if len(spec.shape) == 4:
            rows, inputs, *_ = spec.shape
            # One channel each is what kernels have that look at every channel by itself.
            found[name] = inputs > 1 and lengths[inputs] > (rows == inputs)
    return found


def config_beside(paths: Collection[Path]) -> dict[str, Any]:
    """What `config.json` beside the weights says; empty if there is none that can be read."""
    for path in paths:
        try:  # a link is followed, as the cache of huggingface_hub has them
            place = (path.parent / "config.json").resolve()
            said = parsed_json(read_regular(place, most=_MOST_CONFIG))
        except (OSError, ValueError, FileKindError):
            continue
        if isinstance(said, dict):
            return said
    return {}


def tied_embedding(
    specs: Mapping[str, Spec], kinds: Mapping[str, str], config: Mapping[str, Any]
) -> str | None:
    """The embedding that the head of a language model shares; None if it has a head of its own.

    A model with a head, as `config.json` names its class, whose weights have none, shares it.
    """
    classes = config.get("architectures")
    kind = classes[0] if isinstance(classes, list) and classes else None
    if not isinstance(kind, str) or not kind.endswith(_WITH_A_HEAD) or HEAD + WEIGHT in specs:
        return None
    found = [
        module
        for module, one in kinds.items()
        if one == EMBEDDING and specs[module + WEIGHT].shape[0] == config.get("vocab_size")
    ]
    return found[0] if len(found) == 1 else None


def _chosen(module: str, patterns: Collection[str] | None, likely: bool) -> bool:
    if patterns is None:
        return likely
    return any(fnmatchcase(module, pattern) for pattern in patterns)


def _sides(specs: Mapping[str, Spec], module: str) -> tuple[bool | None, bool]:
    """Whether the bias lies along the rows (None if it does not tell), and whether there is one."""
    shape, bias = specs[module + WEIGHT].shape, specs.get(module + ".bias")
    if bias is None or len(shape) != 2:
        return None, bias is not None
    fits = [bias.shape == (length,) for length in shape]
    return (fits[0] if fits[0] != fits[1] else None), True


def _is_embedding(module: str) -> bool:
    last = _last(module)
    return bool(_EMBEDDING.search(last)) and not _NO_EMBEDDING.search(last)


def _last(module: str) -> str:
    """The last part of a name that is no number: of `embeddings.0` it is `embeddings`."""
    parts = [part for part in module.split(".") if not part.isdecimal()]
    return parts[-1] if parts else ""
