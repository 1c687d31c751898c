"""The random numbers of cells: JAX's settings of the generator are pinned while one is computed.

An address stands for one value: it has a seed in it, and no setting of a process or a machine.
"""

import contextlib
import sys
from collections.abc import Iterator

from tacit.sweep._environment import environment

_GENERATOR, _PARTITIONABLE = "threefry2x32", True  # JAX's own defaults
_VARIABLES = {"JAX_DEFAULT_PRNG_IMPL": _GENERATOR, "JAX_THREEFRY_PARTITIONABLE": "1"}


@contextlib.contextmanager
def pinned_generator() -> Iterator[None]:
    """JAX's default generator inside, also if a cell is the first to import JAX."""
    jax = sys.modules.get("jax")
    if jax is None:
        with environment(_VARIABLES):
            yield
    else:
        with jax.default_prng_impl(_GENERATOR), jax.threefry_partitionable(_PARTITIONABLE):
            yield
