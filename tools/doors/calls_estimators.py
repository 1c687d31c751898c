"""Recorded calls of the tools for people's own data."""

import numpy as np
from calls_models import LAYER, LINEAR
from recorded import Fresh, call

from tacit.estimators import DeepMatrixCompleter, LinearSystemIdentifier
from tacit.problems import PopulationLoss

_GAPPED = np.outer([1.0, 2.0, -1.0, 3.0], [2.0, 1.0, -1.0])
_DRIVE = np.sin(np.arange(30.0) ** 1.5)[:, None]
_ANSWER = 0.5 * _DRIVE[:, 0] + 0.2 * np.roll(_DRIVE[:, 0], 1)
_QUICK = {"depth": 2, "weight_decay": 0.1, "centre": False, "max_steps": 5}


def _fitted() -> DeepMatrixCompleter:
    return DeepMatrixCompleter(**_QUICK).fit(_GAPPED)


def _identifier() -> LinearSystemIdentifier:
    return LinearSystemIdentifier(order=1, width=0)


def _identified() -> LinearSystemIdentifier:
    return _identifier().fit(_DRIVE, _ANSWER)


CALLS = {
    "DeepMatrixCompleter.fit": call(
        "", {"X": "nan"}, "", self=Fresh(lambda: DeepMatrixCompleter(**_QUICK)), X=_GAPPED
    ),
    "DeepMatrixCompleter.transform": call("", {"X": "nan"}, "", self=Fresh(_fitted), X=_GAPPED),
    "DeepMatrixCompleter.predict": call(self=Fresh(_fitted), pairs=np.array([[0, 1], [2, 2]])),
    "LinearSystemIdentifier.fit": call(self=Fresh(_identifier), X=_DRIVE, y=_ANSWER),
    "LinearSystemIdentifier.fit_response": call(
        self=Fresh(_identifier), response=0.5 ** np.arange(12.0)
    ),
    "LinearSystemIdentifier.predict": call(self=Fresh(_identified), X=_DRIVE, state=np.ones(1)),
    "regime": call(
        model=LAYER,
        problem=PopulationLoss.of(LINEAR, 3, longest=5),
        rates={"A": 0.1, "B": 1.0, "C": 1.0},
        start=LAYER,
    ),
    "LinearSystemIdentifier.compare": call(self=Fresh(_identified), held_out=0.3),
}
RECORDS = {
    "DeepMatrixCompleter": "keeps its parameters as they are, as scikit-learn asks; fit checks",
    "LinearSystemIdentifier": "keeps its parameters as they are, as scikit-learn asks; fit checks",
}
