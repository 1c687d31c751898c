"""The report: pages that show every figure and every claim of a folder of results."""

from tacit.site._entries import Entry, read_entries
from tacit.site._figures import plotly_script
from tacit.site._report import site_asset, write_report
from tacit.site._statements import MARGINS, read_margins

__all__ = [
    "MARGINS",
    "Entry",
    "plotly_script",
    "read_entries",
    "read_margins",
    "site_asset",
    "write_report",
]
