"""Text of users at the terminal: never markup, and never commands to the terminal."""

import os
import sys


def plain(text: object) -> str:
    """Text with control characters written out, so that a terminal shows them and obeys none."""
    words = str(text)
    if words.isprintable():
        return words
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in words)


def marked(text: object) -> str:
    """The same for Rich's `print`, to which square brackets would be markup."""
    from rich.markup import escape

    return escape(plain(text))


def write_anything() -> None:
    """Let standard output and error write any text, also where the encoding lacks characters.

    One that the caller has closed is opened to nowhere: the next file would get its number, and
    whatever is printed.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None and getattr(stream, "errors", "") == "strict":
            reconfigure(errors="replace")


def many(count: int, noun: str) -> str:
    """A count with its noun: "1 file", "2,000 batches"."""
    plural = "" if count == 1 else "es" if noun.endswith("ch") else "s"
    return f"{count:,} {noun}{plural}"
