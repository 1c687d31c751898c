"""What gradient descent does without being told.

tacit is a laboratory for the implicit bias of gradient descent in recurrent networks and matrix
factorisations. Importing it is quick: each part is imported when it is first used.

- `tacit.reproduce("lowdim/fig1a", width=[40, 100])` runs an experiment.
- `tacit.descend(model, problem, method, stop=...)` trains one model, or thousands at once.
- `tacit.models`, `tacit.problems`, `tacit.descent` and `tacit.measures` are the parts.
- `tacit.theory` predicts the same numbers without training.
- `tacit.verify("memoryless/lemma3.1")` checks the papers' statements on random instances.
- `tacit.DeepMatrixCompleter` fills the missing entries of a matrix of your own.
- `tacit.checkpoints` tells how low-rank a training's change was, and stores it small.
- `tacit.LinearSystemIdentifier` finds a linear system in measured inputs and outputs.
- `tacit.regime(layer, problem, rates=...)` says whether a state-space layer or a linear RNN will
  go on beyond its training length.
- `tacit.experiments` has what you need to write an experiment of your own, `tacit.reproduction`
  what finds and runs it.
"""

import importlib
from typing import TYPE_CHECKING, Any

from tacit._version import __version__

if TYPE_CHECKING:
    from tacit import (
        checkpoints,
        descent,
        draw,
        estimators,
        experiments,
        measures,
        models,
        problems,
        reproduction,
        statements,
        theory,
    )
    from tacit.descent import descend
    from tacit.estimators import DeepMatrixCompleter, LinearSystemIdentifier, regime
    from tacit.reproduction import reproduce
    from tacit.statements import verify

__all__ = [
    "DeepMatrixCompleter",
    "LinearSystemIdentifier",
    "__version__",
    "checkpoints",
    "descend",
    "descent",
    "draw",
    "estimators",
    "experiments",
    "measures",
    "models",
    "problems",
    "regime",
    "reproduce",
    "reproduction",
    "statements",
    "theory",
    "verify",
]

_DOORS = {
    "DeepMatrixCompleter": "tacit.estimators",
    "LinearSystemIdentifier": "tacit.estimators",
    "descend": "tacit.descent",
    "regime": "tacit.estimators",
    "reproduce": "tacit.reproduction",
    "verify": "tacit.statements",
}


def __getattr__(name: str) -> Any:
    if name in _DOORS:
        return getattr(importlib.import_module(_DOORS[name]), name)
    if name in __all__:
        return importlib.import_module(f"tacit.{name}")
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
