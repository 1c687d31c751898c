"""Public names that have no recorded call yet: none. One that gets a call leaves this list."""

PENDING: set[str] = set()
