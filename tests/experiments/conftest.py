"""What the tests of all experiments share."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def _in_short(compiled_in_short):
    """For every experiment."""
