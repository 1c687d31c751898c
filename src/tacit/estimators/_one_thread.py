"""BLAS with one thread while an estimator works."""

import functools
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


class _OneThread:
    """The first to enter limits the pools, the last to leave gives them back what they had.

    The number of threads of OpenBLAS is one for the whole process. Without a count, of two calls in
    two Python threads the first to end would let the other go on with all threads, and the other
    would leave the limit behind. Where each Python thread has a number of its own (MKL), calls that
    overlap are limited in the first of them only.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._pools: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._pools = [(pool, pool.num_threads) for pool in _pools()]
                for pool, _ in self._pools:
                    _limit(pool, 1)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for pool, count in self._pools:
                    _limit(pool, count)
                self._pools = []


@functools.cache
def _pools() -> tuple[Any, ...]:
    """Those of NumPy and SciPy, which are loaded by now; looking for them takes 4 ms."""
    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


def _limit(pool: Any, count: int) -> None:
    """Set the threads of a pool, from whichever Python thread.

    threadpoolctl 3.8 and later let one Python thread alone do so, until that one gives it up.
    """
    give_up = getattr(pool, "clear_controlling_thread", lambda force: None)
    give_up(force=True)
    pool.set_num_threads(count)
    give_up(force=True)


_LIMITED = _OneThread()


def one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """The function with BLAS at one thread.

    Estimators make thousands of small products and factorisations. Threads only wait for each other
    there: on a busy machine they take several times the CPU time.
    """

    @functools.wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with _LIMITED:
            return function(*args, **kwargs)

    return limited
