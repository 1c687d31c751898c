"""Stored results: one immutable file per batch, cells addressed by content, xarray to read."""

from tacit._files import WriteError, write_atomically
from tacit.store._check import Finding, Leftover, findings, leftovers
from tacit.store._errors import StoreError
from tacit.store._failures import FailedCells
from tacit.store._key import canonical, cell_key
from tacit.store._manifest import stores_in
from tacit.store._names import MOST_CELLS, OUTCOMES, PRESENT, is_id
from tacit.store._plan import Plan
from tacit.store._provenance import UNKNOWN_ROUNDING, device, precision, provenance, rounding
from tacit.store._reservation import Lock
from tacit.store._status import FailedCell, Status
from tacit.store._store import Store
from tacit.store._variable import Variable, checked_arrays

__all__ = [
    "MOST_CELLS",
    "OUTCOMES",
    "PRESENT",
    "UNKNOWN_ROUNDING",
    "FailedCell",
    "FailedCells",
    "Finding",
    "Leftover",
    "Lock",
    "Plan",
    "Status",
    "Store",
    "StoreError",
    "Variable",
    "WriteError",
    "canonical",
    "cell_key",
    "checked_arrays",
    "device",
    "findings",
    "is_id",
    "leftovers",
    "precision",
    "provenance",
    "rounding",
    "stores_in",
    "write_atomically",
]
