"""Every mark in both renderers: the artists and traces hold the data and look as asked.

It looks inside: renderers' tables against every kind of mark, and the palette's colours.
"""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex

from tacit.draw import (
    Axis,
    Band,
    Figure,
    Heatmap,
    HorizontalRule,
    Line,
    Mark,
    Panel,
    Points,
    Shade,
    Text,
    VerticalRule,
    to_matplotlib,
    to_plotly,
)
from tacit.draw._matplotlib_marks import DRAW as MATPLOTLIB
from tacit.draw._palette import CATEGORICAL, ROLES, hex_of
from tacit.draw._plotly_marks import DRAW as PLOTLY

NAN = np.nan
LINEAR, LOG, SYMLOG = Axis("x"), Axis("x", scale="log"), Axis("x", scale="symlog", threshold=0.1)


def figure(*marks, x=LINEAR, y=LINEAR, **options):
    return Figure("title", [Panel("panel", x, y, marks, **options)])


def axes(*marks, **options):
    return to_matplotlib(figure(*marks, **options)).axes[0]


def words(place):
    return [text.get_text() for text in place.texts]


def legend_words(place):
    legend = place.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def annotation_words(drawn):
    return [annotation.text for annotation in drawn.layout.annotations]


def same(drawn, expected):
    np.testing.assert_array_equal(np.asarray(drawn, dtype=float), expected)


def test_both_renderers_know_every_mark():
    every = set(Mark.__subclasses__())
    assert set(MATPLOTLIB) == set(PLOTLY) == every


def test_line():
    line = Line(
        [1, 2, 3, 4], [1, NAN, 3, 4], label="a", colour=2, style="dashed", marker="s", width=3
    )
    (artist,) = axes(line).lines
    same(artist.get_xdata()[[0, 2, 3]], [1, 3, 4])
    same(artist.get_ydata(), [1, NAN, 3, 4])
    assert to_hex(artist.get_color()).upper() == CATEGORICAL[2]
    assert (artist.get_linewidth(), artist.get_marker()) == (3, "s")
    assert artist.is_dashed()
    (trace,) = to_plotly(figure(line)).data
    same(trace.y, [1, NAN, 3, 4])
    assert (trace.mode, trace.connectgaps, trace.name) == ("lines+markers", False, "a")
    assert (trace.line.color, trace.line.dash) == (CATEGORICAL[2], "6px,3px")
    assert trace.line.width == pytest.approx(4)
    assert trace.marker.symbol == "square"


@pytest.mark.parametrize(("style", "dashed"), [("solid", False), ("dotted", True)])
def test_line_styles(style, dashed):
    line = Line([1, 2], [1, 2], style=style, opacity=0.5)
    assert axes(line).lines[0].is_dashed() == dashed
    assert axes(line).lines[0].get_alpha() == 0.5
    trace = to_plotly(figure(line)).data[0]
    assert (trace.line.dash == "solid") == (not dashed)
    assert (trace.mode, trace.opacity, trace.showlegend) == ("lines", 0.5, False)


@pytest.mark.parametrize("marker", ["o", "s", "^", "D", "x"])
@pytest.mark.parametrize("filled", [True, False])
def test_points(marker, filled):
    shade = Shade(0.5)
    points = Points([1, 2], [3, 4], colour=shade, marker=marker, filled=filled, size=9)
    (artist,) = axes(points).lines
    same(artist.get_xydata(), [[1, 3], [2, 4]])
    assert (artist.get_linestyle(), artist.get_marker()) == ("None", marker)
    assert artist.get_markersize() == 9
    hollow = not filled or marker == "x"
    assert (artist.get_markerfacecolor() == "none") == hollow
    drawn = artist.get_markeredgecolor() if hollow else artist.get_markerfacecolor()
    assert drawn == hex_of(shade)
    (trace,) = to_plotly(figure(points)).data
    same([trace.x, trace.y], [[1, 2], [3, 4]])
    assert (trace.mode, trace.marker.color, trace.marker.size) == ("markers", hex_of(shade), 12)
    assert trace.marker.symbol.endswith("-open") == (not filled and marker != "x")


def test_band_is_broken_where_a_value_is_missing():
    band = Band([1, 2, 3, 4, 5], [1, 2, NAN, 4, 5], [2, 4, 6, 8, 10], colour="warning", label="b")
    place = axes(band)
    (fill,) = place.collections
    outlines = fill.get_paths()
    assert len(outlines) == 2
    corners = {tuple(corner) for path in outlines for corner in path.vertices.tolist()}
    assert {(1, 1), (2, 4), (4, 4), (5, 10)} <= corners
    assert not any(x == 3 for x, _ in corners)
    assert to_hex(fill.get_facecolor()[0]).upper() == ROLES["warning"]
    assert legend_words(place) == ["b"]
    (trace,) = to_plotly(figure(band)).data
    same(trace.x, [1, 2, 2, 1, 1, NAN, 4, 5, 5, 4, 4])
    same(trace.y, [1, 2, 4, 2, 1, NAN, 4, 5, 10, 8, 4])
    assert (trace.fill, trace.name) == ("toself", "b")
    assert trace.fillcolor.startswith("rgba(180, 35, 24")


def test_band_without_any_whole_place_is_an_empty_trace():
    band = Band([1, 2], [NAN, NAN], [1, 1])
    assert len(axes(band).collections[0].get_paths()) == 0
    assert len(to_plotly(figure(band, Points([1], [1]))).data[0].x) == 0


def test_rules():
    marks = [VerticalRule(2, label="here", colour=1), HorizontalRule(5, style="dotted")]
    place = axes(*marks)
    vertical, horizontal = place.lines
    same(vertical.get_xdata(), [2, 2])
    same(horizontal.get_ydata(), [5, 5])
    assert vertical.get_color() == CATEGORICAL[1]
    assert horizontal.get_color() == ROLES["reference"]
    assert legend_words(place) == ["here"]
    first, second = to_plotly(figure(*marks)).layout.shapes
    assert (first.x0, first.x1, first.y0, first.y1) == (2, 2, 0, 1)
    assert (first.xref, first.yref, first.name, first.showlegend) == ("x", "y domain", "here", True)
    assert (second.y0, second.y1, second.x0, second.x1) == (5, 5, 0, 1)
    assert (second.xref, second.yref, second.showlegend) == ("x domain", "y", False)


def test_rules_that_a_log_axis_cannot_show_are_not_drawn():
    marks = [Points([1], [1]), VerticalRule(0, label="v"), HorizontalRule(-1)]
    place = axes(*marks, x=LOG, y=LOG)
    assert np.isnan(place.lines[1].get_xdata()).all()
    assert np.isnan(place.lines[2].get_ydata()).all()
    assert "2 values ≤ 0 not shown" in words(place)
    drawn = to_plotly(figure(*marks, x=LOG, y=LOG))
    assert not drawn.layout.shapes
    assert "2 values ≤ 0 not shown" in annotation_words(drawn)


@pytest.mark.parametrize(
    ("anchor", "alignment"),
    [
        ("centre", ("center", "center")),
        ("left", ("right", "center")),
        ("right", ("left", "center")),
        ("above", ("center", "bottom")),
        ("below", ("center", "top")),
    ],
)
def test_text(anchor, alignment):
    mark = Text(10, 100, "a $b$ <i>&", anchor=anchor, colour=3)
    place = axes(mark, y=LOG)
    (artist,) = [text for text in place.texts if text.get_text() == "a $b$ <i>&"]
    assert (artist.xy, artist.get_parse_math()) == ((10, 100), False)
    assert (artist.get_ha(), artist.get_va()) == alignment
    assert artist.get_color() == CATEGORICAL[3]
    drawn = to_plotly(figure(mark, y=LOG)).layout.annotations[0]
    assert (drawn.x, drawn.y, drawn.text) == (10, 2, "a &#36;b&#36; &lt;i&gt;&amp;")
    assert drawn.xanchor == alignment[0]
    assert drawn.yanchor == alignment[1].replace("center", "middle")


Z = np.array([[1.0, 10.0, NAN], [100.0, 1000.0, -1.0]])


def test_heatmap_draws_cells_without_value_as_such():
    mark = Heatmap([1, 2, 3], [1, 10], Z, label="error", scale="log", annotate=True)
    sheet = to_matplotlib(figure(mark, y=LOG))
    place, bar = sheet.axes
    (cells,) = place.collections
    np.testing.assert_array_equal(
        cells.get_array().mask, [[False, False, True], [False, False, True]]
    )
    np.testing.assert_array_equal(cells.get_array().compressed(), [1, 10, 100, 1000])
    assert isinstance(cells.norm, mpl.colors.LogNorm)
    assert (cells.norm.vmin, cells.norm.vmax) == pytest.approx((1, 1000))
    hatched = [patch for patch in place.patches if patch.get_hatch()]
    assert [patch.get_xy() for patch in hatched] == [
        pytest.approx((2.5, 10**-0.5)),
        pytest.approx((2.5, 10**0.5)),
    ]
    assert legend_words(place) == ["no value"]
    assert {"1", "10", "100", "1000", "1 value ≤ 0 not shown"} <= set(words(place))
    assert bar.get_ylabel() == "error"
    assert [text.get_text() for text in bar.get_yticklabels()] == ["10⁰", "10¹", "10²", "10³"]

    cells, gaps = to_plotly(figure(mark, y=LOG)).data
    same(cells.z, [[0, 1, NAN], [2, 3, NAN]])
    same(cells.customdata[..., 2], Z)
    same(cells.customdata[..., 0], [[1, 2, 3]] * 2)
    same(cells.x, [0.5, 1.5, 2.5, 3.5])
    np.testing.assert_allclose(cells.y, 10 ** np.array([-0.5, 0.5, 1.5]))
    assert (cells.zmin, cells.zmax) == pytest.approx((0, 3))
    assert cells.colorbar.title.text == "error"
    assert list(cells.colorbar.ticktext) == ["10⁰", "10¹", "10²", "10³"]
    assert cells.text[0][1] == "10"
    assert (gaps.name, gaps.fill, gaps.fillpattern.shape) == ("no value", "toself", "/")
    assert np.isnan(gaps.x).sum() == 1  # two cells, set apart


def test_heatmap_without_gaps_and_around_a_centre():
    mark = Heatmap([1, 2], [1], [[-1, 3]], label="z", centre=0, limits=(None, 2))
    sheet = to_matplotlib(figure(mark))
    (cells,) = sheet.axes[0].collections
    assert (cells.norm.vmin, cells.norm.vmax) == (-2, 2)
    assert cells.colorbar.extend == "max"
    assert not sheet.axes[0].patches
    assert sheet.axes[0].get_legend() is None
    (trace,) = to_plotly(figure(mark)).data
    assert (trace.zmin, trace.zmax) == (-2, 2)
    assert trace.colorscale[4] == (0.5, "#F7F7F7")


def test_large_heatmaps_are_images_in_vector_files():
    small, large = (Heatmap(range(n), range(n), np.ones((n, n)), label="z") for n in (10, 60))
    assert not axes(small).collections[0].get_rasterized()
    assert axes(large).collections[0].get_rasterized()


def test_log_axes_leave_out_and_count_what_is_not_positive():
    line = Line([0, 1, 10, 100], [1, 0, 1e-3, -1], label="a")
    place = axes(line, x=LOG, y=LOG, note="one seed")
    assert (place.get_xscale(), place.get_yscale()) == ("log", "log")
    same(place.lines[0].get_ydata(), [NAN, NAN, 1e-3, NAN])
    assert "one seed; 3 values ≤ 0 not shown" in words(place)
    assert len(place.xaxis.get_minorticklocs()) > 5
    drawn = to_plotly(figure(line, x=LOG, y=LOG, note="one seed"))
    assert (drawn.layout.xaxis.type, drawn.layout.yaxis.type) == ("log", "log")
    same(drawn.data[0].y, [NAN, NAN, 1e-3, NAN])
    assert "one seed; 3 values ≤ 0 not shown" in annotation_words(drawn)


def test_symlog_axes_agree():
    y = np.array([-100, -0.05, 0, 0.1, 1000])
    line = Line(range(5), y)
    place = axes(line, y=SYMLOG)
    assert place.get_yscale() == "symlog"
    same(place.lines[0].get_ydata(), y)
    drawn = to_plotly(figure(line, y=SYMLOG))
    axis, trace = drawn.layout.yaxis, drawn.data[0]
    assert (axis.type, list(axis.ticktext)) == (
        "linear",
        [t.get_text() for t in place.get_yticklabels()],
    )
    same(trace.customdata[:, 1], y)
    # The same height in the axes, in both.
    heights = place.transAxes.inverted().transform(place.transData.transform(np.c_[range(5), y]))[
        :, 1
    ]
    low, high = axis.range
    np.testing.assert_allclose((np.array(trace.y) - low) / (high - low), heights, atol=1e-9)


def test_axes_show_labels_limits_and_ticks():
    x = Axis("time $t$", limits=(0, 4), ticks={1: "one", 3: "$3"})
    place = axes(Line([1, 2], [1, 2]), x=x, y=Axis("loss <L>"))
    assert (place.get_xlabel(), place.get_ylabel()) == ("time $t$", "loss <L>")
    assert not place.xaxis.label.get_parse_math()
    assert place.get_xlim() == (0, 4)
    assert [text.get_text() for text in place.get_xticklabels()] == ["one", r"\$3"]
    layout = to_plotly(figure(Line([1, 2], [1, 2]), x=x, y=Axis("loss <L>"))).layout
    assert layout.xaxis.title.text == "time &#36;t&#36;"
    assert layout.yaxis.title.text == "loss &lt;L&gt;"
    assert tuple(layout.xaxis.range) == (0, 4)
    assert list(layout.xaxis.ticktext) == ["one", "&#36;3"]
    low, high = place.get_ylim()
    assert tuple(layout.yaxis.range) == pytest.approx((low, high))


def test_an_empty_panel_says_so():
    lost = Line([1, 2], [np.inf, 0], label="a")
    place = axes(lost, y=LOG)
    assert "nothing to show" in words(place)
    assert place.get_legend() is None
    assert "nothing to show" in annotation_words(to_plotly(figure(lost, y=LOG)))


def test_labels_are_shown_as_they_are():
    marks = [Points([1], [1], label="_hidden"), Points([2], [1], label="$x$", colour=1)]
    place = axes(*marks)
    assert legend_words(place) == ["_hidden", "$x$"]
    assert not any(text.get_parse_math() for text in place.get_legend().get_texts())
    assert [trace.name for trace in to_plotly(figure(*marks)).data] == ["_hidden", "&#36;x&#36;"]
