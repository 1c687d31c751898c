"""The report: one plain page that shows every claim and every figure of a folder of results."""

from tacit.site._entries import read_entries
from tacit.site._index import write_index

__all__ = ["read_entries", "write_index"]
