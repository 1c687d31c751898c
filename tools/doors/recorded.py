"""What a recorded call is: a valid one of a public function, and what else its door lets in."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Fresh:
    """An argument that is made anew for every call: one that calls change, or that holds files."""

    make: Callable[[], Any]


@dataclass(frozen=True)
class Call:
    """A valid call.

    - `arguments`: by name; those after `star` are passed by place.
    - `allows`: for an argument, the kinds of odd values that its documentation lets in, and
      `as:word` for another word that errors have for it.
    - `infinite`: where the documentation has infinity or NaN as the answer to finite arguments.
    """

    arguments: dict[str, Any]
    star: str = ""
    allows: dict[str, frozenset[str]] = field(default_factory=dict)
    infinite: str = ""

    def names(self, argument: str) -> tuple[str, ...]:
        """What an error may call an argument: by its name, or as `allows` has it after `as:`."""
        kinds = self.allows.get(argument, ())
        return argument, *(kind[3:] for kind in kinds if kind.startswith("as:"))


def call(
    _star: str = "", _allows: dict[str, str] | None = None, _infinite: str = "", /, **arguments: Any
) -> Call:
    """A call with these arguments; `_allows` has kinds separated by spaces."""
    allows = {name: frozenset(kinds.split()) for name, kinds in (_allows or {}).items()}
    unknown = set(allows) - set(arguments)
    if unknown:
        raise ValueError(f"_allows: received {sorted(unknown)}, which the call does not have")
    return Call(arguments, _star, allows, _infinite)
