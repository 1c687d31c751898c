"""A wrong input in one sentence, and the hint that follows a wrong name."""

import difflib
from collections.abc import Iterable

# The attribute of an error that says where in a user's file it was raised; it travels with it.
PLACE = "tacit_place"


class UsageError(ValueError):
    """A wrong input: the message names the field, the value received and what is allowed."""


def shown(value: object) -> str:
    """What was received as a sentence quotes it: on one line, and not too long for it."""
    if type(value).__module__ == "numpy" and not getattr(value, "shape", True):
        value = value.item() if hasattr(value, "item") else value  # 0, not np.int64(0)
    huge = isinstance(value, int) and abs(value) >= 10**100  # Python would not even write it
    words = "an integer of more than 100 digits" if huge else repr(value)
    return words if len(words) <= 100 else f"{words[:60]}… ({len(words)} characters)"


_FEW = 16  # names that a sentence can hold


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint after a wrong name: the nearest known ones, or else all of them, if they are few."""
    options = sorted(known)
    begun = [option for option in options if name and option.startswith(name)]
    near = difflib.get_close_matches(name, options, n=3, cutoff=0.5)
    close = list(dict.fromkeys([*begun, *near]))[:3]
    if close:
        return "did you mean " + " or ".join(repr(option) for option in close) + "?"
    more = f", … ({len(options)} in all)" if len(options) > _FEW else ""
    return f"known: {', '.join(options[:_FEW])}{more}" if options else "there are none"
