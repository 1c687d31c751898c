"""What finds, runs, decides and compares experiments.

`tacit.reproduce("lowdim/fig1a")` is its main door. Each name is imported when it is first used, so
that `tacit list` imports none of what runs need.
"""

import importlib
from typing import TYPE_CHECKING, Any

from tacit._signatures import with_readable_signatures

if TYPE_CHECKING:
    from tacit.reproduction._catalogue import Entry
    from tacit.reproduction._cell import free_programs
    from tacit.reproduction._changed_code import words_on_changes
    from tacit.reproduction._comparison import Comparison
    from tacit.reproduction._declaration import check_experiment, planned
    from tacit.reproduction._findings import Found, findings_page, found_by
    from tacit.reproduction._fingerprint import fingerprint
    from tacit.reproduction._listing import (
        PAGE_FILE,
        digest_of_text,
        expected_minutes,
        experiment_ids,
        last_result,
        list_experiments,
        results_folder,
    )
    from tacit.reproduction._missing import words_on_missing
    from tacit.reproduction._more_seeds import TOO_MANY_SEEDS, Effort
    from tacit.reproduction._page_record import page_record
    from tacit.reproduction._reference import (
        Reference,
        in_words,
        load_reference,
        reference_path,
    )
    from tacit.reproduction._registry import find_experiment, place_in_own_file
    from tacit.reproduction._reproduction import Reproduction
    from tacit.reproduction._run import ReproductionError, reproduce, stored_run
    from tacit.reproduction._settings import parse_seeds, parse_setting, parse_settings

__all__ = [
    "PAGE_FILE",
    "TOO_MANY_SEEDS",
    "Comparison",
    "Effort",
    "Entry",
    "Found",
    "Reference",
    "Reproduction",
    "ReproductionError",
    "check_experiment",
    "digest_of_text",
    "expected_minutes",
    "experiment_ids",
    "find_experiment",
    "findings_page",
    "fingerprint",
    "found_by",
    "free_programs",
    "in_words",
    "last_result",
    "list_experiments",
    "load_reference",
    "page_record",
    "parse_seeds",
    "parse_setting",
    "parse_settings",
    "place_in_own_file",
    "planned",
    "reference_path",
    "reproduce",
    "results_folder",
    "stored_run",
    "words_on_changes",
    "words_on_missing",
]

_FILES = {
    "_catalogue": ("Entry",),
    "_cell": ("free_programs",),
    "_changed_code": ("words_on_changes",),
    "_comparison": ("Comparison",),
    "_declaration": ("check_experiment", "planned"),
    "_findings": ("Found", "findings_page", "found_by"),
    "_fingerprint": ("fingerprint",),
    "_listing": (
        "PAGE_FILE",
        "digest_of_text",
        "expected_minutes",
        "experiment_ids",
        "last_result",
        "list_experiments",
        "results_folder",
    ),
    "_missing": ("words_on_missing",),
    "_more_seeds": ("TOO_MANY_SEEDS", "Effort"),
    "_page_record": ("page_record",),
    "_reference": ("Reference", "in_words", "load_reference", "reference_path"),
    "_registry": ("find_experiment", "place_in_own_file"),
    "_reproduction": ("Reproduction",),
    "_run": ("ReproductionError", "reproduce", "stored_run"),
    "_settings": ("parse_seeds", "parse_setting", "parse_settings"),
}
_PLACES = {name: file for file, names in _FILES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = value
    with_readable_signatures(globals(), (name,))
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
