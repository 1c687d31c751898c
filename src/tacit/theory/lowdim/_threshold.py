"""How many lags determine a balanced system."""

import math

from tacit._doors import ANY, door, whole


@door(order=ANY, channels=ANY, ends=whole(0))
def threshold(order: int, *, channels: int = 1, ends: int = 0) -> int:
    """The first k such that k lags determine a balanced system of this order d̂.

    Its lags are the moments of a positive measure with d̂ atoms, and 2d̂ + 1 moments determine it
    (lowdim, Lemma 7): one more than it has parameters. Each atom on an end of the support saves a
    lag. With m channels the weights are positive semidefinite m × m matrices, the block Hankel
    matrix of n block rows has rank min(n m, d̂) for modes in general position, and the measure is
    determined once one more block row adds no rank (a flat extension): k = 2 ⌈d̂/m⌉ + 1.

    **Arguments:**

    - `order`: d̂, the number of atoms.
    - `channels`: m, inputs and as many outputs.
    - `ends`: how many atoms lie on an end of the support (one atom has one place); one channel.
    """
    if order < 1 or channels < 1:
        raise ValueError(
            f"order and channels: received {order!r} and {channels!r}, both are at least 1"
        )
    if ends not in (0, 1, 2) or (ends and channels > 1):
        raise ValueError(
            f"ends: received {ends!r} with {channels} channels, it is 0, 1 or 2 with one channel "
            "and 0 with several"
        )
    return 2 * math.ceil(order / channels) + 1 - min(order, ends)
