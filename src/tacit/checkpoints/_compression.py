"""Two checkpoints in a small file: the start, or where it comes from, and low-rank changes."""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit._doors import door, each, flag, instance, number, path, text
from tacit._errors import UsageError
from tacit._tensors import blocks, write_tensors
from tacit.checkpoints._budget import AbstractBudget, Choice, measured
from tacit.checkpoints._delta import Delta, delta
from tacit.checkpoints._digest import Digest, digest, digest_of, digest_of_factors
from tacit.checkpoints._evaluation import allowed_loss, evaluation, scratch_folder
from tacit.checkpoints._factor_bank import FactorBank
from tacit.checkpoints._files import CheckpointError, check_output
from tacit.checkpoints._lora import Adapter, write_adapter
from tacit.checkpoints._manifest import Manifest, Stored
from tacit.checkpoints._starts import AbstractStart, ModelStart


@dataclass(frozen=True)
class Compressed:
    """What `compress` wrote: the file, its bytes, each tensor, and what it costs.

    - `ratio`: the bytes of AFTER's tensors over those of the file, header included.
    - `error`: ‖restored − AFTER‖ / ‖AFTER − BEFORE‖ over all tensors, as `restore` will give them:
      measured, after rounding to their dtypes. `tensors[name].relative_error` is one tensor's.
    - `loss`, `reference`, `allowed`: of the restored weights, of AFTER, and what was allowed;
      None where no loss was given. `drops` says that the loss is higher than allowed.
    - `evaluations`: how often the loss was asked for.
    - `adapter`: of the LoRA adapter, if one was written: what it holds, what it cannot hold and
      why (`left_out`), and its own `error`.
    """

    path: Path
    bytes: int
    bytes_after: int
    tensors: Mapping[str, Stored]
    choice: Choice
    adapter: Adapter | None = None

    @property
    def ratio(self) -> float:
        """How many times smaller the file is than AFTER's tensors."""
        return self.bytes_after / self.bytes

    @property
    def error(self) -> float:
        """The share of the whole change that is missing after restoring."""
        norms = [np.linalg.norm([getattr(one, part) for one in self.tensors.values()])
                 for part in ("error", "norm")]  # fmt: skip
        return float(norms[0] / norms[1]) if norms[1] else 0.0

    @property
    def worst(self) -> float:
        """The largest share that is missing in any tensor."""
        return max((one.relative_error for one in self.tensors.values()), default=0.0)

    @property
    def drops(self) -> bool:
        """Whether the measured loss is higher than allowed."""
        choice = self.choice
        return choice.loss is not None and not choice.loss <= choice.allowed  # type: ignore[operator]

    def to_dict(self) -> dict[str, Any]:
        """Numbers for machines."""
        from tacit.checkpoints._compression_report import record_of

        return record_of(self)

    def report(self) -> str:
        """The report, in Markdown."""
        from tacit.checkpoints._compression_report import report_of

        return report_of(self)

    def plot(self) -> Any:
        """A `tacit.draw.Figure`: bytes and errors, and the losses that were measured."""
        from tacit.checkpoints._figures import compression_figure

        return compression_figure(self)

    def __repr__(self) -> str:
        return (
            f"Compressed({str(self.path)!r}: {self.ratio:.2f} times smaller, {self.error:.3g} off)"
        )


@door(
    answer="any",
    output=path,
    budget=instance(AbstractBudget, what="UniformRank, NormTolerance or MeasuredLoss"),
    start=instance(AbstractStart, what="start such as UniformStart(seed=0)"),
    adapter=path,
    embeddings=each(text, least=0),
    transposed=each(text, least=0),
    max_drop=number(0),
    force=flag,
)
def compress(
    before: Any,
    after: Any,
    output: str | os.PathLike[str],
    budget: AbstractBudget,
    *,
    start: AbstractStart | None = None,
    adapter: str | os.PathLike[str] | None = None,
    embeddings: Collection[str] | None = None,
    transposed: Collection[str] | None = None,
    evaluate: Any = None,
    max_drop: float = 0.02,
    force: bool = False,
) -> Compressed:
    """Store AFTER as its start and a low-rank change, in one safetensors file.

    **Arguments:**

    - `before`, `after`: paths or arrays by name, as for `inspect`. They must match.
    - `output`: the file to write. It is there whole, or not at all.
    - `budget`: `UniformRank(8)`, `NormTolerance(0.1)` or `MeasuredLoss(command)`.
    - `start`: if BEFORE can be drawn again; then `restore` needs no file. It is drawn here and
      must have the bits of BEFORE.
    - `adapter`: a folder for the change as a LoRA adapter of PEFT's, too.
    - `embeddings`, `transposed`: for the adapter, the modules that are embeddings, and those whose
      weight is (in, out): names, or patterns such as `*.wte`. None recognises them by name and by
      shape.
    - `evaluate`, `max_drop`: with another budget than `MeasuredLoss`, the loss of what is stored is
      measured and compared; `Compressed.drops` says whether it is more than allowed.
    - `force`: write over files.

    Matrices are stored as two factors, if these are smaller; all else that has changed as it is;
    what has not changed is not stored.
    """
    out = Path(output)
    measure = evaluation(evaluate)
    with delta(before, after) as pair:
        pair.refuse_mismatches()
        inputs = (*pair.before.paths, *pair.after.paths)
        check_output(out, inputs=inputs, force=force)
        if adapter is not None and not force:
            _refuse_there(Path(adapter))
        digests = {name: digest(pair.before, name) for name in pair.specs}
        drawn = None if start is None else _verified(start, pair, digests)
        out.parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder(out.parent) as scratch:
            folder = Path(scratch)
            bank = FactorBank(
                pair, folder, tolerance=budget.smallest_tolerance, rank=budget.largest_rank
            )
            choice = budget.choose(bank, folder)
            if measure is not None and choice.loss is None:
                loss = measured(bank, measure, folder)
                choice.reference = loss({})
                choice.allowed = allowed_loss(choice.reference, max_drop, measure.words)
                choice.loss = loss(choice.ranks)
                choice.evaluations += 2
            stored = {name: _stored(bank, name, choice, digests[name]) for name in pair.specs}
            manifest = Manifest(stored, Path(pair.before.name).name, drawn)
            if drawn is not None:
                manifest.refuse_large_start()
            parts = {
                key: spec for name, one in stored.items() for key, spec in one.parts(name).items()
            }
            lora = None
            if adapter is not None:
                lora = write_adapter(
                    Path(adapter), bank, choice.ranks, embeddings=embeddings, transposed=transposed
                )
            size = write_tensors(
                out, parts, lambda key: _pieces(bank, key, stored), metadata=manifest.to_metadata()
            )
            return Compressed(out, size, bank.bytes_after, stored, choice, lora)


def _stored(bank: FactorBank, name: str, choice: Choice, before: str) -> Stored:
    spec = bank.pair.specs[name]
    if name in bank.unchanged:
        return Stored(spec, "unchanged", before, before)
    rank = choice.ranks.get(name)
    if name not in bank.factored or rank is None:
        return Stored(spec, "whole", before, digest(bank.pair.after, name), None, 0.0,
                      _finite_norm(bank, name))  # fmt: skip
    made = Digest(spec)
    for piece in bank.rows(name, rank):
        made.add(piece)
    error, factors = bank.error(name, rank), bank.factored[name]
    both = digest_of_factors(factors.left[:, :rank], factors.right[:rank])
    return Stored(spec, "factors", before, made.text(), rank, error, factors.norm, both)


def _finite_norm(bank: FactorBank, name: str) -> float:
    """‖AFTER − BEFORE‖ of what is stored whole, where it is a number."""
    if name in bank.factored:
        return bank.factored[name].norm
    if name not in bank.pair:
        return 0.0
    norm = float(np.linalg.norm(bank.pair[name].astype(np.float64)))
    return norm if np.isfinite(norm) else 0.0


def _pieces(bank: FactorBank, key: str, stored: Mapping[str, Stored]) -> Iterator[np.ndarray]:
    side, _, name = key.partition(":")
    if side == "whole":
        for start, stop in blocks(bank.pair.specs[name].size):
            yield bank.pair.after.numbers(name, start, stop)
        return
    factors, rank = bank.factored[name], stored[name].rank
    part = factors.left[:, :rank] if side == "left" else factors.right[:rank]
    for start, stop in blocks(part.shape[0], part.shape[1]):
        yield part[start:stop]


def _verified(start: AbstractStart, pair: Delta, digests: Mapping[str, str]) -> AbstractStart:
    """The start, after it was drawn and has the bits of BEFORE."""
    if isinstance(start, ModelStart):
        start = start.matched(pair.specs, digests)
        missing = [name for name in digests if name not in start.names]
        if missing:
            raise CheckpointError(
                f"start: {start.model} has no array with the bits of {missing[0]!r} of "
                f"{pair.before.name}: check seed, fold and arguments, or leave the start out"
            )
        return start
    tensors = start.tensors(pair.specs)
    for name, spec in pair.specs.items():
        if digest_of(spec, [tensors(name)]) != digests[name]:
            raise CheckpointError(
                f"start: what is drawn for {name!r} has other bits than {pair.before.name}: check "
                "seed and scale, or leave the start out"
            )
    return start


def _refuse_there(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"adapter: {folder} is there already; give another name, or --force")
