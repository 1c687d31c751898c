"""Every promise in docs/guarantees.md names a test that is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_promise_has_its_test():
    page = (ROOT / "docs" / "guarantees.md").read_text()
    tables = re.findall(r"^\|.*shown by.*\n\|[-|]+\n((?:\|.*\n)+)", page, re.MULTILINE)
    rows = [row for table in tables for row in table.splitlines()]
    assert len(rows) >= 25
    for row in rows:
        found = re.search(r"`(tests/[\w/]+\.py)::(test_\w+)`", row)
        assert found is not None, row
        assert f"def {found[2]}(" in (ROOT / found[1]).read_text(), row
