"""How the rank of each tensor is chosen: one rank for all, a norm tolerance, or a measured loss."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np

from tacit._doors import check_fields, number, whole
from tacit._errors import UsageError
from tacit.checkpoints._evaluation import Evaluation, allowed_loss, evaluation
from tacit.checkpoints._factor_bank import FactorBank
from tacit.checkpoints._greedy import Search, by_measured_loss

Ranks = dict[str, int | None]


@dataclass
class Choice:
    """Ranks by name, None for a tensor stored whole, and what was measured on the way.

    `loss` is that of the chosen weights, `reference` that of AFTER, `allowed` the largest that was
    asked for; all None where nothing was measured. `by_tolerance` are the bytes at which one
    tolerance for all tensors ended.
    """

    ranks: Ranks
    loss: float | None = None
    reference: float | None = None
    allowed: float | None = None
    evaluations: int = 0
    tolerance: float | None = None
    by_tolerance: int | None = None
    tried: list[tuple[int, float]] = field(default_factory=list)


class AbstractBudget(ABC):
    """What says how much of each change is kept."""

    @property
    def smallest_tolerance(self) -> float:
        """The smallest share of a norm that it will ask for; 0 for none."""
        return 0.0

    @property
    def largest_rank(self) -> int | None:
        """The largest rank that it will ask for; None for any."""
        return None

    @abstractmethod
    def choose(self, bank: FactorBank, folder: Path) -> Choice:
        """The ranks; `folder` is for files that are thrown away."""


@final
@dataclass(frozen=True)
class UniformRank(AbstractBudget):
    """The same rank for all matrices; those for which its factors gain nothing are kept whole."""

    rank: int

    def __post_init__(self) -> None:
        check_fields(self, rank=whole(0, 65_536))

    @property
    def largest_rank(self) -> int | None:
        """The rank itself."""
        return self.rank

    def choose(self, bank: FactorBank, folder: Path) -> Choice:
        """The rank, for each."""
        return Choice(bank.ranks_at(self.rank))


@final
@dataclass(frozen=True)
class NormTolerance(AbstractBudget):
    """For each tensor the smallest rank with ‖restored − AFTER‖ ≤ tolerance · ‖AFTER − BEFORE‖.

    Frobenius' norm, as restored: after the factors and the sum were rounded to the tensor's dtype.
    """

    tolerance: float

    def __post_init__(self) -> None:
        check_fields(self, tolerance=number(above=0, below=1))

    @property
    def smallest_tolerance(self) -> float:
        """The tolerance, and a little for rounding."""
        return 0.98 * self.tolerance

    def choose(self, bank: FactorBank, folder: Path) -> Choice:
        """The rank that the spectrum says, raised where rounding asks for more."""
        ranks = bank.ranks_for(self.tolerance)
        for name, rank in ranks.items():
            ranks[name] = self._measured(bank, name, rank)
        return Choice(ranks, tolerance=self.tolerance)

    def _measured(self, bank: FactorBank, name: str, rank: int | None) -> int | None:
        one = bank.factored[name]
        while rank is not None and bank.error(name, rank) > self.tolerance * one.norm:
            rank += max(1, rank // 20)
            rank = rank if rank <= one.most else None
        return rank


@final
@dataclass(frozen=True)
class MeasuredLoss(AbstractBudget):
    """The fewest bytes that a greedy search finds with a loss at most `max_drop` above AFTER's.

    **Arguments:**

    - `evaluate`: a command or a function that gives the loss of a file of weights; lower is better.
    - `max_drop`: how much of the size of AFTER's loss may be added to it.
    - `most_evaluations`: after so many, the best found so far is taken.

    The search goes backward from full rank, since quality need not rise with the rank: first one
    tolerance for all tensors, then tensor by tensor (`_greedy`).
    """

    evaluate: Any
    max_drop: float = 0.02
    most_evaluations: int = 80

    def __post_init__(self) -> None:
        check_fields(self, max_drop=number(0), most_evaluations=whole(4, 100_000))
        if self.evaluate is None:
            raise UsageError("evaluate: received None, it must be a command or a function")
        object.__setattr__(self, "evaluate", evaluation(self.evaluate))

    @property
    def smallest_tolerance(self) -> float:
        """Where the search begins."""
        return Search.STRICTEST

    def choose(self, bank: FactorBank, folder: Path) -> Choice:
        """The ranks that the search ends with."""
        measure, begin = self.evaluate, self.evaluate.count
        loss = measured(bank, measure, folder)
        reference = loss({})
        allowed = allowed_loss(reference, self.max_drop, measure.words)
        search = Search(bank, loss, reference, allowed, self.most_evaluations - 1)
        found = by_measured_loss(search)
        return Choice(
            found.ranks,
            found.loss,
            reference,
            allowed,
            measure.count - begin,
            found.tolerance,
            found.by_tolerance,
            search.tried,
        )


def measured(bank: FactorBank, measure: Evaluation, folder: Path) -> Callable[[Ranks], float]:
    """The loss as a function of ranks; what is not a number counts as infinite."""
    path = folder / "candidate.safetensors"

    def loss(ranks: Ranks) -> float:
        bank.write_candidate(path, ranks)
        found = measure(path)
        return found if not np.isnan(found) else float("inf")

    return loss
