"""An error in a paper: both forms, what shows it, how grave it is, and where it was read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Gravity = Literal["misprint", "gap in a proof", "false statement"]

GRAVITIES: dict[Gravity, str] = {
    "misprint": "a slip in print: the paper itself has or uses the right form elsewhere, or "
    "nothing else depends on it",
    "gap in a proof": "a step, a remark or a definition that does not hold as written, in the "
    "argument for a result that stands",
    "false statement": "what is claimed, as it is stated, does not hold: a hypothesis is missing, "
    "or the claim itself must change",
}

EDITIONS: dict[str, str] = {
    "connectivity": "NeurIPS 2020, with its supplement",
    "depth": "ICLR 2026, read from scanned pages, in which single signs can be wrong",
    "kernel": "the preprint of 2021; the conference's version was not compared",
    "lowdim": "ICLR 2023, with its appendix",
    "memoryless": "AISTATS 2022 (PMLR 151), with its supplement",
}


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """An error in print, or a hypothesis left out, at a statement, and what shows it.

    **Arguments:**

    - `as_printed`, `as_corrected`: both forms in words or formulas.
    - `constants`: keyword arguments that turn the check into the printed form, which must fail.
    - `without`: where the paper leaves out a hypothesis, the hypothesis's name in the statement's
      `without`. Give this or `constants`.
    - `place`: where the error is, unless it is at the statement itself (for example in its proof).
    - `gravity`: "misprint", "gap in a proof" or "false statement" (`GRAVITIES` says what they
      mean); empty only until it is judged, which a test notices.
    - `right_in`: where the paper itself has the right form; empty if it nowhere has it.
    - `glyph`: the sign that the entry rests on, where the text that was read may have lost it or
      misread it; empty if more than a single sign speaks for the entry.
    - `edition`: which edition it was read in, unless it is the paper's in `EDITIONS`.
    """

    as_printed: str
    as_corrected: str
    constants: Mapping[str, Any] = field(default_factory=dict)
    without: str | None = None
    place: str = ""
    gravity: Gravity | Literal[""] = ""
    right_in: str = ""
    glyph: str = ""
    edition: str = ""

    def __post_init__(self) -> None:
        if bool(self.constants) == (self.without is not None):
            raise ValueError(
                f"constants, without: received {dict(self.constants)} and {self.without!r}, "
                "allowed is exactly one of the two"
            )
        if self.gravity not in ("", *get_args(Gravity)):
            allowed = ", ".join(repr(name) for name in get_args(Gravity))
            raise ValueError(f"gravity: received {self.gravity!r}, allowed is one of {allowed}")
