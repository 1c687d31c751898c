"""Recorded calls of the tools for people's own data."""

import numpy as np
from recorded import Fresh, call

from tacit.estimators import DeepMatrixCompleter

_GAPPED = np.outer([1.0, 2.0, -1.0, 3.0], [2.0, 1.0, -1.0])
_QUICK = {"depth": 2, "weight_decay": 0.1, "centre": False, "max_steps": 5}


def _fitted() -> DeepMatrixCompleter:
    return DeepMatrixCompleter(**_QUICK).fit(_GAPPED)


CALLS = {
    "DeepMatrixCompleter.fit": call(
        "", {"X": "nan"}, "", self=Fresh(lambda: DeepMatrixCompleter(**_QUICK)), X=_GAPPED
    ),
    "DeepMatrixCompleter.transform": call("", {"X": "nan"}, "", self=Fresh(_fitted), X=_GAPPED),
    "DeepMatrixCompleter.predict": call(self=Fresh(_fitted), pairs=np.array([[0, 1], [2, 2]])),
}
RECORDS = {
    "DeepMatrixCompleter": "keeps its parameters as they are, as scikit-learn asks; fit checks",
}
