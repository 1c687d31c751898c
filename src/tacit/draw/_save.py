"""Figures to files, whole or not at all, and the same bytes for the same figure."""

import os
import uuid
from pathlib import Path
from typing import Any

from tacit.draw._figure import Figure
from tacit.draw._matplotlib import to_matplotlib
from tacit.draw._matplotlib_style import style


def save_png(figure: Figure, path: str | Path) -> Path:
    """Write the figure as a PNG."""
    return _save(figure, Path(path), "png", {"Software": None})


def save_svg(figure: Figure, path: str | Path) -> Path:
    """Write the figure as an SVG, text as outlines, without date."""
    return _save(figure, Path(path), "svg", {"Date": None, "Title": figure.title})


def _save(figure: Figure, path: Path, kind: str, metadata: dict[str, Any]) -> Path:
    sheet = to_matplotlib(figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with style():
            sheet.savefig(temporary, format=kind, dpi=sheet.dpi, metadata=metadata)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
