"""A folder of results that was made up: claims, costs and figures, without a run."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.draw import Axis, Band, Figure, Heatmap, Line, Panel, VerticalRule, figure_to_dict
from tacit.reproduction import digest_of_text

CLAIM = {
    "name": "rank",
    "statement": "the rank stays at most r",
    "place": "Theorem 2.1",
    "measured": 0.93456,
    "low": 0.91,
    "high": 0.95,
    "relation": "<=",
    "bound": 1.5,
    "expected": "holds",
    "verdict": "holds",
    "because": "",
    "samples": 9,
    "satisfied": 9,
}


def usual_figure() -> Figure:
    """Lines that two panels share, a map, and a notice of what is undecided."""
    steps = np.arange(1.0, 6.0)
    lines = [
        Band(steps, 0.5 / steps, 2 / steps),
        Line(steps, 1 / steps, label="loss", hover=[f"seed {k}, converged" for k in range(5)]),
        VerticalRule(3, label="half way"),
    ]
    cells = Heatmap([0, 1], [0, 1], [[1, 2], [3, np.nan]], label="rank")
    x, y = Axis("step"), Axis("loss", scale="log")
    return Figure(
        "Longer training, later bend",
        [
            Panel("small start", x, y, lines),
            Panel("large start", x, y, lines),
            Panel("map", Axis("depth"), Axis("width"), [cells]),
        ],
        caption="Medians over five seeds.",
        notice="Undecided: rank",
        main=1,
    )


class Results:
    """A folder of results to which made-up experiments are added."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, experiment: str = "mine/fig1", *, drawn: Any = None, **changes: Any) -> Path:
        """Write what a run leaves; `drawn` is the record of its figure, None for a usual one."""
        claims = changes.pop("claims", [{}])
        record = {
            "experiment": experiment,
            "title": "effective rank against depth",
            "paper": "a paper",
            "figure": "Figure 1(a)",
            "preset": "quick",
            "claims": [{**CLAIM, **claim} for claim in claims],
            "outcomes": {"converged": 12, "stopped": 3},
            "parameters": {"depth": "2, 3"},
            "rounding": "x86_64",
            "remarks": [],
        } | changes
        folder = self.folder / experiment
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(record).encode()
        (folder / "claims.json").write_bytes(text)
        (folder / "run.json").write_text(json.dumps({"seconds": 12.34, "efforts": {}}))
        parameter = {"name": "depth", "value": "2, 3", "doc": "factors", "allowed": "an integer"}
        page = {
            "claims": digest_of_text(text),
            "finished": "2026-11-16T19:00:00+00:00",
            "command": f"tacit reproduce {experiment} --preset quick",
            "parameters": [parameter],
            "origin": {
                "commit": ["abc123"],
                "device": ["cpu: cpu"],
                "precision": ["float64"],
                "versions": {"tacit": "0.2.0", "jax": "0.10.2"},
                "seconds": 90.0,
            },
            "figure": figure_to_dict(usual_figure()) if drawn is None else drawn,
        }
        (folder / "page.json").write_text(json.dumps(page))
        return folder


@pytest.fixture(scope="session")
def make_results() -> type[Results]:
    """More folders of results, wherever one likes."""
    return Results


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(tmp_path / "results")


class Page(HTMLParser):
    """A page as a list of tags with their text, refusing what is not well formed."""

    VOID = frozenset({"meta", "img", "br", "link", "input", "hr"})

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[list[Any]] = []
        self.open: list[list[Any]] = []
        self.feed(path.read_text(encoding="utf-8"))
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append([tag, dict(attrs), ""])
        if tag not in self.VOID:
            self.open.append(self.tags[-1])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append([tag, dict(attrs), ""])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for tag in self.open:
            tag[2] += data

    def find(self, tag: str, look: str | None = None) -> list[list[Any]]:
        def fits(classes: str | None) -> bool:
            return look is None or look in (classes or "").split()

        return [t for t in self.tags if t[0] == tag and fits(t[1].get("class"))]

    def texts(self, tag: str, look: str | None = None) -> list[str]:
        return [" ".join(found[2].split()) for found in self.find(tag, look)]


@pytest.fixture
def read() -> type[Page]:
    """A page of a report as its tags."""
    return Page
