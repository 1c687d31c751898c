"""The papers' theorems, propositions and lemmas as checks that run.

Each paper is a package, each topic of a paper a file, each statement a function. Files whose names
begin with `_shared` hold what several statements use. Importing this room imports no paper: a paper
is loaded when one of its statements is asked for.
"""

from tacit._errors import UsageError
from tacit._signatures import with_readable_signatures
from tacit.statements._errata import errata_page
from tacit.statements._erratum import EDITIONS, GRAVITIES, Erratum
from tacit.statements._instance import Instance, draw_instance, read_instance
from tacit.statements._registry import find_statements, paper_names, statement_ids
from tacit.statements._shared_numbers import complex_step, residual, slack
from tacit.statements._sharpness import (
    Constant,
    Sharpness,
    measure_sharpness,
    read_record,
    record_text,
    sharpness_of,
    sharpness_page,
)
from tacit.statements._statement import Statement, StatementError, statement
from tacit.statements._trial import Trial, margin_of, try_statement
from tacit.statements._verify import Verification, Verified, replay, try_printed, verify

__all__ = [
    "EDITIONS",
    "GRAVITIES",
    "Constant",
    "Erratum",
    "Instance",
    "Sharpness",
    "Statement",
    "StatementError",
    "Trial",
    "UsageError",
    "Verification",
    "Verified",
    "complex_step",
    "draw_instance",
    "errata_page",
    "find_statements",
    "margin_of",
    "measure_sharpness",
    "paper_names",
    "read_instance",
    "read_record",
    "record_text",
    "replay",
    "residual",
    "sharpness_of",
    "sharpness_page",
    "slack",
    "statement",
    "statement_ids",
    "try_printed",
    "try_statement",
    "verify",
]

with_readable_signatures(globals(), __all__)
