"""The command line: it parses, calls and exits."""

from tacit.cli._app import main

__all__ = ["main"]
