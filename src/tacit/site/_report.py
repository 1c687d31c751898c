"""The report: a folder of pages that needs nothing else, made of a folder of results."""

import json
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from tacit._files import FileKindError, WriteError, folder_within, write_atomically
from tacit._version import __version__
from tacit.draw import THUMBNAIL
from tacit.reproduction import PAGE_FILE, digest_of_text, experiment_ids
from tacit.site._card import Card
from tacit.site._claims import KINDS, counts, standing, views
from tacit.site._comparison import compared
from tacit.site._entries import Entry, OnSkip, _warn, read_entries
from tacit.site._figures import (
    make_thumbnail,
    plotly_script,
    shown_figure,
    size_of_svg,
    thumbnail_name,
    write_if_changed,
)
from tacit.site._statements import StatementView, errata_facts, statement_views, tested_by

PAGES = "report"
"""The folder with everything but the front page."""

_ASSETS = ("style.css", "report.js")
_KINDS_OF_FILES = (".html", ".js", ".png", ".svg", ".css")


def write_report(
    results: Path,
    *,
    into: Path | None = None,
    against: Path | None = None,
    only: str | None = None,
    on_skip: OnSkip = _warn,
) -> Path:
    """Write the pages of a folder of results, and return the path of the front page.

    It is `index.html`, with all else in the folder `report` beside it: pages, plots, pictures,
    Plotly's script. Nothing is fetched from anywhere. Every file is replaced whole.

    **Arguments:**

    - `results`: the folder of results.
    - `into`: the folder to write to; the results' own by default.
    - `against`: another folder of results, to be compared with this one.
    - `only`: an experiment whose page is to be made anew beside the front page and the table of
      claims, because nothing else has changed.
    - `on_skip`: told the path of a file that is left out, and the reason.
    """
    entries = [
        _with_page(entry, results) if only in (None, entry.id) else entry
        for entry in read_entries(results, on_skip=on_skip)
    ]
    return _Builder(results, into or results, entries, on_skip).write(against=against, only=only)


class _Builder:
    def __init__(
        self, results: Path, root: Path, entries: Sequence[Entry], on_skip: OnSkip
    ) -> None:
        self.results, self.root, self.on_skip = results, root, on_skip
        stands = standing(entries)
        self.cards = [Card(entry, views(entry, stands[entry.slug])) for entry in entries]
        self.stands = [stand for found in stands.values() for stand in found]
        self.pages = folder_within(root, PAGES)
        self.kept: set[Path] = set()
        self.templates = _templates()

    def write(self, *, against: Path | None, only: str | None) -> Path:
        for name in ("", "figures", "thumbnails"):
            folder_within(self.pages, name).mkdir(parents=True, exist_ok=True)
        for name in _ASSETS:
            self._put(name, site_asset(name))
        plotly = plotly_script()
        if plotly is not None:
            self._put("plotly.min.js", plotly)
        papers = sorted({card.entry.group for card in self.cards})
        # While a long run goes on, only what it has changed is made anew.
        fresh = [card for card in self.cards if only is None or card.entry.id == only]
        statements = statement_views(papers, self.results) if only is None else []
        for card in self.cards:
            self._draw(card, interactive=plotly is not None, anew=card in fresh)
            same = [one for one in statements if one.paper == card.entry.group]
            card.tests = tested_by(card.claims, same)
        compared_to = None if against is None else compared(self.cards, against, self.on_skip)
        common = {
            "papers": papers,
            "has_statements": bool(statements) or self._there("statements.html", only),
            "has_comparison": compared_to is not None or self._there("compare.html", only),
            "kinds": KINDS,
            "version": __version__,
            "thumbnail": THUMBNAIL,
        }
        for rank, card in enumerate(self.cards):
            if card in fresh:
                near = {
                    "before": self.cards[rank - 1] if rank else None,
                    "after": self.cards[rank + 1] if rank + 1 < len(self.cards) else None,
                }
                name = f"{card.entry.slug}.html"
                self._page(name, "experiment.html", card=card, **near, **common)
        self._page("claims.html", "claims.html", cards=self.cards, family=self._family(), **common)
        if statements:
            grouped = {p: [s for s in statements if s.paper == p] for p in _ordered(statements)}
            self._page("statements.html", "statements.html", grouped=grouped, **common)
            facts = errata_facts(grouped)
            self._page("errata.html", "errata.html", grouped=grouped, **facts, **common)
        if compared_to is not None:
            self._page("compare.html", "compare.html", compared=compared_to, **common)
        if only is None:
            self._remove_others()
        totals = counts(claim for card in self.cards for claim in card.claims)
        front = self.templates.get_template("index.html")
        text = front.render(cards=self.cards, totals=totals, up="", pages=f"{PAGES}/", **common)
        write_if_changed(self.root / "index.html", text.encode())
        return self.root / "index.html"

    def _draw(self, card: Card, *, interactive: bool, anew: bool) -> None:
        """Plots and picture of an experiment; the figure's own file where there is no more."""
        picture = self.pages / "thumbnails" / thumbnail_name(card.entry)
        if not anew and picture.is_file():
            card.picture = picture.name
            return
        record = card.entry.page.get("figure")
        try:
            card.shown = shown_figure(record) if record else None
            if card.shown is not None:
                self.kept.add(picture)
                make_thumbnail(card.shown, picture)
                card.picture = picture.name
        except WriteError:
            raise
        except Exception as error:  # received from elsewhere, perhaps: the others go on
            self.on_skip(card.entry.folder / PAGE_FILE, f"its figure cannot be drawn: {error}")
            card.shown = None
        if card.shown is not None and interactive:
            self._put(f"figures/{card.entry.slug}.js", card.shown.script.encode())
        drawn = card.entry.folder / "figure.svg"
        if (card.shown is None or not interactive) and drawn.is_file() and not drawn.is_symlink():
            data = drawn.read_bytes()
            self._put(f"figures/{card.entry.slug}.svg", data)
            card.static = size_of_svg(data)

    def _there(self, name: str, only: str | None) -> bool:
        """Whether a page of an earlier report is still there, and will be."""
        return only is not None and (self.pages / name).is_file()

    def _page(self, name: str, template: str, **values: Any) -> None:
        text = self.templates.get_template(template).render(up="../", pages="", **values)
        self._put(name, text.encode())

    def _put(self, name: str, data: bytes) -> None:
        path = self.pages / name
        self.kept.add(path)
        write_if_changed(path, data)

    def _remove_others(self) -> None:
        """Pages of experiments that are no longer there, in the folder that is only ours."""
        for folder in (self.pages, self.pages / "figures", self.pages / "thumbnails"):
            for path in folder.iterdir():
                if path.suffix in _KINDS_OF_FILES and path not in self.kept:
                    path.unlink()

    def _family(self) -> tuple[int, int]:
        """How many claims are decided, and how many of them stand as part of the whole set."""
        decided = [stand for stand in self.stands if stand is not None]
        return len(decided), sum(decided)


def _with_page(entry: Entry, results: Path) -> Entry:
    """The entry with what its page shows, made of the store where a run has not written it.

    Only of experiments that tacit knows by their names: a record that was received must not choose
    which file is run. And only if the store gives the run that the claims are of.
    """
    if entry.page or entry.id not in experiment_ids() or entry.folder != results / entry.id:
        return entry
    try:
        from tacit.reproduction import in_words, page_record, stored_run
        from tacit.store import Store

        made = stored_run(entry.id, results=results)
        if in_words(made.experiment) != entry.claims.get("parameters"):
            return entry
        page = page_record(made, Store.existing(made.path / "store", read_only=True))
        page = {**page, "claims": entry.digest, "finished": None}
        text = f"{json.dumps(page, allow_nan=False, ensure_ascii=False)}\n".encode()
    except Exception:  # a store of other code, a file that is not here: the claims are enough
        return entry
    try:
        folder_within(results, entry.id)
        write_atomically(entry.folder / PAGE_FILE, text)
    except (OSError, FileKindError):
        pass  # the results are somebody else's
    return replace(entry, page=page, page_digest=digest_of_text(text))


def site_asset(name: str) -> bytes:
    """A file that all pages share: the style or the script."""
    return (resources.files("tacit.site") / "assets" / name).read_bytes()


def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("tacit.site", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _ordered(statements: Sequence[StatementView]) -> list[str]:
    return list(dict.fromkeys(one.paper for one in statements))
