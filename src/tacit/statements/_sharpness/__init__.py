"""How sharp the checks are: which changes of their constants they notice.

`_numbers.py` says which numbers count, `_rewritten.py` makes a check whose numbers can be changed,
`_measure.py` changes them, and `_record.py` keeps what was found in `sharpness.json`.
"""

from tacit.statements._sharpness._measure import CHANGES, digest_of, measure_statement
from tacit.statements._sharpness._page import sharpness_page
from tacit.statements._sharpness._record import (
    RECORD,
    SHARP,
    Constant,
    Sharpness,
    measure_sharpness,
    read_record,
    record_text,
    sharpness_of,
    stale_statements,
)

__all__ = [
    "CHANGES",
    "RECORD",
    "SHARP",
    "Constant",
    "Sharpness",
    "digest_of",
    "measure_sharpness",
    "measure_statement",
    "read_record",
    "record_text",
    "sharpness_of",
    "sharpness_page",
    "stale_statements",
]
