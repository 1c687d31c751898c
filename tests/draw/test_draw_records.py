"""Figures are checked where they are made, and know their ranges, notes and legends."""

import numpy as np
import pytest

from tacit.draw import (
    Axis,
    Band,
    Figure,
    Heatmap,
    HorizontalRule,
    Line,
    Panel,
    Points,
    Shade,
    Text,
    VerticalRule,
)

X, Y = Axis("x"), Axis("y")
LOG = Axis("y", scale="log")


def panel(*marks, x=X, y=Y, **options):
    return Panel("title", x, y, marks, **options)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: Line([1, 2], [1, 2, 3]),
            "Line: received arrays that differ in length, x has 2, y has 3",
        ),
        (lambda: Line([1, 2], [[1, 2]]), r"Line.y: received shape \(1, 2\).*must have 1 dimension"),
        (
            lambda: Line([1, 2], [1j, 2]),
            "Line.y: received dtype complex128.*must hold real numbers",
        ),
        (lambda: Line([1], ["a"]), "Line.y: received .*must hold real numbers"),
        (lambda: Line([1], [1], style="wavy"), "style: received 'wavy'.*must be one of 'solid'"),
        (lambda: Line([1], [1], marker="*"), r"marker: received '\*'.*must be one of None, 'o'"),
        (lambda: Line([1], [1], width=0), "width: received 0.*must be above 0"),
        (lambda: Line([1], [1], opacity=1.5), r"opacity: received 1.5.*must lie in \[0, 1\]"),
        (
            lambda: Line([1], [1], colour=8),
            "colour: received 8.*must be an index from 0 to 7.*Shade",
        ),
        (lambda: Line([1], [1], colour="teal"), "colour: received 'teal'.*must be a role"),
        (lambda: Points([1], [1], marker="+"), "Points.marker: received"),
        (lambda: Points([1], [1], size=-1), "Points.size: received .*must be above 0"),
        (
            lambda: Band([2, 1], [0, 0], [1, 1]),
            "Band.x: received .*must be in ascending order.*sort",
        ),
        (lambda: Band([1, np.inf], [0, 0], [1, 1]), "Band.x: received .*must be finite"),
        (
            lambda: Band([1, 2], [0, 3], [1, 2]),
            r"low\[1\] = 3 above high\[1\] = 2, it must.*; swap",
        ),
        (lambda: VerticalRule(np.nan), "VerticalRule.x: received nan.*must be finite"),
        (lambda: HorizontalRule(np.inf), "HorizontalRule.y: received inf.*must be finite"),
        (lambda: Text(0, np.nan, "t"), "Text.y: received .*must be finite"),
        (
            lambda: Text(0, 0, "t", anchor="north"),
            "Text.anchor: received .*must be one of 'centre'",
        ),
        (
            lambda: Heatmap([1, 2], [1], [[1], [2]], label="z"),
            r"received \(2, 1\).*= \(1, 2\).*transpose",
        ),
        (
            lambda: Heatmap([2, 1], [1], [[1, 2]], label="z"),
            "Heatmap.x: received .*must be in ascending",
        ),
        (lambda: Heatmap([1], [1], [[1]], label="z", scale="symlog"), "Heatmap.scale: received"),
        (
            lambda: Heatmap([1], [1], [[1]], label="z", limits=(2, 1)),
            "limits: received .*must be in ascending",
        ),
        (
            lambda: Heatmap([1], [1], [[1]], label="z", limits=(1,)),
            "limits: received .*must be two ends",
        ),
        (
            lambda: Heatmap([1], [1], [[1]], label="z", scale="log", centre=0),
            "centre: received .*must be above 0",
        ),
        (
            lambda: Axis("x", scale="cubic"),
            "Axis.scale: received .*must be one of 'linear', 'log', 'symlog'",
        ),
        (lambda: Axis("x", limits=(1, 0)), "Axis.limits: received .*must be in ascending order"),
        (lambda: Axis("x", limits=(0, 1, 2)), "Axis.limits: received .*must be two ends"),
        (
            lambda: Axis("x", scale="log", limits=(0, 1)),
            "limits: received .*must be above 0 on a log scale",
        ),
        (
            lambda: Axis("x", scale="log", ticks=[0, 1]),
            "ticks: received .*must be above 0 on a log scale",
        ),
        (lambda: Axis("x", threshold=0), "threshold: received .*must be above 0"),
        (lambda: panel(legend="left"), "Panel.legend: received .*must be one of 'best'"),
        (
            lambda: panel(*[Heatmap([1], [1], [[1]], label="z")] * 2),
            "Panel.marks: received 2 Heatmaps.*at most one",
        ),
        (
            lambda: panel(Heatmap([1], [0, 1], [[1], [2]], label="z"), y=LOG),
            "Heatmap with y = .*, it must be above 0 on a log axis",
        ),
        (lambda: Figure("t", []), "Figure.panels: received none"),
        (
            lambda: Figure("t", [panel()], columns=0),
            "Figure.columns: received 0, it must be at least 1",
        ),
        (
            lambda: Figure("t", [panel()], notice=" "),
            "Figure.notice: received ' ', it must have words",
        ),
        (lambda: Figure("t", [panel()], size=(1, 0)), "size: received .*must be above 0"),
        (
            lambda: Figure("t", [panel()], size=(1,)),
            r"Figure.size: received \(1,\), it must be \(width, height\)",
        ),
        (lambda: Shade(1.1), r"Shade.place: received 1.1.*must lie in \[0, 1\]"),
        (lambda: Shade.family(0), "size: received 0.*must be at least 1"),
    ],
)
def test_wrong_arguments_are_refused_in_words(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_marks_keep_a_copy_that_cannot_change():
    mine = np.array([1.0, 2.0])
    line = Line(mine, mine)
    mine[0] = 7
    assert line.x[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        line.y[0] = 7


def test_values_that_a_log_axis_cannot_show_are_counted():
    low = Line([1, 2, 3, 4], [0, -1, 5, np.nan])
    infinite = Points([1, 2], [np.inf, -np.inf])
    assert (
        panel(low, infinite, y=LOG).full_note()
        == "2 values ≤ 0 not shown; 2 infinite values not shown"
    )
    assert panel(low, y=LOG, note="seed 0").full_note() == "seed 0; 2 values ≤ 0 not shown"
    assert panel(low).full_note() == ""
    assert (
        panel(Points([-1, 1], [1, 1]), x=Axis("x", scale="log"))
        .full_note()
        .startswith("1 value ≤ 0")
    )


def test_heatmap_counts_what_its_colours_cannot_show():
    z = [[1, 0], [-np.inf, np.nan]]
    note = "1 value ≤ 0 not shown; 1 infinite value not shown"
    assert panel(Heatmap([0, 1], [0, 1], z, label="z", scale="log")).full_note() == note
    assert panel(Heatmap([0, 1], [0, 1], z, label="z")).full_note() == "1 infinite value not shown"


def test_points_that_are_not_drawn_claim_no_room():
    shown = panel(Points([1, 2, 1000], [1, 10, -1]), y=LOG)
    (left, right), (bottom, top) = shown.ranges()
    assert left < 1 < 2 < right < 3
    assert 0 < bottom < 1 < 10 < top < 20


def test_a_panel_without_values_says_so_and_has_a_range():
    bare = panel(Line([1, 2], [0, np.inf], label="a"), y=LOG)
    assert bare.empty
    assert bare.ranges()[1] == (1, 10)
    assert not panel(HorizontalRule(1)).empty
    assert panel().empty


def test_alike_marks_share_a_legend_entry():
    lines = [Line([0, 1], [k, k], label="seeds") for k in range(3)]
    other = Line([0, 1], [9, 9], label="seeds", colour=1)
    full = Heatmap([0], [0], [[1]], label="z")
    gaps = Heatmap([0], [0], [[np.nan]], label="z")
    assert panel(*lines, other, Line([0], [0])).legend_marks() == [lines[0], other]
    assert panel(*lines, legend=None).legend_marks() == []
    assert panel(full).legend_marks() == []
    assert [mark.legend_label for mark in panel(gaps).legend_marks()] == ["no value"]


def test_colours_diverge_equally_from_the_centre():
    linear = Heatmap([0, 1], [0], [[-1, 3]], label="z", centre=0)
    ratio = Heatmap([0, 1], [0], [[0.1, 1000]], label="z", scale="log", centre=1)
    assert linear.colour_range() == (-3, 3)
    assert ratio.colour_range() == pytest.approx((1e-3, 1e3))
    assert linear.places() == pytest.approx(np.array([[1 / 3, 1]]))


def test_grid_letters_and_notice():
    figures = {n: Figure("t", [panel()] * n) for n in (1, 2, 3, 4, 5, 28)}
    assert [f.shape for f in figures.values()] == [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (10, 3)]
    assert Figure("t", [panel()] * 3, columns=2).shape == (2, 2)
    assert figures[1].letter(0) == ""
    assert [figures[28].letter(k) for k in (0, 25, 26)] == ["(a)", "(z)", "(aa)"]
    told = figures[2].with_notice("undecided")
    assert (told.notice, figures[2].notice, told.with_notice(None).notice) == (
        "undecided",
        None,
        None,
    )
    assert told.panels == figures[2].panels


def test_what_is_ours_is_drawn_last_and_left_out_of_the_published_figure():
    theirs, rule = Line([1, 2], [1, 2]), HorizontalRule(1.5)
    both = panel(theirs, ours=[rule], note="of ours")
    extra, whole = panel(ours=[rule]), panel(theirs)
    assert both.marks == (theirs, rule)
    assert both.published().marks == (theirs,)
    assert both.published().note is None
    assert extra.published() is None
    assert panel().published().marks == ()  # nothing to show is the paper's affair
    figure = Figure("title", [both, extra], ours=[whole], caption="words", columns=2, size=(9, 4))
    assert figure.panels == (both, extra, whole)
    again = figure.with_notice("undecided")
    assert again.panels == figure.panels  # made anew, ours do not come twice
    assert again.panels[0].marks == (theirs, rule)
    published = again.published("other words")
    assert [each.marks for each in published.panels] == [(theirs,)]
    assert (published.title, published.notice, published.caption) == ("", None, "other words")
    assert published.size is None  # it was for three panels
    assert Figure("title", [both], size=(9, 4)).published().size == (9, 4)
