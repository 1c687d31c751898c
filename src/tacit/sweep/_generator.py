"""The random numbers of cells: JAX's settings of the generator are pinned while one is computed.

An address stands for one value: it has a seed in it, and no setting of a process or a machine.
"""

import contextlib
import os
import sys
from collections.abc import Iterator

_GENERATOR, _PARTITIONABLE = "threefry2x32", True  # JAX's own defaults
_VARIABLES = {"JAX_DEFAULT_PRNG_IMPL": _GENERATOR, "JAX_THREEFRY_PARTITIONABLE": "1"}


@contextlib.contextmanager
def pinned_generator() -> Iterator[None]:
    """JAX's default generator inside, also if a cell is the first to import JAX."""
    if "jax" in sys.modules:
        jax = sys.modules["jax"]
        with jax.default_prng_impl(_GENERATOR), jax.threefry_partitionable(_PARTITIONABLE):
            yield
        return
    before = {name: os.environ.get(name) for name in _VARIABLES}
    os.environ.update(_VARIABLES)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
