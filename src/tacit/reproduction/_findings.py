"""What was found, from the committed runs: the page of findings."""

from typing import NamedTuple

from tacit.experiments import Experiment
from tacit.reproduction._listing import BUILT_IN
from tacit.reproduction._reference import load_reference
from tacit.reproduction._registry import find_experiment

_PRESETS = ("paper", "gpu", "quick")  # the largest run that was committed says it

_HEAD = """# Findings

What each experiment found. Every number comes from a committed run, at the preset in brackets; a
sentence that the run does not support is not printed. `tacit reproduce ID` says the same of a run
of your own.
"""


class Found(NamedTuple):
    """What a committed run of an experiment found, and at which preset."""

    preset: str
    words: str


def found_by(kind: type[Experiment]) -> Found | None:
    """The finding of an experiment, of the largest run that is committed; None if there is none."""
    if kind.finding is None:
        return None
    for preset in _PRESETS:
        reference = load_reference(kind, preset) if preset in kind.presets else None
        if reference is not None:
            return Found(preset, kind.finding.of(reference.claims))
    return None


def findings_page() -> str:
    """`docs/findings.md`: the findings of all experiments of tacit's own, by paper."""
    lines, group = [_HEAD], ""
    for entry in BUILT_IN.values():
        kind = find_experiment(entry.id)
        found = found_by(kind)
        if found is None:
            continue
        if entry.group != group:
            group = entry.group
            lines.append(f"\n## {group}\n")
        lines.append(f"- **{kind.id}** ({kind.figure}): {found.words} [{found.preset}]")
    return "\n".join(lines) + "\n"
