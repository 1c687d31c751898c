"""Programs that run once or a few times: compiled with less effort, which is what they cost.

On a CPU, XLA builds a kernel from each fusion by way of MLIR, and LLVM works on it at its second
level. For loops of thousands of steps that pays. To draw 100 students of width 40 takes half a
millisecond, and its program 1.03 s to compile; at LLVM's first level 0.64 s, and with XLA's older
kernels too 0.38 s. The numbers drawn are the same, bit for bit; sums may differ in the last one.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp

R = TypeVar("R")

FIRST_LEVEL: dict[str, Any] = {"xla_backend_optimization_level": 1}
_LIGHT = {**FIRST_LEVEL, "xla_cpu_use_fusion_emitters": False}
_WIDE = {**FIRST_LEVEL, "xla_cpu_prefer_vector_width": 512}


def lightly(function: Callable[..., R]) -> Callable[..., R]:
    """`eqx.filter_jit(function)`, for a function of a file that does its work in no time.

    Inside of another compiled function it is a part of that one.
    """
    compiled: Any = eqx.filter_jit  # its types do not know the options that it hands on to JAX
    plain = compiled(function)

    @functools.cache
    def light() -> Callable[..., R]:
        return compiled(function, compiler_options=light_options())

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> R:
        traced = any(map(_is_traced, jax.tree.leaves((args, kwargs)))) or _is_traced(jnp.zeros(()))
        return (plain if traced or not may_choose() else light())(*args, **kwargs)

    return call


def _is_traced(leaf: Any) -> bool:
    """Whether it has no value yet; while another function is compiled, no new array has one."""
    return isinstance(leaf, jax.core.Tracer)


def may_choose() -> bool:
    """Whether programs run on a CPU; who has asked JAX for less effort gets less."""
    return jax.default_backend() == "cpu" and not jax.config.read("jax_disable_most_optimizations")


def first_level() -> dict[str, Any]:
    """What most loops are compiled with."""
    return FIRST_LEVEL


@functools.cache
def wide_options() -> dict[str, Any]:
    """For loops over long rows of numbers: vectors of 512 bits, on CPUs that have them.

    XLA takes half of that by itself. A perceptron of 32 units on 64 examples is a fifth faster so,
    products of matrices 40 wide in float32 take twice the time.
    """
    return _known(_WIDE)


@functools.cache
def light_options() -> dict[str, Any]:
    """What makes XLA work less."""
    return _known(_LIGHT)


def _known(options: dict[str, Any]) -> dict[str, Any]:
    """These options, as far as this version of XLA knows them."""
    try:
        jax.jit(lambda x: x, compiler_options=options).lower(0.0).compile()
    except jax.errors.JaxRuntimeError:
        return FIRST_LEVEL
    return options


def normal(key: Any, shape: tuple[int, ...], dtype: Any) -> jax.Array:
    """`jax.random.normal`, which compiles a program for every shape."""
    return _normal(key, tuple(map(int, shape)), dtype)  # NumPy's numbers would be traced


@lightly
def _normal(key: Any, shape: tuple[int, ...], dtype: Any) -> jax.Array:
    return jax.random.normal(key, shape, dtype)
