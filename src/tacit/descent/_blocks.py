"""How many rows a program has for its lanes, and how many of them it computes at a time."""

import jax

from tacit._types import PyTree

BLOCK_NUMBERS = 4096  # parameters in a block of lanes, about
CACHED_BYTES = 900_000  # what the parameters of a block of larger models may take, for the cache
FEW = 4  # blocks, from which on lanes are rounded up


def block_size(params: PyTree) -> int:
    """How many lanes are computed at a time: few, so that those that end can be left out soon.

    On one core, blocks of some thousand numbers are as fast, lane by lane, as any larger (600
    flows of 16 parameters: 0.47 µs a lane and attempt in blocks of 64, 0.35 all at once). Larger
    models stay together as far as a core's cache holds them, since blocks cost half a second to
    compile. Dense linear RNNs of width 40 under Adam, µs a lane and step, at once and in blocks of
    24 to 32: 11.7 and 11.1 with 48 of them in float64, 13.5 and 11.0 with 96, 6.1 both in float32.
    On an accelerator all are computed at once. Every array in `params` has the lane axis.
    """
    count, size = _count(params), _most(params)
    if count >= FEW * size and _small(params):
        return size
    blocks = -(-count // size)
    return -(-count // blocks)


def even_size(params: PyTree) -> int | None:
    """A number of lanes near `block_size` that divides them all; None if there is none."""
    count, size = _count(params), block_size(params)
    sizes = [near for near in range(size // 2, size + size // 4 + 1) if near and count % near == 0]
    return min(sizes, key=lambda near: abs(near - size)) if sizes else None


def row_count(params: PyTree) -> int:
    """How many rows hold these lanes: the same for many counts, so that one program serves them.

    Many small models have 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, … blocks: four numbers for each
    doubling. Blocks of empty rows are not computed, so they cost their memory alone.
    """
    count, size = _count(params), _most(params)
    if count < FEW * size or not _small(params):
        return count
    blocks = -(-count // size)
    step = 1 << max(blocks.bit_length() - 3, 0)
    return size * step * -(-blocks // step)


def _count(params: PyTree) -> int:
    return jax.tree.leaves(params)[0].shape[0]


def _numbers(params: PyTree) -> int:
    """The parameters of one model."""
    return sum(leaf.size for leaf in jax.tree.leaves(params)) // _count(params)


def _small(params: PyTree) -> bool:
    """Whether a block holds many such models: not on an accelerator, which computes all at once."""
    return jax.default_backend() == "cpu" and _numbers(params) <= BLOCK_NUMBERS // 8


def _most(params: PyTree) -> int:
    """The most lanes of a block."""
    count = _count(params)
    if jax.default_backend() != "cpu":
        return count
    if _small(params):
        return min(BLOCK_NUMBERS // max(_numbers(params), 1), 64)
    taken = sum(leaf.nbytes for leaf in jax.tree.leaves(params)) // count
    return max(CACHED_BYTES // taken, 1)
