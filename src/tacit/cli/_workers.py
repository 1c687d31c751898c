"""`--workers` and `--scheduler`: who computes."""

import contextlib
import sys
from collections.abc import Iterator
from concurrent.futures import Executor

from tacit.sweep import ProcessWorkers, dask_workers


@contextlib.contextmanager
def chosen_workers(workers: int | None, scheduler: str | None) -> Iterator[Executor | None]:
    """The executor that was asked for; None computes in this process."""
    if scheduler is not None:
        with dask_workers(scheduler, workers=workers, notice=_notice) as executor:
            yield executor
    elif workers is not None:
        with ProcessWorkers(workers) as executor:
            yield executor
    else:
        yield None


def _notice(sentence: str) -> None:
    print(f"tacit: {sentence}", file=sys.stderr)
