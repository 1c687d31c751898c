"""A part of the page: a few sliders, and what answers them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from tacit.draw import Figure, KeyEntry, to_web
from tacit.explore._slider import Slider


@final
@dataclass(frozen=True)
class Answer:
    """What a section says to the values of its sliders.

    **Arguments:**

    - `words`: the finding, in a sentence or two with numbers.
    - `call`: the line of Python that gives the same numbers.
    - `figure`: the picture.
    - `more`: whether there is more to see when the same question is asked again.
    """

    words: str
    call: str
    figure: Figure
    more: bool = False

    def to_json(self) -> dict[str, Any]:
        """The answer as the page's script reads it."""
        panels, key = to_web(self.figure)
        shown = [
            {
                "letter": panel.letter,
                "title": panel.title,
                "note": panel.note,
                "alt": panel.alt,
                "plot": {"data": panel.plot["data"], "layout": panel.plot["layout"]},
                "key": [_entry(one) for one in panel.key],
            }
            for panel in panels
        ]
        words = {"words": self.words, "call": self.call, "more": self.more}
        return {**words, "panels": shown, "key": [_entry(one) for one in key]}


def _entry(entry: KeyEntry) -> dict[str, str]:
    return {"label": entry.label, "sample": entry.sample}


@final
@dataclass(frozen=True)
class Section:
    """A part of the page.

    **Arguments:**

    - `id`: its place in the page and in the address of its answers.
    - `title`, `words`: what it is about.
    - `sliders`: its parameters.
    - `answer`: takes the sliders' values by name.
    - `panels`: how many plots an answer has, so that the page can keep room for them.
    - `drag`: the sliders that a point dragged across the first plot moves, for x and y.
    - `waiting`: words until the first answer is there.
    """

    id: str
    title: str
    words: str
    sliders: tuple[Slider, ...]
    answer: Callable[..., Answer]
    panels: int = 2
    drag: tuple[str, str] | None = None
    waiting: str = "…"
