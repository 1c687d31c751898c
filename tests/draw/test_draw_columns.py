"""Figures at the width of a page's column: what would collide is left out, nothing is repeated."""

from itertools import pairwise

import numpy as np
import pytest

from tacit.draw import Axis, Figure, Heatmap, Line, Panel, to_matplotlib


def shown_texts(ruler):
    return [text for text in ruler.get_ticklabels() if text.get_text() and text.get_visible()]


@pytest.fixture(scope="module")
def sheet():
    """Three maps of one scale above three panels, two of which have the same legend."""
    cells = np.array([[0.111, 0.222], [0.333, 0.444]])
    maps = [
        Panel(f"map {n}", Axis("γ₀"), Axis("a long name of what is on this axis"),
              [Heatmap([0, 1], [0, 1], cells, label="error beyond k", annotate=True)])
        for n in range(3)
    ]  # fmt: skip
    x = np.linspace(100_000, 130_000, 80)
    wide = [
        Panel(f"lines {n}", Axis("step"), Axis("loss"),
              [Line(x, x, label=names[0], colour=0, marker="o"), Line(x, 2 * x, label=names[1])])
        for n, names in enumerate([("W", "ΔW"), ("training", "validation"), ("W", "ΔW")])
    ]  # fmt: skip
    return to_matplotlib(Figure("t", [*maps, *wide], columns=3).in_columns(7.0))


def test_texts_of_ticks_do_not_touch(sheet):
    for axes in sheet.axes[:6]:
        boxes = [text.get_window_extent() for text in shown_texts(axes.xaxis)]
        assert len(boxes) >= 2
        assert all(a.x1 < b.x0 for a, b in pairwise(boxes))


def test_maps_of_one_meaning_share_a_colour_bar(sheet):
    (bar,) = [axes for axes in sheet.axes if axes.get_label() == "<colorbar>"]
    assert bar.get_ylabel().replace("\n", " ") == "error beyond k"
    widths = [axes.get_window_extent().width for axes in sheet.axes[:3]]
    assert max(widths) - min(widths) < 1


def test_a_y_label_stands_above_and_a_legend_once(sheet):
    words = [text.get_text() for axes in sheet.axes[:6] for text in axes.texts]
    assert all(axes.get_ylabel() == "" for axes in sheet.axes[:6])
    assert any(word.replace("\n", " ") == "a long name of what is on this axis" for word in words)
    assert words.count("lines as in (d)") == 1
    legends = [axes.get_legend() is not None for axes in sheet.axes[:6]]
    assert legends == [False, False, False, True, True, False]


def test_a_line_of_many_points_has_few_markers(sheet):
    line, other = sheet.axes[3].lines
    assert line.get_markevery() == 6
    assert other.get_marker() == "None" or other.get_marker() == "none"
