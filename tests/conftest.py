"""What tests of several rooms share."""

import pytest


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
