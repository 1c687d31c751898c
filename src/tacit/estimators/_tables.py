"""Matrices in files: wide tables (a row a line) and long ones (row, column, value)."""

import csv
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit._errors import UsageError, shown
from tacit._files import write_atomically
from tacit.estimators._row_names import RowNames, row_names
from tacit.estimators._text_tables import check_columns, read_text_table

FORMS = ("auto", "wide", "long")
_MOST_CELLS = 200_000_000


@dataclass(frozen=True)
class MatrixTable:
    """A matrix with its names, and how it stood in its file.

    `corner` names the column of row names of a wide table (None: there are none), `names` the three
    columns of a long one. `duplicates` counts the lines of a long table that repeat an entry; such
    entries are averaged. `remark` says what was made of a first column of numbers.
    """

    matrix: np.ndarray
    rows: tuple[Any, ...]
    columns: tuple[Any, ...]
    form: str
    corner: str | None = None
    names: tuple[str, str, str] = ("row", "column", "value")
    duplicates: int = 0
    remark: str = ""


def read_frame(path: str | os.PathLike[str], *, header: bool | None = None) -> Any:
    """The table in a text or Parquet file, as a pandas frame; empty cells are NaN."""
    file = Path(path)
    if not file.is_file():
        raise UsageError(f"{file} is not a file: give a CSV, TSV or Parquet file")
    try:
        if _is_parquet(file):
            return _parquet(file)
        return read_text_table(file, header=header)
    except ImportError:
        raise UsageError(f"{file}: Parquet needs pyarrow; pip install pyarrow") from None
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not text in UTF-8: save it in that encoding") from None
    except (ValueError, OSError, csv.Error) as error:  # wrong encodings are ValueErrors
        reason = " ".join(str(error).split())
        raise UsageError(f"{file} could not be read as a table: {reason}") from None


def read_matrix(
    path: str | os.PathLike[str],
    *,
    form: str = "auto",
    header: bool | None = None,
    names: bool | None = None,
) -> MatrixTable:
    """The matrix in a file, in whichever form it stands there.

    `names` says whether the first column of a wide table names its rows; None looks.
    """
    if form not in FORMS:
        raise UsageError(f"form: received {form!r}, it must be auto, wide or long")
    frame = read_frame(path, header=header)
    if frame.empty:
        raise UsageError(f"{path} holds no rows: the first line is taken for a header")
    if form == "auto":
        form = "long" if _looks_long(frame) else "wide"
    if form == "long" and names is not None:
        raise UsageError("names: a long table names its rows in every line; leave the option out")
    return _long(frame, path) if form == "long" else _wide(frame, path, names)


def _looks_long(frame: Any) -> bool:
    """Three columns, of which the first names something more than once, and no number has gaps."""
    import pandas as pd

    if frame.shape[1] != 3 or frame.iloc[:, 0].nunique() == len(frame):
        return False
    names = [frame.iloc[:, place] for place in (0, 1)]
    return not any(pd.api.types.is_numeric_dtype(one) and one.isna().any() for one in names)


def _parquet(file: Path) -> Any:
    """The table in a Parquet file; an index of its own is the first column."""
    import pandas as pd
    import pyarrow.parquet

    check_columns(pyarrow.parquet.ParquetFile(file).metadata.num_columns)
    frame = pd.read_parquet(file)
    plain = isinstance(frame.index, pd.RangeIndex) and frame.index.name is None
    indexed = frame.reset_index(drop=plain)
    indexed.attrs["indexed"] = not plain
    return indexed


def _wide(frame: Any, path: Any, names: bool | None) -> MatrixTable:
    first, column = frame.columns[0], frame.iloc[:, 0]
    found = RowNames(names) if names is not None else _looked_at(frame)
    named = found.named and frame.shape[1] > 1 and not column.isna().all()
    rows = (_texts(frame, 0) or tuple(column)) if named else tuple(range(len(frame)))
    body = frame.iloc[:, 1:] if named else frame
    corner = ("" if str(first).startswith("Unnamed") else str(first)) if named else None
    columns = tuple(map(str, body.columns))
    remark = found.remark if frame.shape[1] > 1 else ""
    return MatrixTable(_matrix(body, path), rows, columns, "wide", corner, remark=remark)


def _looked_at(frame: Any) -> RowNames:
    import pandas as pd

    first, column = frame.columns[0], frame.iloc[:, 0]
    if str(first).startswith("Unnamed") or frame.attrs.get("indexed"):
        return RowNames(True)
    if not pd.api.types.is_numeric_dtype(column):
        return RowNames(True)
    return row_names(first, column, _texts(frame, 0))


def _texts(frame: Any, place: int) -> tuple[str, ...] | None:
    """The cells of a column of whole numbers as they stand in a text file."""
    found: tuple[str, ...] | None = frame.attrs.get("texts", {}).get(place)
    return found


def _matrix(body: Any, path: Any) -> np.ndarray:
    """All columns as numbers; one by one only where some are not."""
    import pandas as pd

    if all(pd.api.types.is_numeric_dtype(kind) for kind in body.dtypes):
        values = body.to_numpy(np.float64, na_value=np.nan)
        if not np.isinf(values).any():
            return np.asarray(values)
    return np.column_stack([_numbers(body.iloc[:, i], path) for i in range(body.shape[1])])


def _long(frame: Any, path: Any) -> MatrixTable:
    import pandas as pd

    if frame.shape[1] != 3:
        raise UsageError(
            f"{path} has {frame.shape[1]} columns, a long table has three: row, column, value"
        )
    if frame.iloc[:, :2].isna().any(axis=None):
        line = int(np.argmax(frame.iloc[:, :2].isna().any(axis=1))) + 2
        raise UsageError(f"{path}, line {line}: its row or column has no name")
    values = _numbers(frame.iloc[:, 2], path)
    (i, rows), (j, columns) = (pd.factorize(_long_names(frame, place)) for place in (0, 1))
    if len(rows) * len(columns) > _MOST_CELLS:
        raise UsageError(
            f"{path} names {len(rows):,} rows and {len(columns):,} columns: at most "
            f"{_MOST_CELLS:,} cells fit; complete a part of it"
        )
    known = ~np.isnan(values)
    sums, counts = np.zeros((2, len(rows), len(columns)))
    np.add.at(sums, (i[known], j[known]), values[known])
    np.add.at(counts, (i[known], j[known]), 1)
    matrix = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    first, second, third = map(str, frame.columns)
    return MatrixTable(
        matrix,
        tuple(rows),
        tuple(columns),
        "long",
        names=(first, second, third),
        duplicates=int(known.sum() - (counts > 0).sum()),
    )


def _long_names(frame: Any, place: int) -> Any:
    """A column of names: as text where numbers have leading zeros."""
    texts = _texts(frame, place) or ()
    padded = any(one[:1] == "0" and len(one) > 1 for one in texts)
    return np.array(texts, dtype=object) if padded else frame.iloc[:, place]


def _numbers(column: Any, path: Any) -> np.ndarray:
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce")
    wrong = np.asarray((numbers.isna() & column.notna()) | np.isinf(numbers.to_numpy(np.float64)))
    if wrong.any():
        place = int(np.argmax(wrong))
        raise UsageError(
            f"{path}, line {place + 2}, column {column.name!r}: received "
            f"{shown(str(column.iloc[place]))}, it must be a finite number, or empty where it is "
            "missing"
        )
    return np.asarray(numbers, dtype=np.float64)


def write_matrix(path: str | os.PathLike[str], table: MatrixTable, matrix: np.ndarray) -> None:
    """Write a matrix in the form and with the names of a table; NaN is an empty cell."""
    import io

    import pandas as pd

    if table.form == "wide":
        frame = pd.DataFrame(matrix, columns=list(table.columns))
        if table.corner is not None:
            frame.insert(0, table.corner, list(table.rows), allow_duplicates=True)
    else:
        i, j = np.indices(matrix.shape).reshape(2, -1)
        named = [np.array(part, dtype=object) for part in (table.rows, table.columns)]
        parts = (named[0][i], named[1][j], matrix.ravel())
        frame = pd.DataFrame(dict(zip(table.names, parts, strict=True))).infer_objects()
    file = Path(path)
    if _is_parquet(file):
        content = io.BytesIO()
        frame.to_parquet(content, index=False)
        write_atomically(file, content.getvalue())
        return
    separator = "\t" if file.suffix.lower() == ".tsv" else ","
    write_atomically(file, frame.to_csv(index=False, sep=separator).encode())


def _is_parquet(file: Path) -> bool:
    return file.suffix.lower() in (".parquet", ".pq")
