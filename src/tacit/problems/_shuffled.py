"""A random order of which only some entries are needed."""

import jax
import jax.numpy as jnp

from tacit._types import Array, Int, PRNGKeyArray

ROUNDS = 32


def shuffled(places: Int[Array, " some"], count: int, *, key: PRNGKeyArray) -> Int[Array, " some"]:
    """Entries `places` of a random permutation of 0 … count − 1, without making the others.

    Swap-or-not (Hoang, Morris and Rogaway 2012): each round pairs x with k − x modulo `count`, k at
    random, and a coin for each pair says whether it changes places. Sorting 50,000 random numbers
    at every step, as `jax.random.permutation` does, takes as long as training a small network.
    """
    turn_key, coin_key = jax.random.split(key)
    turns = jax.random.randint(turn_key, (ROUNDS,), 0, count)
    coins = jax.random.bits(coin_key, (ROUNDS,), jnp.uint32)

    def one(number: Array, places: Array) -> Array:
        others = turns[number] - places
        others = jnp.where(others < 0, others + count, others)
        pair = jnp.maximum(places, others).astype(jnp.uint32)
        return jnp.where(_mixed(pair ^ coins[number]) >> 31 == 1, others, places)

    # Written out it is one kernel of an accelerator; a CPU would compile it for seconds.
    rolled = jax.default_backend() == "cpu"
    return jax.lax.fori_loop(0, ROUNDS, one, places, unroll=1 if rolled else ROUNDS)


def _mixed(bits: Array) -> Array:
    """Each bit depends on all: the last steps of MurmurHash3."""
    bits = (bits ^ (bits >> 16)) * jnp.uint32(0x85EBCA6B)
    bits = (bits ^ (bits >> 13)) * jnp.uint32(0xC2B2AE35)
    return bits ^ (bits >> 16)
