"""The page: everything is there, nothing overlaps, legends hide no data.

The sizes of the layout are imported: the boxes are held against them.
"""

import itertools
import math

import numpy as np
import pytest

from tacit.draw import (
    Axis,
    Band,
    Figure,
    Heatmap,
    Line,
    Panel,
    Points,
    Shade,
    to_matplotlib,
    to_plotly,
    to_web,
)
from tacit.draw._palette import ROLES
from tacit.draw._plotly_page import (
    ENTRY,
    PANEL_TITLE,
    SMALL,
    TITLE,
    height_of,
    lay_out,
)

STEPS = np.logspace(0, 4, 40)
CAPTION = "Medians over nine seeds, with the range over converged lanes as bands. " * 6


def crowded(legend="best"):
    """Lines everywhere, so that no place inside is free."""
    shades = Shade.family(9)
    lines = [Line([0, 1], [k, 8 - k], label=f"length {k}", colour=shades[k]) for k in range(9)]
    zigzag = Line(np.linspace(0, 1, 80), np.tile([0, 8], 40), colour="muted")
    return Panel("crowded", Axis("x"), Axis("y"), [*lines, zigzag], legend=legend)


def falling():
    """A curve that leaves the upper right corner free."""
    marks = [Line(STEPS, 1 / STEPS, label="loss"), Band(STEPS, 0.5 / STEPS, 2 / STEPS)]
    return Panel(
        "falling", Axis("step", scale="log"), Axis("loss", scale="log"), marks, legend="best"
    )


def gaps():
    z = np.where(np.eye(4) > 0, np.nan, 1.5)
    label = "a long word on what the colours of all these cells mean"
    return Panel("gaps " * 20, Axis("x"), Axis("y"), [Heatmap(range(4), range(4), z, label=label)])


@pytest.fixture(scope="module")
def full():
    low = Line([1, 2, 3], [-1, 1, 2])
    noted = Panel("note", Axis("x"), Axis("y", scale="log"), [low], note="a note " * 20)
    panels = [falling(), gaps(), crowded(), noted]
    return Figure("A title", panels, caption=CAPTION, notice="undecided: too few seeds " * 8)


@pytest.fixture(scope="module")
def full_sheet(full):
    return to_matplotlib(full)


def boxes(sheet):
    """What must not overlap, in pixels: each panel with all its parts, and the page's words."""
    renderer = sheet.canvas.get_renderer()
    bars = [place for place in sheet.axes if place.get_label() == "<colorbar>"]
    panels = [place for place in sheet.axes if place not in bars]
    found = {f"panel {k}": place.get_tightbbox(renderer) for k, place in enumerate(panels)}
    found |= {f"bar {k}": place.get_tightbbox(renderer) for k, place in enumerate(bars)}
    found |= {text.get_text()[:9]: text.get_window_extent(renderer) for text in sheet.texts}
    return found


def overlap(a, b, slack=1.0):
    return min(a.x1, b.x1) - max(a.x0, b.x0) > slack and min(a.y1, b.y1) - max(a.y0, b.y0) > slack


def check_page(sheet):
    found = boxes(sheet)
    clashes = [
        names for names in itertools.combinations(found, 2) if overlap(*(found[n] for n in names))
    ]
    assert clashes == []
    page = sheet.bbox
    outside = [
        name
        for name, box in found.items()
        if box.x0 < -1 or box.y0 < -1 or box.x1 > page.x1 + 1 or box.y1 > page.y1 + 1
    ]
    assert outside == []


def test_nothing_overlaps_or_leaves_the_page(full, full_sheet):
    check_page(full_sheet)
    texts = [text.get_text().replace("\n", " ") for text in full_sheet.texts]
    assert texts == ["A title", full.caption.strip(), full.notice.strip()]


def test_a_given_size_is_kept_if_there_is_room_and_grows_if_not(full):
    sheet = to_matplotlib(Figure("t", [falling()], size=(5, 3)))
    assert tuple(sheet.get_size_inches()) == pytest.approx((5, 3))
    drawn = to_plotly(Figure("t", [falling()], size=(5, 3)))
    assert (drawn.layout.width, drawn.layout.height) == (480, 288)
    wordy = Panel("", Axis("x"), Axis("a label with many words " * 3), [Points([1], [1])])
    panels = [crowded("outside"), wordy]
    tight = Figure(full.title, panels, caption=CAPTION, notice="undecided", size=(9, 3))
    sheet = to_matplotlib(tight)
    check_page(sheet)
    assert sheet.get_figwidth() == 9
    assert sheet.get_figheight() > 3
    label = sheet.axes[1].yaxis.label.get_window_extent()
    assert label.height <= sheet.axes[1].bbox.height + 1


def test_the_notice_is_the_last_line_of_the_caption_in_both(full, full_sheet):
    _, caption, notice = full_sheet.texts
    assert notice.get_color() == ROLES["warning"]
    above, below = (text.get_window_extent() for text in (caption, notice))
    assert above.y0 >= below.y1 - 2
    assert below.y0 > 0

    drawn = to_plotly(full)
    (told,) = [note for note in drawn.layout.annotations if note.name == "notice"]
    assert told.text.replace("<br>", " ") == f"<b>{full.notice.strip()}</b>"
    assert all(told.y < axis.domain[0] for axis in drawn.select_yaxes())
    bare = Figure(full.title, full.panels[:1])
    assert [text.get_text() for text in to_matplotlib(bare).texts] == ["A title"]
    assert not [note for note in to_plotly(bare).layout.annotations if note.name == "notice"]


def panel(title, *labels, y="loss"):
    marks = [Line([0, 1], [k, 2], label=word, colour=k) for k, word in enumerate(labels)]
    return Panel(title, Axis("x"), Axis(y), marks)


def entries(legend):
    return [text.get_text() for text in legend.get_texts()]


def test_what_panels_share_stands_once_in_a_key():
    figure = Figure(
        "A title",
        [panel("one", "Adam", "flow"), panel("two", "Adam", "flow", "own"), panel("three", "Adam")],
    )
    sheet = to_matplotlib(figure)
    (key,) = sheet.legends
    assert entries(key) == ["Adam", "flow"]
    assert [entries(axes.get_legend()) for axes in sheet.axes if axes.get_legend()] == [["own"]]
    check_page(sheet)
    box = key.get_window_extent()
    assert sheet.texts[0].get_window_extent().y0 > box.y1
    assert all(box.y0 > axes.get_tightbbox().y1 for axes in sheet.axes)
    panels, shared = to_web(figure)
    assert [entry.label for entry in shared] == ["Adam", "flow"]
    assert [[entry.label for entry in one.key] for one in panels] == [[], ["own"], []]


def test_a_key_that_could_be_read_for_something_else_stays_in_its_panels():
    clash = [panel("one", "Adam"), panel("two", "Adam"), panel("three", "GRU")]
    sheet = to_matplotlib(Figure("", clash))
    assert sheet.legends == []
    assert [entries(axes.get_legend()) for axes in sheet.axes] == [["Adam"], ["Adam"], ["GRU"]]


def test_no_label_says_what_the_title_or_the_neighbour_says():
    figure = Figure(
        "",
        [panel("small: Loss"), panel("b", y="rank"), panel("c", y="rank"), panel("loss reached")],
        columns=3,
    )
    sheet = to_matplotlib(figure)
    assert [axes.get_ylabel() for axes in sheet.axes] == ["", "rank", "", "loss"]
    titles = [axis.title.text for axis in to_plotly(figure).select_yaxes()]
    assert titles == ["", "rank", "rank", "loss"]


def test_plotly_page_runs_from_top_to_bottom(full):
    page = lay_out(full)
    rows, columns = full.shape
    bottom = height_of(page.title, TITLE)
    for row in range(rows):
        slots = page.slots[row * columns : (row + 1) * columns]
        assert min(slot.top - height_of(slot.title, PANEL_TITLE) for slot in slots) > bottom
        for slot in slots:
            assert slot.top + slot.height < slot.note_top
            assert slot.note_top + height_of(slot.note, SMALL) <= slot.legend_top
            entries = 0 if slot.corner else math.ceil(len(slot.labels) / max(slot.columns, 1))
            bottom = max(bottom, slot.legend_top + entries * ENTRY)
    assert bottom < page.caption_top
    assert height_of(page.notice, SMALL) > 0
    assert page.caption_top + height_of([*page.caption, *page.notice], SMALL) < page.height
    for left, right in itertools.pairwise(page.slots[:columns]):
        assert left.left + left.width < right.left


def test_legends_and_captions_make_the_page_higher_not_the_axes_smaller():
    many, none = crowded("outside"), crowded(None)
    heights = [
        to_matplotlib(Figure("", [panel], caption=caption)).axes[0].bbox.height
        for panel, caption in ((many, CAPTION), (none, ""))
    ]
    assert heights[0] == pytest.approx(heights[1], rel=0.02)


def test_titles_captions_and_letters_are_in_both(full, full_sheet):
    drawn = to_plotly(full)
    texts = [note.text.replace("<br>", " ") for note in drawn.layout.annotations]
    assert "<b>A title</b>" in texts
    assert CAPTION.strip() in texts
    assert "<b>(a)</b> falling" in texts
    first = [text.get_text() for text in full_sheet.axes[0].texts]
    assert first[:2] == ["falling", "(a)"]
    alone = to_matplotlib(Figure("", [falling()])).axes[0]
    assert [text.get_text() for text in alone.texts] == ["falling"]


def legend_and_data(sheet):
    """The legend's box and all vertices of lines and points, in pixels."""
    place = sheet.axes[0]
    vertices = [place.transData.transform(line.get_xydata()) for line in place.lines]
    return place.get_legend().get_window_extent(), np.concatenate(vertices), place.bbox


def test_a_legend_stands_inside_only_where_it_hides_nothing():
    box, data, frame = legend_and_data(to_matplotlib(Figure("", [falling()])))
    assert frame.x0 < box.x0 < box.x1 < frame.x1
    assert frame.y0 < box.y0 < box.y1 < frame.y1
    assert not any(box.contains(*point) for point in data)
    assert lay_out(Figure("", [falling()])).slots[0].corner is not None


@pytest.mark.parametrize("panel", [crowded(), crowded("outside"), gaps()])
def test_else_it_stands_below(panel):
    sheet = to_matplotlib(Figure("", [panel]))
    place = sheet.axes[0]
    label = place.xaxis.label.get_window_extent()
    assert place.get_legend().get_window_extent().y1 < label.y0
    assert lay_out(Figure("", [panel])).slots[0].corner is None


def test_many_entries_are_set_in_columns_in_order():
    panel = crowded("outside")
    legend = to_matplotlib(Figure("", [panel])).axes[0].get_legend()
    assert legend._ncols > 1
    drawn = to_plotly(Figure("", [panel]))
    named = [trace for trace in drawn.data if trace.showlegend]
    assert [trace.name for trace in named] == [f"length {k}" for k in range(9)]
    assert [trace.legendrank for trace in named] == list(range(1, 10))
    columns = list(dict.fromkeys(trace.legend for trace in named))
    places = [drawn.layout[name].x for name in columns]
    assert len(columns) > 1
    assert places == sorted(set(places))
    assert len({drawn.layout[name].y for name in columns}) == 1


def test_points_right_at_a_corner_move_the_legend():
    spots = [(0.99, 0.99), (0.01, 0.99)]
    marks = [Points([0, 1], [0, 1], label="a"), Points(*zip(*spots, strict=True), colour=1)]
    panel = Panel("", Axis("x", limits=(0, 1)), Axis("y", limits=(0, 1)), marks)
    box, data, _ = legend_and_data(to_matplotlib(Figure("", [panel])))
    assert not any(box.contains(*point) for point in data)
