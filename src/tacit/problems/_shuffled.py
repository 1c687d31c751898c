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
    for turn, coin in zip(turns, coins, strict=True):
        others = turn - places
        others = jnp.where(others < 0, others + count, others)
        pair = jnp.maximum(places, others).astype(jnp.uint32)
        places = jnp.where(_mixed(pair ^ coin) >> 31 == 1, others, places)
    return places


def _mixed(bits: Array) -> Array:
    """Each bit depends on all: the last steps of MurmurHash3."""
    bits = (bits ^ (bits >> 16)) * jnp.uint32(0x85EBCA6B)
    bits = (bits ^ (bits >> 13)) * jnp.uint32(0xC2B2AE35)
    return bits ^ (bits >> 16)
