"""JAX's settings that numbers depend on: they are pinned while cells are computed.

An address stands for one value: it has a seed in it, and no setting of a process or a machine.
"""

import contextlib
import sys
from collections.abc import Iterator

from tacit.sweep._environment import environment

_GENERATOR, _PARTITIONABLE = "threefry2x32", True  # JAX's own defaults
_VARIABLES = {
    "JAX_DEFAULT_PRNG_IMPL": _GENERATOR,
    "JAX_THREEFRY_PARTITIONABLE": "1",
    "JAX_DEFAULT_MATMUL_PRECISION": None,
}
X64 = "JAX_ENABLE_X64"


@contextlib.contextmanager
def pinned_settings(*, own_x64: bool = False) -> Iterator[None]:
    """JAX's defaults inside, also if a cell is the first to import JAX.

    `own_x64`: the code chooses itself whether numbers have 64 bits.
    """
    jax = sys.modules.get("jax")
    with contextlib.ExitStack() as pins:
        if jax is None:
            pins.enter_context(environment(_VARIABLES | ({} if own_x64 else {X64: "0"})))
        else:
            pins.enter_context(jax.default_prng_impl(_GENERATOR))
            pins.enter_context(jax.threefry_partitionable(_PARTITIONABLE))
            pins.enter_context(jax.default_matmul_precision(None))
            if not own_x64:
                pins.enter_context(jax.enable_x64(False))
        yield
