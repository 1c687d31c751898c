"""The rank at which a truncated change works again: `measures.functional_rank` of a file."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tacit import measures
from tacit._tensors import blocks, write_tensors
from tacit.checkpoints._delta import Delta
from tacit.checkpoints._evaluation import Evaluation, allowed_loss, scratch_folder
from tacit.checkpoints._factor_bank import FactorBank

_RANKS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)


@dataclass(frozen=True)
class FunctionalRank:
    """Losses with all changes truncated at a rank, and the first rank that is enough.

    `ranks` and `losses` belong together; `before` and `after` are the losses of the checkpoints,
    `allowed` the loss that is still good. `rank` is None if no rank here is enough.
    """

    ranks: tuple[int, ...]
    losses: tuple[float, ...]
    before: float
    after: float
    allowed: float
    rank: int | None


def functional_rank_of(pair: Delta, evaluate: Evaluation, max_drop: float) -> FunctionalRank:
    """`measures.functional_rank`, with the loss of BEFORE as the initial one.

    The fraction that the loss must fall to is what `max_drop` allows above AFTER's. All matrices
    are truncated at one rank; vectors are as AFTER has them. Ranks are 0, 1, 2, 3, 4, 6, 8, …
    """
    pair.refuse_mismatches()
    with scratch_folder() as folder:
        path = Path(folder) / "candidate.safetensors"
        bank = FactorBank(pair, Path(folder), rank=_RANKS[-1])
        after = _loss(bank, {}, evaluate, path)
        allowed = allowed_loss(after, max_drop, evaluate.words)
        nothing = dict.fromkeys(bank.factored, 0)
        most = max((one.most for one in bank.factored.values()), default=0)
        ranks = [rank for rank in _RANKS if rank < most] + [most]
        losses = []
        for rank in ranks:
            chosen = {name: min(rank, one.most) for name, one in bank.factored.items()}
            losses.append(_loss(bank, chosen if rank else nothing, evaluate, path))
        before = _loss_before(bank, evaluate, path)
    where = None
    if before > 0 and 0 < allowed < before and np.isfinite(losses).all():
        # `functional_rank` has "below", a bound has "at most"
        fraction = np.nextafter(allowed / before, 1.0)
        where = measures.functional_rank(np.array(losses), initial=before, fraction=float(fraction))
    enough = None if where is None else ranks[where]
    return FunctionalRank(tuple(ranks), tuple(losses), before, after, allowed, enough)


def _loss(bank: FactorBank, ranks: dict[str, int], evaluate: Evaluation, path: Path) -> float:
    bank.write_candidate(path, ranks)
    return evaluate(path)


def _loss_before(bank: FactorBank, evaluate: Evaluation, path: Path) -> float:
    pair = bank.pair
    write_tensors(
        path,
        pair.specs,
        lambda name: (pair.before.numbers(name, *part) for part in blocks(pair.specs[name].size)),
    )
    return evaluate(path)
