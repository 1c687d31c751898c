"""A compressed file put back together: the weights that `compress` measured."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit._doors import door, flag, path
from tacit._tensors import Spec, TensorFile, blocks, write_tensors
from tacit.checkpoints._checkpoint import Checkpoint, opened
from tacit.checkpoints._delta import listed
from tacit.checkpoints._digest import Digest, digest, digest_of, digest_of_factors
from tacit.checkpoints._factor_bank import put_back
from tacit.checkpoints._files import CheckpointError, check_output, tensor_file
from tacit.checkpoints._manifest import Manifest, Stored, read_manifest
from tacit.checkpoints._matrices import layout_of


@dataclass(frozen=True)
class Restored:
    """What `restore` wrote: the file, its bytes, and the errors that `compress` measured.

    `differs` has the names of tensors with other bits than `compress` had, which another processor
    or library can round differently in the last place.
    """

    path: Path
    bytes: int
    tensors: Mapping[str, Stored]
    differs: tuple[str, ...]

    @property
    def error(self) -> float:
        """‖restored − AFTER‖ / ‖AFTER − BEFORE‖, as `compress` measured it."""
        errors = np.linalg.norm([one.error for one in self.tensors.values()])
        norms = np.linalg.norm([one.norm for one in self.tensors.values()])
        return float(errors / norms) if norms else 0.0


@door(answer="any", compressed=path, output=path, force=flag)
def restore(
    compressed: str | os.PathLike[str],
    output: str | os.PathLike[str],
    before: Any = None,
    *,
    force: bool = False,
) -> Restored:
    """Put a compressed checkpoint back together, as one safetensors file.

    **Arguments:**

    - `compressed`: a file that `compress` wrote.
    - `output`: the file to write. It is there whole, or not at all.
    - `before`: the start, as for `inspect`. Its tensors must have the bits that `compress` had.
      Not needed where the start is drawn from a seed.
    - `force`: write over a file.
    """
    place, out = Path(compressed), Path(output)
    file = tensor_file(place)
    try:
        manifest = read_manifest(file.metadata, file.specs, str(place))
        if before is None and manifest.start is None:
            raise CheckpointError(
                f"{place} needs the start that it was made from, {manifest.before!r}: give it "
                "as BEFORE"
            )
        start = None if before is None else opened(before, "before")
        try:
            inputs = (place, *(start.paths if start is not None else ()))
            check_output(out, inputs=inputs, force=force)
            return _restored(file, manifest, start, out)
        finally:
            if start is not None:
                start.close()
    finally:
        file.close()


def _restored(
    file: TensorFile, manifest: Manifest, start: Checkpoint | None, out: Path
) -> Restored:
    specs = {name: one.spec for name, one in manifest.tensors.items()}
    source = _file_start(start, manifest) if start is not None else _drawn_start(manifest, specs)
    out.parent.mkdir(parents=True, exist_ok=True)
    differs: list[str] = []

    def chunks(name: str) -> Iterator[np.ndarray]:
        one = manifest.tensors[name]
        made = Digest(one.spec)
        for piece in _pieces(file, name, one, source(name)):
            made.add(piece)
            yield piece
        if made.text() != one.restored:
            if one.kind != "factors":
                raise file.refuse(f"it is damaged: {name!r} has other bits than when it was stored")
            differs.append(name)

    size = write_tensors(out, specs, chunks)
    return Restored(out, size, manifest.tensors, tuple(differs))


Source = Callable[[str], Callable[[int, int], np.ndarray]]


def _pieces(
    file: TensorFile, name: str, one: Stored, before: Callable[[int, int], np.ndarray]
) -> Iterator[np.ndarray]:
    if one.kind == "whole":
        for start, stop in blocks(one.spec.size):
            yield file.numbers(f"whole:{name}", start, stop)
    elif one.kind == "unchanged" or not one.rank:
        for start, stop in blocks(one.spec.size):
            yield before(start, stop)
    else:
        layout = layout_of(one.spec.shape)
        assert layout is not None
        left, right = (
            file.numbers(key, 0, spec.size).reshape(spec.shape)
            for key, spec in one.parts(name).items()
        )
        if digest_of_factors(left, right) != one.factors:
            raise file.refuse(f"it is damaged: {name!r} has other bits than when it was stored")
        yield from put_back(one.spec, layout, before, left, right)


def _file_start(start: Checkpoint, manifest: Manifest) -> Source:
    """The tensors of a file, after their digests were compared."""
    wrong = tuple(
        f"{name!r} {'has other bits' if name in start.specs else 'is not there'}"
        for name, one in manifest.tensors.items()
        if one.kind != "whole" and not _is_same(start, name, one)
    )
    if wrong:
        raise CheckpointError(
            f"{start.name} is not the start that was compressed, {manifest.before!r}: "
            f"{listed(wrong)}"
        )
    return lambda name: lambda begin, end: start.numbers(name, begin, end)


def _is_same(start: Checkpoint, name: str, one: Stored) -> bool:
    spec = start.specs.get(name)
    if spec is None or (spec.shape, spec.dtype) != (one.spec.shape, one.spec.dtype):
        return False
    return digest(start, name) == one.before


def _drawn_start(manifest: Manifest, specs: Mapping[str, Spec]) -> Source:
    assert manifest.start is not None
    manifest.refuse_large_start()
    tensors = manifest.start.tensors(specs)

    def source(name: str) -> Callable[[int, int], np.ndarray]:
        one = manifest.tensors[name]
        if one.kind == "whole":
            return lambda begin, end: np.empty(0)
        drawn = tensors(name)
        same = (drawn.shape, drawn.dtype) == (one.spec.shape, one.spec.dtype)
        if not same or digest_of(one.spec, [drawn]) != one.before:
            raise CheckpointError(
                f"the start that is drawn for {name!r} has other bits than when it was stored: "
                "this version of JAX draws other numbers; give the start as BEFORE"
            )
        flat = drawn.reshape(-1)
        return lambda begin, end: flat[begin:end]

    return source
