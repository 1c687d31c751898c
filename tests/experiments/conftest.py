"""What the tests of all experiments share."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def _figures_as_png_alone():
    """Draw once: the SVG of a figure is tested in its own room, and takes as long again."""
    from tacit.draw import _save

    usual = _save._write

    def write(sheet, figure, path, kind):
        if kind != "svg":
            return usual(sheet, figure, path, kind)
        path.write_bytes(b"<svg/>")
        return path

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_save, "_write", write)
        yield
