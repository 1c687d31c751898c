"""The command line: it parses, calls and exits."""

from tacit.cli._app import main, run

__all__ = ["main", "run"]
