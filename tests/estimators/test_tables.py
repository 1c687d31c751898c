"""Tables in files: both forms, names kept, wrong ones refused."""

import numpy as np
import pytest

from tacit._errors import UsageError
from tacit.estimators._tables import read_matrix, write_matrix


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_a_wide_table_comes_back_with_its_names(tmp_path, suffix):
    source = tmp_path / "wide.csv"
    source.write_text("user,Film é,b\nann,1,\nbob,,2.5\n")
    table = read_matrix(source)
    np.testing.assert_array_equal(table.matrix, [[1, np.nan], [np.nan, 2.5]])
    assert (table.rows, table.columns, table.corner) == (("ann", "bob"), ("Film é", "b"), "user")
    copy = tmp_path / f"copy.{suffix}"
    write_matrix(copy, table, table.matrix)
    again = read_matrix(copy)
    np.testing.assert_array_equal(again.matrix, table.matrix)
    assert (again.rows, again.columns, again.corner) == (table.rows, table.columns, "user")


def test_a_long_table_becomes_a_matrix_and_a_long_table_again(tmp_path):
    source = tmp_path / "long.csv"
    source.write_text("user,item,stars\nann,7,1\nann,8,2\nbob,8,4\nbob,8,6\n")
    table = read_matrix(source)
    np.testing.assert_array_equal(table.matrix, [[1, 2], [np.nan, 5]])
    assert (table.form, table.duplicates) == ("long", 1)
    write_matrix(tmp_path / "out.csv", table, table.matrix)
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "user,item,stars", "ann,7,1.0", "ann,8,2.0", "bob,7,", "bob,8,5.0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "form", "words"),
    [
        ("", "auto", "could not be read"),
        ("a,b\n", "auto", "holds no rows"),
        ("n,a\nx,1\ny,low\n", "wide", "line 3, column 'a'"),
        ("a,b\n1,2\n", "long", "has 2 columns"),
        ("a,b,c\n,2,3\n", "long", "line 2"),
        ("a,b\n1,2\n", "square", "form: received 'square'"),
    ],
)
def test_what_is_no_matrix_is_refused_in_one_sentence(tmp_path, text, form, words):
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(UsageError, match=words):
        read_matrix(tmp_path / "m.csv", form=form)


@pytest.mark.parametrize(
    "text",
    [
        "a;b\n1,5;2\n;3\n",  # as spreadsheets write where the comma is decimal
        "a;b\n1.5;2\n;3\n",
        "\ufeffa, b\n1.5, 2\n, 3\n",
        "a\tb\n1.5\t2\n\t3\n",
        "a b\n1.5 2\nNaN 3\n",
        '"a","b"\n1.5,2\n,3\n',
    ],
)
def test_whatever_separates_cells_is_seen(tmp_path, text):
    (tmp_path / "table.csv").write_text(text, encoding="utf-8")
    table = read_matrix(tmp_path / "table.csv")
    np.testing.assert_array_equal(table.matrix, [[1.5, 2], [np.nan, 3]])
    assert table.columns == ("a", "b")


@pytest.mark.parametrize(
    ("text", "header", "columns", "rows"),
    [
        ("1.5,2\n3,4\n", None, ("1", "2"), 2),  # a name has no fraction
        ("5,5,4\n3,4,1\n", None, ("1", "2", "3"), 2),  # two names are not the same
        ("17,4\n3,4\n", None, ("17", "4"), 1),  # may well be names
        ("17,4\n3,4\n", False, ("1", "2"), 2),
        ("1.5,2\n3,4\n", True, ("1.5", "2"), 1),
    ],
)
def test_a_line_of_data_is_not_taken_for_a_header(tmp_path, text, header, columns, rows):
    (tmp_path / "table.csv").write_text(text)
    table = read_matrix(tmp_path / "table.csv", form="wide", header=header)
    assert table.columns == columns
    assert table.matrix.shape == (rows, len(columns))


STEPS, ZEROS, HEADER = "go in steps of", "leading zeros", "its header says so"


@pytest.mark.parametrize(
    ("first", "cells", "rows", "words"),
    [
        ("id", ("007", "008", "011"), ("007", "008", "011"), ZEROS),
        ("x", ("007", "12", "3"), ("007", "12", "3"), ZEROS),
        ("n", ("0", "1", "2"), ("0", "1", "2"), STEPS),
        ("when", ("1990", "1995", "2000", "2005"), ("1990", "1995", "2000", "2005"), STEPS),
        ("when", ("3", "2", "1"), ("3", "2", "1"), STEPS),
        ("Year", ("1990", "1991", "1993"), ("1990", "1991", "1993"), HEADER),
        ("user_id", ("9007199254740993", "5", "3"), ("9007199254740993", "5", "3"), HEADER),
        ("userId", ("17", "5", "30"), ("17", "5", "30"), HEADER),
        ("width", ("17", "5", "30", "4", "9"), None, "taken for data, though"),
        ("width", ("17", "5", "30"), None, ""),
        ("id", ("17", "5", "17"), None, ""),  # not all different
        ("id", ("17.5", "5", "17"), None, ""),
        ("id", ("17", "", "4"), None, ""),
        ("grid", ("17", "5", "30"), None, ""),
        ("stars", ("1", "1", "1"), None, ""),
    ],
)
def test_a_first_column_of_numbers_is_names_or_is_said_to_be_data(
    tmp_path, first, cells, rows, words
):
    path = tmp_path / "table.csv"
    path.write_text(f"{first},a,b\n" + "".join(f"{cell},1.5,2\n" for cell in cells))
    table = read_matrix(path, form="wide")
    assert words in table.remark
    assert bool(words) == bool(table.remark)
    if rows is None:
        assert table.corner is None
        assert table.matrix.shape == (len(cells), 3)
    else:
        assert (table.rows, table.corner, table.columns) == (rows, first, ("a", "b"))
        assert repr(first) in table.remark
        assert "--no-names" in table.remark
        assert read_matrix(path, form="wide", names=False).matrix.shape == (len(cells), 3)
        write_matrix(path, table, table.matrix)
        assert [line.split(",")[0] for line in path.read_text().splitlines()[1:]] == list(rows)


def test_names_can_be_asked_for_in_a_wide_table_alone(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("width,a\n07.5,1\n5,2\n7.5,3\n")
    table = read_matrix(path, names=True)
    assert (table.corner, table.remark, table.columns) == ("width", "", ("a",))
    assert read_matrix(path).corner is None
    path.write_text("u,i,r\n1,7,2\n1,8,3\n")
    with pytest.raises(UsageError, match="names: a long table"):
        read_matrix(path, names=True)


def test_an_index_of_a_parquet_file_names_the_rows(tmp_path):
    import pandas as pd

    path = tmp_path / "table.parquet"
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": [3.5, None]}, index=pd.Index([9, 4], name="plot"))
    frame.to_parquet(path)
    table = read_matrix(path)
    assert (table.rows, table.corner, table.columns) == ((9, 4), "plot", ("a", "b"))
    frame.reset_index(drop=True).to_parquet(path)
    assert read_matrix(path).corner is None


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_more_columns_than_can_be_read_are_refused_at_once(tmp_path, suffix, monkeypatch):
    import pandas as pd

    from tacit.estimators import _text_tables

    monkeypatch.setattr(_text_tables, "_MOST_COLUMNS", 20)
    frame = pd.DataFrame(np.ones((2, 21)), columns=[f"c{i}" for i in range(21)])
    path = tmp_path / f"table.{suffix}"
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    with pytest.raises(UsageError, match="it has 21 columns, at most 20 are read"):
        read_matrix(path)
    path = tmp_path / "blanks.txt"
    path.write_text(" ".join(["1.5"] * 21) + "\n" + " ".join(["2.5"] * 21) + "\n")
    with pytest.raises(UsageError, match="it has 21 columns"):
        read_matrix(path)


def test_an_entry_given_three_times_counts_two_repeats(tmp_path):
    source = tmp_path / "long.csv"
    source.write_text("user,item,stars\nann,7,1\nann,8,2\nbob,8,4\nbob,8,6\nbob,8,8\n")
    table = read_matrix(source)
    np.testing.assert_array_equal(table.matrix, [[1, 2], [np.nan, 6]])
    assert table.duplicates == 2


def test_names_in_a_long_table_keep_their_leading_zeros(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("user,item,stars\n007,01,1\n007,10,2\n7,10,4\n")
    table = read_matrix(path)
    assert (table.rows, table.columns) == (("007", "7"), ("01", "10"))
    write_matrix(path, table, table.matrix)
    assert path.read_text().splitlines()[1] == "007,01,1.0"
    path.write_text("user,item,stars\n7,1,1\n7,10,2\n8,10,4\n")
    assert read_matrix(path).rows == (7, 8)
