"""Whether the first column of a wide table names its rows, where it holds numbers."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

_LEAST = 3  # rows that steps are seen in
_SUSPECT = 5  # rows that differ, from which a column that might be names is spoken of
_IDS = re.compile(
    r"(.*[ _.-])?(id|ids|key|index|idx|code|zip|no|nr|num|number|year|years|date|day|row|"
    r"sample|subject|patient|user|customer)|#|[a-z]+ID|[a-z]+Id",
)


@dataclass(frozen=True)
class RowNames:
    """Whether the column has names, and a sentence about it; none where nobody could doubt it."""

    named: bool
    remark: str = ""


def row_names(header: Any, column: Any, texts: tuple[str, ...] | None) -> RowNames:
    """Look at a first column of numbers; `texts` are its cells as they stand in a text file.

    Names are: numbers written with leading zeros; whole numbers that go up or down in equal steps,
    as row numbers and years do; and different whole numbers below a header such as `id` or `year`.
    Anything else is data, and is said to be where it might be names too.
    """
    shown = repr(str(header))
    numbers = column.to_numpy(np.float64)
    if not np.isfinite(numbers).all() or np.any(numbers != np.round(numbers)):
        return RowNames(False)
    padded = [text for text in texts or () if re.fullmatch(r"0\d+", text)]
    different = len(np.unique(numbers)) == len(numbers)
    why = ""
    if padded:
        why = f"it has leading zeros, as in {padded[0]}"
    elif different and len(numbers) >= _LEAST and len(steps := set(np.diff(numbers))) == 1:
        why = f"its whole numbers go in steps of {steps.pop():g}"
    elif different and _IDS.fullmatch(_plain(str(header))):
        why = "its header says so and its whole numbers differ"
    if why:
        return RowNames(
            True,
            f"column {shown} is taken for the names of the rows, since {why}; --no-names takes it "
            "for data",
        )
    if different and len(numbers) >= _SUSPECT:
        return RowNames(
            False,
            f"column {shown} is taken for data, though its whole numbers all differ; --names takes "
            "it for the names of the rows",
        )
    return RowNames(False)


def _plain(header: str) -> str:
    """The header in small letters, unless its capitals tell words apart (userId)."""
    word = header.strip()
    return word if re.fullmatch(r"[a-z]+I[dD]", word) else word.lower()
