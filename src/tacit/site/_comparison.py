"""Two folders of results side by side: which verdicts changed, which numbers moved."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tacit.claims import Claim, Movement, compare
from tacit.site._card import Card
from tacit.site._entries import Entry, OnSkip, read_entries


@dataclass(frozen=True)
class Pair:
    """An experiment of both folders; `remark` says what makes the two hard to compare."""

    card: Card
    moved: list[Movement]
    remark: str

    @property
    def changed(self) -> bool:
        """Whether a verdict changed."""
        return any(movement.kind in ("verdict", "new", "gone") for movement in self.moved)


@dataclass(frozen=True)
class Compared:
    """All that differs; `other` names the other folder, `same` counts what did not move."""

    other: str
    pairs: list[Pair]
    same: int
    here: list[str]
    there: list[str]


def compared(cards: Sequence[Card], other: Path, on_skip: OnSkip) -> Compared:
    """What moved from the results in `other` to these; what changed most comes first."""
    before = {entry.id: entry for entry in read_entries(other, on_skip=on_skip)}
    both = [card for card in cards if card.entry.id in before]
    pairs = [_pair(card, before[card.entry.id]) for card in both]
    moved = sorted((p for p in pairs if p.moved or p.remark), key=lambda pair: not pair.changed)
    ours = {card.entry.id for card in cards}
    return Compared(
        other=other.name or str(other),
        pairs=moved,
        same=len(pairs) - len(moved),
        here=[card.entry.id for card in cards if card.entry.id not in before],
        there=[name for name in before if name not in ours],
    )


def _pair(card: Card, was: Entry) -> Pair:
    presets = [str(entry.claims.get("preset")) for entry in (was, card.entry)]
    remark = f"preset {presets[0]} there, {presets[1]} here" if presets[0] != presets[1] else ""
    try:
        now, then = (
            [Claim.from_dict(claim) for claim in entry.claims["claims"]]
            for entry in (card.entry, was)
        )
    except (AttributeError, OverflowError, TypeError, ValueError):
        return Pair(card, [], "claims of another state of tacit, which cannot be compared")
    machine = card.entry.claims.get("rounding") == was.claims.get("rounding")
    return Pair(card, compare(now, then, same_machine=machine), remark)
