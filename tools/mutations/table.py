"""The mutations, with the tests that must notice each."""

from collections import Counter
from typing import NamedTuple

from by_data import DATA
from by_engine import ENGINE
from by_estimators import ESTIMATORS
from by_files import FILES
from by_pages import PAGES
from by_promises import PROMISES
from by_results import RESULTS
from by_theory import THEORY


class Mutation(NamedTuple):
    """`old`, which is in the file once, becomes `new`; `tests` are pytest's arguments.

    `equivalent` says why nothing can notice it.
    """

    file: str
    old: str
    new: str
    tests: str
    equivalent: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {' '.join(self.old.split())[:50]} → {' '.join(self.new.split())[:50]}"


MUTATIONS = [
    Mutation(*entry)
    for entry in (
        *ENGINE, *ESTIMATORS, *FILES, *RESULTS, *THEORY, *PAGES, *DATA, *PROMISES,
    )
]  # fmt: skip

BY_ROOM = Counter(
    mutation.file.partition("/")[0] if "/" in mutation.file else "shared files"
    for mutation in MUTATIONS
)
"""How many there are in each room, as docs/guarantees.md says."""
