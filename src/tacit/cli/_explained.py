"""The one place where errors become sentences and exit codes."""

import errno
from typing import NamedTuple

NOT_AS_EXPECTED, WRONG_USE, INTERRUPTED = 1, 2, 130


class Explained(NamedTuple):
    """What is said of an error, and the exit code."""

    sentence: str
    code: int


def explained(error: Exception) -> Explained | None:
    """The sentence and the exit code for an error that a user can mend; None for a bug of ours."""
    # A usage error of the parser: Typer brings its own copy of the class in new versions.
    if hasattr(error, "format_message") and getattr(error, "exit_code", None) == WRONG_USE:
        return Explained(error.format_message() or "what do you want? See tacit --help", WRONG_USE)
    from tacit._errors import UsageError
    from tacit._files import NO_SPACE
    from tacit.store import StoreError, WriteError
    from tacit.sweep import WorkersError, WorkersLostError

    if isinstance(error, UsageError | StoreError | WorkersError):
        return Explained(str(error), WRONG_USE)
    if isinstance(error, WriteError | WorkersLostError):
        return Explained(str(error), NOT_AS_EXPECTED)
    if isinstance(error, OSError) and error.errno in NO_SPACE:
        if error.filename is None and _is_of_the_output():
            words = f"the output cannot be written ({error.strerror}): send it elsewhere"
            return Explained(f"{words}; what was stored before is whole", NOT_AS_EXPECTED)
        # a full disk under the figure or the page
        full = WriteError(error.filename or "the results", error)
        return Explained(str(full), NOT_AS_EXPECTED)
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        name = str(error.filename)
        return Explained(f"{name[:60]}… ({len(name)} characters) is too long a name", WRONG_USE)
    return None


def _is_of_the_output() -> bool:
    """Whether standard output takes no more: an empty line fails as well."""
    try:
        print(flush=True)
    except OSError:
        return True
    return False
