"""The door for authors of experiments: what one is, and what it is written with.

```python
from tacit.experiments import Batch, Claims, Experiment, Variable, fixed, swept
```

`tacit.reproduction` finds and runs them.
"""

from tacit._errors import UsageError
from tacit._signatures import with_readable_signatures
from tacit.claims import Claims, Finding
from tacit.experiments._accelerator import accelerated
from tacit.experiments._experiment import Experiment
from tacit.experiments._parameter import Parameter, fixed, swept
from tacit.experiments._rows import stacked
from tacit.experiments._selection import at
from tacit.store import OUTCOMES, Variable
from tacit.sweep import Batch, Grid

__all__ = [
    "OUTCOMES",
    "Batch",
    "Claims",
    "Experiment",
    "Finding",
    "Grid",
    "Parameter",
    "UsageError",
    "Variable",
    "accelerated",
    "at",
    "fixed",
    "stacked",
    "swept",
]

with_readable_signatures(globals(), __all__)
