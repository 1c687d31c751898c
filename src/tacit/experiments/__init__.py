"""The door for authors of experiments, and what finds and runs them.

```python
from tacit.experiments import Batch, Claims, Experiment, Variable, fixed, swept
```

Importing this room imports neither JAX nor xarray nor a plotting library, so that `tacit list` and
`tacit --help` are quick; an experiment's own file imports what it computes with.
"""

from tacit.claims import Claims
from tacit.experiments._accelerator import accelerated
from tacit.experiments._catalogue import Entry
from tacit.experiments._declaration import planned
from tacit.experiments._errors import ReproductionError, UsageError
from tacit.experiments._experiment import OUTCOMES, Experiment
from tacit.experiments._parameter import Parameter, fixed, swept
from tacit.experiments._reference import load_reference, reference_path
from tacit.experiments._registry import experiment_ids, find_experiment, list_experiments
from tacit.experiments._reproduction import Reproduction
from tacit.experiments._rows import stacked
from tacit.experiments._run import last_result, reproduce, results_folder
from tacit.experiments._selection import at
from tacit.experiments._settings import parse_setting, parse_settings
from tacit.store import Variable
from tacit.sweep import Batch, Grid

__all__ = [
    "OUTCOMES",
    "Batch",
    "Claims",
    "Entry",
    "Experiment",
    "Grid",
    "Parameter",
    "Reproduction",
    "ReproductionError",
    "UsageError",
    "Variable",
    "accelerated",
    "at",
    "experiment_ids",
    "find_experiment",
    "fixed",
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
