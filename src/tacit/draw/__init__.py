"""A small declarative figure with two renderers: Matplotlib for files, Plotly for pages.

```python
figure = Figure(
    "Longer training, later bend",
    [Panel("loss", Axis("step", scale="log"), Axis("loss", scale="log"), [Line(steps, losses)])],
)
save_svg(figure, "figure.svg")
```
"""

from tacit._signatures import with_readable_signatures
from tacit.draw._axis import Axis
from tacit.draw._figure import Figure, Panel
from tacit.draw._heatmap import Heatmap
from tacit.draw._marks import Band, HorizontalRule, Line, Mark, Points, Text, VerticalRule
from tacit.draw._matplotlib import to_matplotlib
from tacit.draw._palette import Colour, Shade
from tacit.draw._plotly import to_html, to_plotly
from tacit.draw._record import figure_from_dict, figure_to_dict
from tacit.draw._runs import lines, mean_lines, median_lines, range_lines, run_points
from tacit.draw._save import FORMATS, WIDTHS, save_all, save_both, save_png, save_svg
from tacit.draw._thumbnail import THUMBNAIL, save_thumbnail
from tacit.draw._web import KeyEntry, WebPanel, to_web

__all__ = [
    "FORMATS",
    "THUMBNAIL",
    "WIDTHS",
    "Axis",
    "Band",
    "Colour",
    "Figure",
    "Heatmap",
    "HorizontalRule",
    "KeyEntry",
    "Line",
    "Mark",
    "Panel",
    "Points",
    "Shade",
    "Text",
    "VerticalRule",
    "WebPanel",
    "figure_from_dict",
    "figure_to_dict",
    "lines",
    "mean_lines",
    "median_lines",
    "range_lines",
    "run_points",
    "save_all",
    "save_both",
    "save_png",
    "save_svg",
    "save_thumbnail",
    "to_html",
    "to_matplotlib",
    "to_plotly",
    "to_web",
]

with_readable_signatures(globals(), __all__)
