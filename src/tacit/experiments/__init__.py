"""The door for authors of experiments, and what finds and runs them.

```python
from tacit.experiments import Batch, Claims, Experiment, Variable, fixed, swept
```

Each name is imported when it is first used, so that `tacit list` imports none of what experiments
compute with; an experiment's own file imports what it needs.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.claims import Claims
    from tacit.experiments._accelerator import accelerated
    from tacit.experiments._catalogue import Entry
    from tacit.experiments._comparison import Comparison
    from tacit.experiments._declaration import planned
    from tacit.experiments._errors import ReproductionError, UsageError
    from tacit.experiments._experiment import OUTCOMES, Experiment
    from tacit.experiments._listing import (
        experiment_ids,
        last_result,
        list_experiments,
        results_folder,
    )
    from tacit.experiments._more_seeds import TOO_MANY_SEEDS, Effort
    from tacit.experiments._parameter import Parameter, fixed, swept
    from tacit.experiments._reference import (
        Reference,
        in_words,
        load_reference,
        reference_path,
    )
    from tacit.experiments._registry import find_experiment
    from tacit.experiments._reproduction import Reproduction
    from tacit.experiments._rows import stacked
    from tacit.experiments._run import reproduce
    from tacit.experiments._selection import at
    from tacit.experiments._settings import parse_setting, parse_settings
    from tacit.store import Variable
    from tacit.sweep import Batch, Grid

__all__ = [
    "OUTCOMES",
    "TOO_MANY_SEEDS",
    "Batch",
    "Claims",
    "Comparison",
    "Effort",
    "Entry",
    "Experiment",
    "Grid",
    "Parameter",
    "Reference",
    "Reproduction",
    "ReproductionError",
    "UsageError",
    "Variable",
    "accelerated",
    "at",
    "experiment_ids",
    "find_experiment",
    "fixed",
    "in_words",
    "last_result",
    "list_experiments",
    "load_reference",
    "parse_setting",
    "parse_settings",
    "planned",
    "reference_path",
    "reproduce",
    "results_folder",
    "stacked",
    "swept",
]

_ROOMS = {
    "tacit.claims": ("Claims",),
    "tacit.experiments._accelerator": ("accelerated",),
    "tacit.experiments._catalogue": ("Entry",),
    "tacit.experiments._comparison": ("Comparison",),
    "tacit.experiments._declaration": ("planned",),
    "tacit.experiments._errors": ("ReproductionError", "UsageError"),
    "tacit.experiments._experiment": ("OUTCOMES", "Experiment"),
    "tacit.experiments._listing": (
        "experiment_ids",
        "list_experiments",
        "last_result",
        "results_folder",
    ),
    "tacit.experiments._more_seeds": ("TOO_MANY_SEEDS", "Effort"),
    "tacit.experiments._parameter": ("Parameter", "fixed", "swept"),
    "tacit.experiments._reference": (
        "Reference",
        "in_words",
        "load_reference",
        "reference_path",
    ),
    "tacit.experiments._registry": ("find_experiment",),
    "tacit.experiments._reproduction": ("Reproduction",),
    "tacit.experiments._rows": ("stacked",),
    "tacit.experiments._run": ("reproduce",),
    "tacit.experiments._selection": ("at",),
    "tacit.experiments._settings": ("parse_setting", "parse_settings"),
    "tacit.store": ("Variable",),
    "tacit.sweep": ("Batch", "Grid"),
}
_PLACES = {name: place for place, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
