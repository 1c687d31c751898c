"""Experiments: what they are made of, where they are found, how they are run.

Importing this room imports neither JAX nor xarray nor a plotting library, so that listing
experiments is quick; an experiment imports what it computes with inside `cell`.
"""

from tacit.experiments._base import OUTCOME, OUTCOMES, Experiment
from tacit.experiments._config import Config
from tacit.experiments._errors import ReproductionError, UsageError
from tacit.experiments._parameter import Parameter, parameter
from tacit.experiments._reference import load_reference, reference_path
from tacit.experiments._registry import experiment_ids, find_experiment, list_experiments
from tacit.experiments._reproduction import Reproduction
from tacit.experiments._run import (
    configured,
    last_result,
    planned,
    reproduce,
    results_folder,
)
from tacit.experiments._settings import parse_setting, parse_settings
from tacit.store import Variable
from tacit.sweep import Batch

__all__ = [
    "OUTCOME",
    "OUTCOMES",
    "Batch",
    "Config",
    "Experiment",
    "Parameter",
    "Reproduction",
    "ReproductionError",
    "UsageError",
    "Variable",
    "configured",
    "experiment_ids",
    "find_experiment",
    "last_result",
    "list_experiments",
    "load_reference",
    "parameter",
    "parse_setting",
    "parse_settings",
    "planned",
    "reference_path",
    "reproduce",
    "results_folder",
]
