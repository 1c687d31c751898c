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
