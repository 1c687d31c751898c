"""The papers' theorems, propositions and lemmas as things that run.

One public file a paper, one function a statement. Importing this room imports no paper: they are
loaded when one of their statements is asked for.
"""

from tacit._errors import UsageError
from tacit.statements._errata import errata_page
from tacit.statements._instance import Instance, read_instance
from tacit.statements._registry import find_statements, paper_names, statement_ids
from tacit.statements._statement import Erratum, Statement, StatementError, statement
from tacit.statements._trial import Trial, try_statement
from tacit.statements._verify import Verification, Verified, replay, verify

__all__ = [
    "Erratum",
    "Instance",
    "Statement",
    "StatementError",
    "Trial",
    "UsageError",
    "Verification",
    "Verified",
    "errata_page",
    "find_statements",
    "paper_names",
    "read_instance",
    "replay",
    "statement",
    "statement_ids",
    "try_statement",
    "verify",
]
