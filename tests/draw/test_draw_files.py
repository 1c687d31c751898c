"""Files and imports: whole or not at all, the same bytes each time, and nothing left behind."""

import os
import subprocess
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest

import tacit.draw
from tacit.draw import (
    Axis,
    Band,
    Figure,
    Heatmap,
    HorizontalRule,
    Line,
    Panel,
    Points,
    Text,
    save_both,
    save_png,
    save_svg,
    to_html,
    to_plotly,
)

MAKE = """
import sys
from tacit.draw import *
z = [[1.0, float("nan")], [2.0, 3.0]]
marks = [Line([1, 2, 3], [1, 2, 1], label="a"), Band([1, 2], [0.5, 1], [2, 3]), Points([1], [2])]
panels = [
    Panel("lines", Axis("x", scale="log"), Axis("y"), [*marks, Text(1, 1, "t"), HorizontalRule(1)]),
    Panel("map", Axis("x"), Axis("y"), [Heatmap([1, 2], [1, 2], z, label="z")]),
]
figure = Figure("same", panels, caption="words", notice="undecided")
"""


@pytest.fixture(scope="module")
def figure():
    z = [[1.0, float("nan")], [2.0, 3.0]]
    marks = [
        Line([1, 2, 3], [1, 2, 1], label="a"),
        Band([1, 2], [0.5, 1], [2, 3]),
        Points([1], [2]),
    ]
    lines = [*marks, Text(1, 1, "t"), HorizontalRule(1)]
    panels = [
        Panel("lines", Axis("x", scale="log"), Axis("y"), lines),
        Panel("map", Axis("x"), Axis("y"), [Heatmap([1, 2], [1, 2], z, label="z")]),
    ]
    return Figure("same", panels, caption="words", notice="undecided")


def run(code, *arguments, **environment):
    source = os.path.dirname(os.path.dirname(os.path.dirname(tacit.draw.__file__)))
    environment = {**os.environ, "PYTHONPATH": source, **environment}
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_importing_draw_is_light():
    heavy = "('matplotlib', 'plotly', 'jax', 'xarray', 'pandas', 'scipy')"
    code = f"import sys, tacit.draw; print([m for m in {heavy} if m in sys.modules])"
    assert run(code).strip() == "[]"


def test_drawing_uses_no_pyplot(tmp_path):
    code = MAKE + "save_png(figure, sys.argv[1]); print('matplotlib.pyplot' in sys.modules)"
    assert run(code, tmp_path / "a.png").strip() == "False"


def test_the_same_figure_gives_the_same_bytes(figure, tmp_path):
    first, second, third = (tmp_path / f"{name}.svg" for name in "abc")
    save_svg(figure, first)
    with mpl.rc_context({"font.size": 30, "axes.grid": True, "svg.hashsalt": "other"}):
        save_svg(figure, second)
    run(MAKE + "save_svg(figure, sys.argv[1])", third, PYTHONHASHSEED="7")
    assert first.read_bytes() == second.read_bytes() == third.read_bytes()
    text = first.read_text()
    assert "<dc:date>" not in text
    assert str(tmp_path) not in text
    ElementTree.fromstring(text)
    save_png(figure, tmp_path / "a.png")
    save_png(figure, tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_other_figures_give_other_bytes(figure, tmp_path):
    small = Figure("", figure.panels[:1], notice="undecided")
    save_svg(small, tmp_path / "a.svg")
    save_svg(small.with_notice("undecided!"), tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() != (tmp_path / "b.svg").read_bytes()
    assert to_html(figure) != to_html(figure.with_notice("undecided!"))


def test_saving_replaces_the_file_and_leaves_nothing_else(figure, tmp_path):
    path = tmp_path / "new" / "figure.svg"
    assert save_svg(figure, str(path)) == path
    path.write_text("old")
    save_svg(figure, path)
    assert path.read_text() != "old"
    assert [file.name for file in path.parent.iterdir()] == ["figure.svg"]


def test_a_failed_save_keeps_the_old_file(figure, tmp_path, monkeypatch):
    path = tmp_path / "figure.png"
    path.write_text("old")

    def fail(self, target, **options):
        target.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr("matplotlib.backends.backend_agg.FigureCanvasAgg.print_png", fail)
    with pytest.raises(OSError, match="disk full"):
        save_png(figure, path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["figure.png"]


def test_a_full_disk_keeps_the_old_file(figure, tmp_path, monkeypatch):
    path = tmp_path / "figure.png"
    path.write_text("old")

    def fail(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="could not be written: No space left on device"):
        save_png(figure, path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["figure.png"]


def test_settings_are_left_as_they_were(figure, tmp_path):
    before = dict(mpl.rcParams.copy())
    save_svg(figure, tmp_path / "a.svg")
    assert dict(mpl.rcParams.copy()) == before


class Balance(HTMLParser):
    """Collects tags, and those that were not closed."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_a_well_formed_div_that_repeats_itself(figure):
    text = to_html(figure)
    assert text == to_html(figure)
    parsed = Balance()
    parsed.feed(text)
    assert parsed.open == []
    assert parsed.seen[0][0] == "div"
    assert not [attributes for _, attributes in parsed.seen if "src" in attributes]
    assert len(text) < 100_000


def test_html_says_where_plotly_comes_from(figure):
    assert "https://cdn.plot.ly" in to_html(figure, include_plotlyjs="cdn")
    assert len(to_html(figure, include_plotlyjs=True)) > 1_000_000
    with pytest.raises(
        ValueError, match=r"include_plotlyjs: received .*must be one of False, 'cdn', True"
    ):
        to_html(figure, include_plotlyjs="local")


def test_without_plotly_files_are_written_and_pages_say_what_to_install(
    figure, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "plotly", None)  # as if it were not installed
    for path in save_both(figure, tmp_path / "figure"):
        assert path.stat().st_size > 1000
    for interactive in (to_html, to_plotly):
        with pytest.raises(ImportError, match=r"^plotly is not installed.*pip install plotly$"):
            interactive(figure)


def test_data_near_the_largest_float_can_be_drawn(tmp_path):
    marks = [Line([1e-300, 1e300], [1, 1e308]), Points([1.0], [-np.finfo(float).max])]
    huge = Panel("huge", Axis("x", scale="log"), Axis("y"), marks)
    save_png(Figure("", [huge]), tmp_path / "huge.png")
    to_html(Figure("", [huge]))
