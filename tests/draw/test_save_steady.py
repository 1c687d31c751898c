"""Equal runs give equal SVGs: the names inside do not hang on the last bit of the layout."""

import numpy as np

from tacit.draw import Axis, Figure, Line, Panel, save_svg
from tacit.draw._save import with_steady_names

SVG = b"""<g clip-path="url(#p%s)"/><g clip-path="url(#p%s)"/><use xlink:href="#m0123456789"/>
  <clipPath id="p%s">
   <rect x="1"/>
  </clipPath>
  <clipPath id="p%s">
   <rect x="2"/>
  </clipPath>
"""


def svg(first, second):
    return SVG % (first, second, first, second)


def test_names_follow_the_order_of_what_they_name():
    one = with_steady_names(svg(b"0123456789", b"abcdefabcd"))
    assert one == with_steady_names(svg(b"aaaaaaaaaa", b"bbbbbbbbbb"))
    assert one.startswith(b'<g clip-path="url(#clip1)"/><g clip-path="url(#clip2)"/>')
    assert b"#m0123456789" in one
    assert one.count(b"<clipPath") == 2


def test_frames_that_are_the_same_are_written_once():
    same = svg(b"0123456789", b"abcdefabcd").replace(b'x="2"', b'x="1"')
    once = with_steady_names(same)
    assert once.count(b"<clipPath") == 1
    assert once.count(b"url(#clip1)") == 2


def test_a_saved_figure_has_them(tmp_path):
    x = np.arange(4.0)
    figure = Figure("lines", [Panel("a", Axis("x"), Axis("y"), [Line(x, x)])])
    text = save_svg(figure, tmp_path / "figure.svg").read_text()
    assert "url(#clip1)" in text
    assert '<clipPath id="clip1">' in text
    assert "url(#p" not in text
