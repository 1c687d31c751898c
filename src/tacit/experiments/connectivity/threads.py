"""Work of the host beside that of an accelerator."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tacit.experiments import accelerated

T = TypeVar("T")
R = TypeVar("R")


def in_threads(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """[function(item) for item in items], on all cores where JAX computes on an accelerator.

    It is for NumPy's decompositions, which let other threads go on. On a CPU each process of a
    sweep has one core, and the items come one after another. JAX's settings of the calling thread
    do not hold in others.
    """
    if not accelerated():
        return [function(item) for item in items]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(function, items))
