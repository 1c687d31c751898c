"""A figure as JSON's types and back, so that a page can be made of it later, and elsewhere.

JSON has neither NaN nor infinity: they are null and the texts "inf" and "-inf". Numbers have eight
digits, more than can be seen.
"""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from tacit._doors import door, instance
from tacit.draw._axis import Axis
from tacit.draw._figure import Figure, Panel
from tacit.draw._heatmap import Heatmap
from tacit.draw._marks import Band, HorizontalRule, Line, Mark, Points, Text, VerticalRule
from tacit.draw._palette import Shade

_MARKS = {kind.__name__: kind for kind in (
    Band, Heatmap, HorizontalRule, Line, Points, Text, VerticalRule
)}  # fmt: skip


@door(answer="any", figure=instance(Figure))
def figure_to_dict(figure: Figure) -> dict[str, Any]:
    """The figure as JSON's types."""
    return _packed(figure) | {
        "panels": [_panel(panel) for panel in figure.panels],
        "ours": _places(figure.panels, figure.ours),
    }


@door(answer="any", record=instance(dict))
def figure_from_dict(record: Any) -> Figure:
    """The figure that `figure_to_dict` wrote; a `ValueError` if it is none."""
    try:
        panels = [_to_panel(panel) for panel in record["panels"]]
        ours = [panels[place] for place in record["ours"]]
        return Figure(**{**_unpacked(Figure, record), "panels": panels, "ours": ours})
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(
            f"this is no record of a figure: {type(error).__name__}: {error}"
        ) from None


def _panel(panel: Panel) -> dict[str, Any]:
    return _packed(panel) | {
        "x": _axis(panel.x),
        "y": _axis(panel.y),
        "marks": [{"kind": type(mark).__name__, **_packed(mark)} for mark in panel.marks],
        "ours": _places(panel.marks, panel.ours),
    }


def _to_panel(record: Mapping[str, Any]) -> Panel:
    marks = [_to_mark(mark) for mark in record["marks"]]
    ours = [marks[place] for place in record["ours"]]
    axes = {name: _to_axis(record[name]) for name in ("x", "y")}
    return Panel(**{**_unpacked(Panel, record), **axes, "marks": marks, "ours": ours})


def _to_mark(record: Mapping[str, Any]) -> Mark:
    kind: Any = _MARKS[record["kind"]]
    made: Mark = kind(**_unpacked(kind, record))
    return made


def _axis(axis: Axis) -> dict[str, Any]:
    ticks = axis.tick_texts()
    return _packed(axis) | {"ticks": None if ticks is None else [[k, v] for k, v in ticks.items()]}


def _to_axis(record: Mapping[str, Any]) -> Axis:
    ticks = record["ticks"]
    return Axis(**{**_unpacked(Axis, record), "ticks": None if ticks is None else dict(ticks)})


def _places(all_: Any, some: Any) -> list[int]:
    """Where some records stand among all of them."""
    chosen = {id(one) for one in some}
    return [place for place, one in enumerate(all_) if id(one) in chosen]


def _packed(record: Any) -> dict[str, Any]:
    """The fields that are numbers, texts, colours and arrays; those that are not are left out."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    left = ("panels", "marks", "ours", "ticks")
    return {
        name: _value(value)
        for name, value in values.items()
        if name not in left and not isinstance(value, Axis)
    }


def _value(value: Any) -> Any:
    if isinstance(value, Shade):
        return {"shade": _value(float(value.place))}
    if isinstance(value, np.ndarray):
        return _value(value.tolist())
    if isinstance(value, tuple | list):
        return [_value(item) for item in value]
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    number = float(value)
    if math.isfinite(number):
        return float(f"{number:.8g}")
    return None if math.isnan(number) else str(number)


def _unpacked(kind: type[Any], record: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(kind)}
    arrays = {"x", "y", "low", "high", "z"} if issubclass(kind, Mark) else set()
    return {
        name: _array(value) if name in arrays and isinstance(value, list) else _plain(value)
        for name, value in record.items()
        if name in names
    }


def _array(value: list[Any]) -> np.ndarray:
    return np.array(value, dtype=np.float64)  # null is NaN, and "inf" is infinite


def _plain(value: Any) -> Any:
    return Shade(value["shade"]) if isinstance(value, dict) and "shade" in value else value
