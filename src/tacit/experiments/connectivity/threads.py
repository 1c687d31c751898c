"""Work of the host beside that of an accelerator."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import jax
import numpy as np

from tacit.experiments import accelerated

T = TypeVar("T")
R = TypeVar("R")


def in_threads(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """[function(item) for item in items], on all cores where JAX computes on an accelerator.

    It is for decompositions, of matrices made by `for_threads`, and for calls that wait for the
    accelerator. On a CPU each process of a sweep has one core, and the items come one after
    another. JAX's settings of the calling thread do not hold in others: draw random numbers before.
    """
    if not accelerated():
        return [function(item) for item in items]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(function, items))


def for_threads(matrix: np.ndarray) -> np.ndarray | jax.Array:
    """A matrix that is decomposed on the host while other threads go on.

    Beside an accelerator it is an array of JAX on the CPU: NumPy 2.5 lets no other thread run
    meanwhile, so that 16 threads took as long as one. Where JAX has no CPU it stays as it is.
    """
    if not accelerated():
        return matrix
    try:
        cpu = jax.devices("cpu")[0]
    except RuntimeError:
        return matrix
    with jax.enable_x64(True):
        return jax.device_put(matrix, cpu)
