"""An experiment as the templates of the pages see it: everything in texts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tacit.site._claims import ClaimView, counts, duration, words
from tacit.site._entries import Entry
from tacit.site._figures import Shown
from tacit.site._statements import StatementView


@dataclass
class Card:
    """An experiment as the templates see it."""

    entry: Entry
    claims: list[ClaimView]
    shown: Shown | None = None
    picture: str | None = None
    static: tuple[int, int] | None = None  # the size of the figure's own file, if it is shown
    tests: list[StatementView] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """How many claims are of which kind."""
        return counts(self.claims)

    @property
    def states(self) -> str:
        """The kinds of answers there are, for the filters."""
        return " ".join(kind for kind, count in self.counts.items() if count)

    @property
    def time(self) -> str:
        """How long it took."""
        return duration(self.entry.seconds)

    def text(self, name: str) -> str:
        """A field of its claims' record, as text."""
        return words(self.entry.claims.get(name), "")

    @property
    def remarks(self) -> list[str]:
        """What the run said of other values than the preset's."""
        found = self.entry.claims.get("remarks")
        return [str(one) for one in found] if isinstance(found, list) else []

    @property
    def outcomes(self) -> str:
        """How its cells ended."""
        found = self.entry.claims.get("outcomes")
        pairs = found.items() if isinstance(found, Mapping) else ()
        return ", ".join(f"{count} {name}" for name, count in pairs)

    @property
    def parameters(self) -> list[dict[str, str]]:
        """Each parameter with what is known of it."""
        listed = self.entry.page.get("parameters")
        if isinstance(listed, list) and all(isinstance(one, dict) for one in listed):
            names = ("name", "value", "doc", "allowed")
            return [{name: words(one.get(name), "") for name in names} for one in listed]
        found = self.entry.claims.get("parameters")
        pairs = found.items() if isinstance(found, Mapping) else ()
        return [{"name": str(k), "value": words(v), "doc": "", "allowed": ""} for k, v in pairs]

    @property
    def command(self) -> str:
        """What runs it again."""
        return words(self.entry.page.get("command"), f"tacit reproduce {self.entry.id}")

    @property
    def origin(self) -> list[tuple[str, str]]:
        """Where its numbers come from, in pairs of words."""
        found = self.entry.page.get("origin")
        origin = found if isinstance(found, Mapping) else {}
        versions = origin.get("versions")
        pairs = versions.items() if isinstance(versions, Mapping) else ()
        said = [(name, _joined(origin.get(name))) for name in ("commit", "device", "precision")]
        said.append(("versions", ", ".join(f"{name} {version}" for name, version in pairs)))
        said.append(("rounding", self.text("rounding")))
        return [(name, text) for name, text in said if text]


def _joined(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else words(value, "")
