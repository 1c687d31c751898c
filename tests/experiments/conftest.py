"""What the tests of all experiments share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="module", autouse=True)
def _figures_drawn_once():
    """Draw an experiment's first figure, as PNG: the SVG and other runs' take as long again.

    The SVG of a figure is tested in its own room; other runs make their figure, as data.
    """
    import tacit.draw
    from tacit.draw import save_png

    drawn = set()

    def save_both(figure, stem):
        experiment = Path(stem).parts[-3:-1]
        png, svg = (Path(f"{stem}.{kind}") for kind in ("png", "svg"))
        svg.write_bytes(b"<svg/>")
        if experiment in drawn:
            png.write_bytes(b"\x89PNG")
        else:
            save_png(figure, png)
        drawn.add(experiment)
        return png, svg

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tacit.draw, "save_both", save_both)
        yield
