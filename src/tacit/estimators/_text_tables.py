"""Tables in text files as people have them: other separators, decimal commas, no header."""

import csv
import re
from pathlib import Path
from typing import Any

_LOOKED_AT = 20  # lines
_MOST_COLUMNS = 50_000
_SEPARATORS = (",", ";", "\t")


def read_text_table(file: Path, *, header: bool | None = None) -> Any:
    """The table in a text file, as a pandas frame.

    Cells are separated by commas, semicolons, tabs or blanks, whichever the first lines have; with
    semicolons, numbers may have decimal commas. Columns of a table without a header are named
    1, 2, 3, …; `header` says whether there is one, None looks.
    """
    import pandas as pd

    with file.open(encoding="utf-8-sig", newline="") as content:
        lines = [line for line, _ in zip(content, range(_LOOKED_AT), strict=False) if line.strip()]
    separator = "\t" if file.suffix.lower() == ".tsv" else separator_of(lines)
    comma = separator == ";" and bool(re.search(r"\d,\d", "".join(lines)))
    first = lines[0] if lines else ""
    check_columns(len(first.split()) if separator == " " else first.count(separator) + 1)
    named = has_header(lines, separator, comma=comma) if header is None else header
    how = {
        "sep": r"\s+" if separator == " " else separator,
        "skipinitialspace": True,
        "encoding": "utf-8-sig",
        "header": 0 if named else None,
    }
    frame = pd.read_csv(file, decimal="," if comma else ".", **how)
    if not named:
        frame.columns = [str(number + 1) for number in range(frame.shape[1])]
    # Names keep their text: 007 is another name than 7.
    places = [n for n, kind in enumerate(frame.dtypes[:2]) if pd.api.types.is_integer_dtype(kind)]
    if places:
        texts = pd.read_csv(file, usecols=places, dtype=str, **how)
        frame.attrs["texts"] = {
            place: tuple(text.strip() for text in texts.iloc[:, number])
            for number, place in enumerate(places)
        }
    return frame


def check_columns(count: int) -> None:
    """Refuse, before it is read, what would take minutes."""
    if count > _MOST_COLUMNS:
        raise ValueError(
            f"it has {count:,} columns, at most {_MOST_COLUMNS:,} are read; give a part of them, "
            "or the table on its side"
        )


def separator_of(lines: list[str]) -> str:
    """What separates cells: what stands outside quotes in the first line, blanks where nothing."""
    if not lines:
        return ","
    bare = re.sub(r'"[^"]*"', "", lines[0])
    found = max(_SEPARATORS, key=bare.count)
    if bare.count(found):
        return found
    counts = {len(line.split()) for line in lines}
    return " " if len(counts) == 1 and counts != {1} else ","


def has_header(lines: list[str], separator: str, *, comma: bool = False) -> bool:
    """Whether the first line has names: not if all its cells are numbers as in a line of data.

    Distinct whole numbers may well be names (of jokes, of people), so they are taken as such.
    """
    if not lines:
        return True
    if separator == " ":
        cells = lines[0].split()
    else:
        cells = [cell.strip() for cell in next(csv.reader(lines[:1], delimiter=separator))]
    some = [cell.replace(",", ".") if comma else cell for cell in cells if cell]
    try:
        numbers = [float(cell) for cell in some]
    except ValueError:
        return True
    whole = all(re.fullmatch(r"[+-]?\d+", cell) for cell in some)
    return not numbers or (whole and len(set(numbers)) == len(cells))
