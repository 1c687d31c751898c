"""What tests of several rooms share."""

import os

import pytest


def pytest_configure(config):
    """Keep compiled programs in pytest's own cache: for the other process, and for the next run."""
    if (cache := getattr(config, "cache", None)) is not None:
        os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache.mkdir("jax")))
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.05")
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")


@pytest.fixture(scope="module")
def compiled_in_short():
    """For files that compile far more than they compute, and ask for no bits.

    Nothing of it is left to other files.
    """
    import jax

    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
    jax.clear_caches()
