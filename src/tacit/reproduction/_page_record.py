"""What a page on a run shows beside its claims: the figure, the parameters, where it came from."""

import datetime
import json
import shlex
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.claims import SEED
from tacit.experiments import Experiment
from tacit.reproduction._listing import digest_of_text
from tacit.reproduction._reference import in_words
from tacit.reproduction._reproduction import Reproduction
from tacit.store import Store

_DEFAULT = "quick"


def claims_text(made: Reproduction) -> str:
    """The contents of `claims.json`."""
    return json.dumps(made.record(), indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def page_record(made: Reproduction, store: Store) -> dict[str, Any]:
    """The contents of `page.json`, in JSON's types."""
    from tacit.draw import figure_to_dict

    return {
        "claims": digest_of_text(claims_text(made).encode()),
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": command_of(made.experiment, made.preset),
        "parameters": _parameters(made.experiment),
        "origin": origin_of(store),
        "figure": figure_to_dict(made.figure()),
    }


def command_of(experiment: Experiment, preset: str) -> str:
    """The command that runs an experiment with these parameters again."""
    kind = type(experiment)
    known = preset if preset in kind.presets else _DEFAULT
    usual = kind.from_preset(known) if known in kind.presets else kind()
    # Of an experiment in a file the file's name will do: the folder is the user's own affair.
    by_file = kind.source is not None and kind.source != kind.id
    words = ["tacit", "reproduce", Path(str(kind.source)).name if by_file else kind.id]
    words += ["--preset", known] if known in kind.presets else []
    for name in kind.parameters():
        value = getattr(experiment, name)
        if value != getattr(usual, name):
            option = ["--seeds", _span(value)] if name == SEED and ".." in _span(value) else None
            words += option or ["--set", f"{name}={_span(value)}"]
    return shlex.join(words)


def origin_of(store: Store) -> dict[str, Any]:
    """Where the stored cells came from: commits, versions, devices, and the seconds they took."""
    counts: dict[str, Counter[str]] = {
        name: Counter() for name in ("commit", "device", "precision")
    }
    versions: Mapping[str, Any] = {}
    seconds = 0.0
    for part in store.parts():
        origin = store.provenance(part)
        for name, counter in counts.items():
            counter[str(origin.get(name) or "unknown")] += 1
        found = origin.get("versions")
        versions = found if isinstance(found, Mapping) else versions
        seconds += float(origin.get("seconds") or 0.0)
    return {
        **{name: [word for word, _ in counter.most_common()] for name, counter in counts.items()},
        "versions": {str(name): str(version) for name, version in versions.items()},
        "seconds": round(seconds, 3),
    }


def _parameters(experiment: Experiment) -> list[dict[str, str]]:
    """Each parameter with its value, what it is, and what it may be."""
    words = in_words(experiment)
    return [
        {"name": name, "value": words[name], "doc": spec.doc, "allowed": spec.allowed}
        for name, spec in type(experiment).parameters().items()
    ]


def _span(value: Any) -> str:
    """Values as `--set` takes them: `0..9` where integers follow one another."""
    if not isinstance(value, tuple):
        return str(value)
    whole = all(type(item) is int for item in value)
    if whole and len(value) > 2 and value == tuple(range(value[0], value[-1] + 1)):
        return f"{value[0]}..{value[-1]}"
    return ",".join(map(str, value))
