"""Any figure that can be made can be drawn, by both renderers, and keeps its data."""

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

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
    to_matplotlib,
    to_plotly,
)

finite = st.floats(-1e12, 1e12, allow_subnormal=False)
value = st.one_of(finite, st.sampled_from([np.nan, np.inf, -np.inf, 0.0, 1e-12]))
words = st.text("abc XYZ αβ₀ $_<>&{}^\\%#\n-·", max_size=25)
label = st.none() | words
colour = st.one_of(st.integers(0, 7), st.sampled_from(["ink", "muted"]), st.floats(0, 1).map(Shade))
marker = st.sampled_from(["o", "s", "^", "D", "x"])
style = st.sampled_from(["solid", "dashed", "dotted"])


def floats(length, elements=value):
    return arrays.arrays(np.float64, length, elements=elements)


@st.composite
def lines(draw):
    n = draw(st.integers(0, 6))
    look = {"colour": draw(colour), "style": draw(style), "marker": draw(st.none() | marker)}
    return Line(draw(floats(n)), draw(floats(n)), label=draw(label), **look)


@st.composite
def points(draw):
    n = draw(st.integers(0, 6))
    look = {"colour": draw(colour), "marker": draw(marker), "filled": draw(st.booleans())}
    return Points(draw(floats(n)), draw(floats(n)), label=draw(label), **look)


@st.composite
def bands(draw):
    n = draw(st.integers(0, 6))
    low, high = np.sort(draw(floats((2, n))), axis=0)
    return Band(np.sort(draw(floats(n, finite))), low, high, colour=draw(colour), label=draw(label))


@st.composite
def heatmaps(draw, positive):
    places = st.lists(st.integers(1 if positive else -9, 9), min_size=1, max_size=4, unique=True)
    x, y = sorted(draw(places)), sorted(draw(places))
    scale = draw(st.sampled_from(["linear", "log"]))
    z = draw(floats((len(y), len(x))))
    return Heatmap(x, y, z, label=draw(words), scale=scale, annotate=draw(st.booleans()))


rules = st.one_of(
    st.builds(VerticalRule, finite, label=label), st.builds(HorizontalRule, finite, label=label)
)
texts = st.builds(Text, finite, finite, words, anchor=st.sampled_from(["centre", "above", "left"]))
axes = st.builds(Axis, words, scale=st.sampled_from(["linear", "log", "symlog"]))


@st.composite
def panels(draw):
    x, y = draw(axes), draw(axes)
    marks = draw(st.lists(st.one_of(lines(), points(), bands(), rules, texts), max_size=4))
    if draw(st.booleans()):
        marks.insert(0, draw(heatmaps("log" in (x.scale, y.scale))))
    legend = draw(st.sampled_from(["best", "outside", None]))
    return Panel(draw(words), x, y, marks, legend=legend, note=draw(label))


figures = st.builds(
    Figure,
    words,
    st.lists(panels(), min_size=1, max_size=2),
    caption=words,
    notice=st.none() | words.filter(str.strip),
)


def at_the_edge(value):
    """One value on a log scale, where floats end."""
    panel = Panel("", Axis(""), Axis("", scale="log"), [HorizontalRule(value)])
    return Figure("", [panel], caption="")


def drawn_pairs(panel, mark):
    """The points of a mark that its axes can show."""
    x, y = np.asarray(mark.x), np.asarray(mark.y)
    kept = panel.x.showable(x) & panel.y.showable(y)
    return x[kept], y[kept]


def seen(x, y):
    kept = np.isfinite(x) & np.isfinite(y)
    return x[kept], y[kept]


@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(figures)
@example(at_the_edge(np.finfo(float).tiny))
@example(at_the_edge(np.finfo(float).max))
def test_random_figures_are_drawn_with_all_their_data(figure):
    sheet, drawn = to_matplotlib(figure), to_plotly(figure)
    sheet.draw_without_rendering()
    drawn.to_json()
    plain = [place for place in sheet.axes if place.get_label() != "<colorbar>"]
    assert len(plain) == len(figure.panels)
    for number, (panel, place) in enumerate(zip(figure.panels, plain, strict=True)):
        marks = [mark for mark in panel.marks if isinstance(mark, Line | Points)]
        axis = f"x{number + 1 if number else ''}"
        traces = [t for t in drawn.data if t.xaxis == axis and t.type == "scatter"]
        traces = [t for t in traces if t.fill is None]
        artists = [a for a in place.lines if a.get_transform() == place.transData]
        assert len(traces) == len(artists) == len(marks)
        for mark, artist, trace in zip(marks, artists, traces, strict=True):
            x, y = drawn_pairs(panel, mark)
            np.testing.assert_array_equal(seen(*artist.get_xydata().T), (x, y))
            tx, ty = seen(np.asarray(trace.x, float), np.asarray(trace.y, float))
            np.testing.assert_allclose(tx, panel.x.forward(x) if panel.x.scale == "symlog" else x)
            np.testing.assert_allclose(ty, panel.y.forward(y) if panel.y.scale == "symlog" else y)
