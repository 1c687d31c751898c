"""A run at a prompt and in a notebook: what was run, what was found, and where to look next."""

from html import escape
from typing import TYPE_CHECKING

from tacit._notebook import few_lines
from tacit.claims._shown import claims_html, summary

if TYPE_CHECKING:
    from tacit.reproduction._reproduction import Reproduction


def reproduction_text(run: "Reproduction") -> str:
    """A run in a few lines."""
    sizes = ", ".join(f"{name} {size}" for name, size in run.dataset.sizes.items())
    return few_lines(
        _headline(run),
        [
            *([run.finding] if run.finding else []),
            summary(run.claims),
            _ends(run),
            f".dataset    {sizes}",
            ".claims     one by number or by name",
            ".figure()   to see, .figure().save(path) to keep",
            f"in {run.path}",
        ],
    )


def reproduction_html(run: "Reproduction") -> str:
    """A run as its figure above its claims."""
    from tacit.draw._shown import figure_html

    found = f"<p>{escape(run.finding)}</p>" if run.finding else ""
    return (
        f"<p><b>{escape(_headline(run))}</b><br>{escape(_ends(run))}</p>{found}"
        f"{figure_html(run.figure())}{claims_html(run.claims)}"
    )


def _headline(run: "Reproduction") -> str:
    return f"{run.experiment.id} at {run.preset}: {run.experiment.summary}"


def _ends(run: "Reproduction") -> str:
    counts = ", ".join(f"{count} {name}" for name, count in run.outcomes.items())
    return f"{sum(run.outcomes.values())} cells: {counts}; {run.seconds:.1f} s"
