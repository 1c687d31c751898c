"""What a compressed file says of itself: each tensor, the start that it needs, and digests."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit._errors import UsageError, shown
from tacit._files import parsed_json
from tacit._tensors import MOST_AXES, NAMES, Spec, name_of
from tacit._version import __version__
from tacit.checkpoints._files import CheckpointError
from tacit.checkpoints._matrices import layout_of
from tacit.checkpoints._starts import AbstractStart, refuse_start_beyond, start_from_dict

KEY, VERSION = "tacit.checkpoint", 1
KINDS = ("unchanged", "factors", "whole")


@dataclass(frozen=True)
class Stored:
    """One tensor of a compressed file.

    `kind`: unchanged (nothing stored), factors or whole. `error` is ‖restored − AFTER‖ and `norm`
    is ‖AFTER − BEFORE‖; `before`, `restored` and `factors` (of both) are digests.
    """

    spec: Spec
    kind: str
    before: str
    restored: str
    rank: int | None = None
    error: float = 0.0
    norm: float = 0.0
    factors: str = ""

    @property
    def relative_error(self) -> float:
        """The share of the change that is missing after restoring."""
        return self.error / self.norm if self.norm else 0.0

    @property
    def bytes(self) -> int:
        """What is stored of it."""
        if self.kind == "whole":
            return self.spec.bytes
        return sum(part.bytes for part in self.parts("").values())

    def parts(self, name: str) -> dict[str, Spec]:
        """The tensors that the file has for it."""
        if self.kind == "whole":
            return {f"whole:{name}": self.spec}
        layout = layout_of(self.spec.shape)
        if self.kind == "unchanged" or not self.rank or layout is None:
            return {}
        return {
            f"left:{name}": Spec(self.spec.dtype, (layout.rows, self.rank)),
            f"right:{name}": Spec(self.spec.dtype, (self.rank, layout.columns)),
        }


@dataclass(frozen=True)
class Manifest:
    """All tensors, and the start: drawn again, or a file with these digests."""

    tensors: Mapping[str, Stored]
    before: str
    start: AbstractStart | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def refuse_large_start(self) -> None:
        """A `CheckpointError` if the start that is drawn is too large for what is stored."""
        refuse_start_beyond(
            sum(one.bytes for one in self.tensors.values()),
            (one.spec.size for one in self.tensors.values() if one.kind != "whole"),
        )

    def to_metadata(self) -> dict[str, str]:
        """As texts for a header."""
        said = {
            "version": VERSION,
            "tool": f"tacit {__version__}",
            "before": self.before,
            "start": None if self.start is None else self.start.to_dict(),
            "tensors": {name: _said(one) for name, one in self.tensors.items()},
            **self.extra,
        }
        return {KEY: json.dumps(said, ensure_ascii=False, separators=(",", ":"))}


def read_manifest(metadata: Mapping[str, str], specs: Mapping[str, Spec], name: str) -> Manifest:
    """The manifest of a compressed file, after every word of it was checked."""
    if KEY not in metadata:
        raise CheckpointError(f"{name} is not a compressed checkpoint: tacit compress makes them")
    try:
        said = parsed_json(metadata[KEY].encode(), unique=True)
        if said.get("version") != VERSION:
            raise ValueError(f"it has the version {shown(said.get('version'))}, known is {VERSION}")
        start = said["start"]
        if not isinstance(said["tensors"], dict):
            raise ValueError("its tensors have no names")
        manifest = Manifest(
            {key: _stored(key, entry) for key, entry in said["tensors"].items()},
            str(said["before"])[:300],
            None if start is None else start_from_dict(start),
        )
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise CheckpointError(f"{name} has a damaged manifest: {str(error)[:100]}") from None
    except (UsageError, ValueError) as error:
        raise CheckpointError(f"{name} has a damaged manifest: {str(error)[:200]}") from None
    wanted = {
        key: part
        for tensor, one in manifest.tensors.items()
        for key, part in one.parts(tensor).items()
    }
    for key, spec in wanted.items():
        if key not in specs or (specs[key].shape, specs[key].dtype) != (spec.shape, spec.dtype):
            raise CheckpointError(f"{name} has a damaged manifest: {shown(key)} is not as it says")
    if len(wanted) != len(specs):
        extra = next(key for key in specs if key not in wanted)
        raise CheckpointError(f"{name} has a damaged manifest: it does not know {shown(extra)}")
    return manifest


def _said(one: Stored) -> dict[str, Any]:
    said: dict[str, Any] = {
        "kind": one.kind,
        "dtype": name_of(one.spec.dtype),
        "shape": list(one.spec.shape),
        "before": one.before,
    }
    if one.kind != "unchanged":
        said["restored"] = one.restored
        said["norm"] = one.norm
    if one.kind == "factors":
        said |= {"rank": one.rank, "error": one.error, "factors": one.factors}
    return said


def _stored(name: str, said: Any) -> Stored:
    shape, kind, rank = said["shape"], said["kind"], said.get("rank")
    dtype = NAMES.get(said["dtype"])
    good_shape = (
        isinstance(shape, list)
        and len(shape) <= MOST_AXES
        and all(type(n) is int and 0 <= n < 2**40 for n in shape)
    )
    if dtype is None or not good_shape or kind not in KINDS or not name.isprintable():
        raise ValueError(f"tensor {shown(name)} is not described")
    spec = Spec(dtype, tuple(shape))
    if spec.size >= 2**48:
        raise ValueError(f"tensor {shown(name)} of shape {shown(shape)} is too large")
    if kind == "factors":
        layout = layout_of(spec.shape)
        if layout is None or type(rank) is not int or not 0 <= rank <= layout.rank:
            raise ValueError(f"tensor {shown(name)} has the rank {shown(rank)}")
    numbers = [said.get(key, 0.0) for key in ("error", "norm")]
    texts = [said["before"], said.get("restored", said["before"])]
    factors = said["factors"] if kind == "factors" else said["before"]
    if not all(isinstance(n, int | float) and np.isfinite(n) and n >= 0 for n in numbers):
        raise ValueError(f"tensor {shown(name)} has an error that is no number")
    if not all(isinstance(t, str) and len(t) == 32 for t in (*texts, factors)):
        raise ValueError(f"tensor {shown(name)} has no digest")
    error, norm = map(float, numbers)
    return Stored(spec, kind, texts[0], texts[1], rank, error, norm, factors)
