"""What tests of several rooms share."""

import functools
import itertools
import os

import pytest


def pytest_configure(config):
    """Keep compiled programs in pytest's own cache: for the other process, and for the next run."""
    if (cache := getattr(config, "cache", None)) is not None:
        os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache.mkdir("jax")))
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.05")
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")


# XLA's older emitters and fewer pieces a program, beside LLVM's lowest level: a small program
# compiles in a third of the time.
SHORT = {"xla_cpu_use_fusion_emitters": False, "xla_cpu_parallel_codegen_split_count": 2}


@functools.cache
def _short_compiler():
    """JAX's function that chooses a compiler's options, as it is and with `SHORT`.

    As it is twice, if this jaxlib does not know these options: then the tests take longer.
    """
    import jax
    from jax._src import compiler

    usual = compiler.get_compile_options

    def short(*args, **kwargs):
        options = usual(*args, **kwargs)
        options.env_option_overrides += list(SHORT.items())
        return options

    try:
        jax.jit(lambda: 0, compiler_options=SHORT)()
    except jax.errors.JaxRuntimeError:
        return usual, usual
    return usual, short


def _compile(short):
    """Compile in short or as usual from now on; what was compiled the other way is forgotten."""
    import jax
    from jax._src import compiler

    if short != jax.config.read("jax_disable_most_optimizations"):
        jax.clear_caches()
        jax.config.update("jax_disable_most_optimizations", short)
        compiler.get_compile_options = _short_compiler()[short]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Most tests compile more than they compute: in short, but for those marked `bits`."""
    _compile(short=item.get_closest_marker("bits") is None)


_FILES = itertools.count(1)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """Forget compiled programs now and then: all of them would take gigabytes."""
    import jax

    if (nextitem is None or nextitem.path != item.path) and next(_FILES) % 20 == 0:
        jax.clear_caches()


@pytest.fixture(scope="session")
def environment_in_short():
    """The environment of a process that compiles in short."""
    usual, short = _short_compiler()
    known = {} if short is usual else SHORT
    flags = " ".join(f"--{name}={value}".lower() for name, value in known.items())
    return os.environ | {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1", "XLA_FLAGS": flags}
