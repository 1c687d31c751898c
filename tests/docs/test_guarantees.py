"""Every promise in docs/guarantees.md names a test that is there, and that was seen to fail."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guarantees.md").read_text()

# Promises without a mutation of their own, and why.
WITHOUT_MUTATION = {
    # What counts as other code is tried by the mutations of whole files of tests.
    "tests/reproduction/test_fingerprint.py": "the list names the file",
    "tests/reproduction/test_fingerprint_values.py": "the list names the file",
    "tests/reproduction/test_plugin_workers.py": "the list names the file",
    "tests/reproduction/test_ways_to_change.py": "the list names a way each",
    "tests/reproduction/test_ordinary_files.py": "the list names a file each",
    "tests/reproduction/test_cell_versions.py": "the list names the file",
    "tests/descent/test_owner.py": "the list names a part of it each",
    "tests/descent/test_ways_to_change_a_loss.py": "the list names the file",
}


def rows():
    tables = re.findall(r"^\|.*shown by.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return [row for table in tables for row in table.splitlines()]


def named(row):
    found = re.search(r"`(tests/[\w/]+\.py)::(test_\w+)`", row)
    assert found is not None, row
    return found[1], found[2]


def test_each_promise_has_its_test():
    assert len(rows()) >= 25
    for row in rows():
        file, test = named(row)
        assert f"def {test}(" in (ROOT / file).read_text(), row


@pytest.fixture
def mutations(monkeypatch):
    """The lists of `tools/mutations`, which stand on no path but their own."""
    monkeypatch.syspath_prepend(ROOT / "tools" / "mutations")
    before = set(sys.modules)
    import table

    yield table
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_each_promise_has_a_mutation_that_its_test_alone_must_notice(mutations):
    """`python tools/mutations` breaks the promise and runs this one test."""
    tried = {mutation.tests for mutation in mutations.MUTATIONS if not mutation.equivalent}
    lacking = []
    for row in rows():
        file, test = named(row)
        if not {f"{file}::{test}", file} & set(WITHOUT_MUTATION) and f"{file}::{test}" not in tried:
            lacking.append(f"{file}::{test}")
    assert lacking == []


def test_the_page_tells_how_many_mutations_each_room_has(mutations):
    told = {room: int(count) for room, count in re.findall(r"^\| ([\w ]+) \| (\d+) \|", PAGE, re.M)}
    found = {**mutations.BY_ROOM, "all": len(mutations.MUTATIONS)}
    assert {room: told.get(room) for room in found} == found, "run: python tools/mutations --check"
