"""The cut of a grid into batches."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.sweep import Grid

AXES = {"teacher": ("even", "random"), "length": (5, 6, 7), "seed": tuple(range(25))}


@st.composite
def grids(draw):
    names = draw(st.lists(st.sampled_from("abcd"), unique=True, min_size=1))
    axes = {
        name: tuple(draw(st.lists(st.integers(0, 30), unique=True, min_size=1, max_size=6)))
        for name in names
    }
    roles = {name: draw(st.sampled_from(["batch", "chunk", "whole"])) for name in names}
    chunk = {n: draw(st.integers(1, 7)) for n in names if roles[n] == "chunk"}
    return Grid(axes, batch_by=tuple(n for n in names if roles[n] == "batch"), chunk=chunk)


@settings(deadline=None)
@given(grids())
def test_batches_hold_every_cell_exactly_once(grid):
    batches = list(grid.batches())
    cells = [tuple(cell.items()) for batch in batches for cell in batch.cells]
    expected = [tuple(cell.items()) for cell in grid.cells()]
    assert len(cells) == len(set(cells)) == len(grid) == len(expected)
    assert set(cells) == set(expected)
    assert [batch.index for batch in batches] == list(range(grid.batch_count()))


@settings(deadline=None)
@given(grids())
def test_batches_keep_to_their_axes(grid):
    for batch in grid.batches():
        for name, values in grid.axes.items():
            found = batch.values(name)
            if name in grid.batch_by:
                assert len(found) == 1
            elif name in grid.chunk:
                start = values.index(found[0])
                assert start % grid.chunk[name] == 0
                assert found == values[start : start + grid.chunk[name]]
            else:
                assert found == values


def test_a_grid_in_full():
    grid = Grid(AXES, batch_by=("teacher",), chunk={"seed": 10})
    batches = list(grid.batches())
    assert [len(batch) for batch in batches] == [30, 30, 15] * 2
    first = batches[0]
    assert first.one("teacher") == "even"
    assert first.column("length").tolist() == list(np.repeat([5, 6, 7], 10))
    assert first.column("seed").tolist() == list(range(10)) * 3
    assert first.cells[0] == {"teacher": "even", "length": 5, "seed": 0}
    assert first.label == "teacher=even, length=5…7, seed=0…9"
    # More values at the end of an axis leave the full blocks where they were.
    longer = Grid(AXES | {"seed": tuple(range(40))}, batch_by=("teacher",), chunk={"seed": 10})
    assert [b.cells for b in itertools.islice(longer.batches(), 2)] == [
        b.cells for b in batches[:2]
    ]


def test_part_of_a_batch_keeps_its_place():
    batch = list(Grid(AXES, batch_by=("teacher",)).batches())[1]
    some = batch.only([0, 26])
    assert some.index == 1
    assert some.cells == ({"teacher": "random", "length": 5, "seed": 0}, batch.cells[26])


def test_wrong_questions_to_a_batch():
    batch = next(iter(Grid(AXES).batches()))
    with pytest.raises(ValueError, match="name it in batch_by"):
        batch.one("teacher")
    with pytest.raises(ValueError, match="not a swept parameter"):
        batch.column("width")


@pytest.mark.parametrize(
    ("axes", "options", "words"),
    [
        ({}, {}, "received none"),
        ({"a": ()}, {}, "'a' has no values"),
        ({"a": (1, 1.0)}, {}, "twice"),
        ({"a": (float("nan"),)}, {}, "nan"),
        ({"a": ((1, 2),)}, {}, r"\(1, 2\)"),
        ({"a": (1,)}, {"batch_by": ("b",)}, r"batch_by: \['b'\] are not axes"),
        ({"a": (1,)}, {"chunk": {"b": 1}}, r"chunk: \['b'\] are not axes"),
        ({"a": (1,)}, {"chunk": {"a": 0}}, "size 0"),
        ({"a": (1,)}, {"chunk": {"a": 1}, "batch_by": ("a",)}, "batch_by already"),
    ],
)
def test_wrong_grids(axes, options, words):
    with pytest.raises(ValueError, match=words):
        Grid(axes, **options)


def test_a_grid_has_at_most_two_million_cells():
    seeds = tuple(range(2000))
    assert len(Grid({"seed": seeds, "width": range(1000)})) == 2_000_000
    with pytest.raises(ValueError, match=r"2,002,000 cells .* are too many: at most 2,000,000"):
        Grid({"seed": seeds, "width": range(1001)})
