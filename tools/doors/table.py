"""All recorded calls, and the public names that need none, with the reason."""

import calls_checkpoints
import calls_descent
import calls_estimators
import calls_measures
import calls_models
import calls_problems
import calls_results
import calls_theory

_ROOMS = (
    calls_checkpoints,
    calls_descent,
    calls_estimators,
    calls_models,
    calls_problems,
    calls_results,
    calls_theory,
)
CALLS = {name: made for room in (calls_measures, *_ROOMS) for name, made in room.CALLS.items()}
RECORDS = {name: why for room in _ROOMS for name, why in room.RECORDS.items()}
