"""What tests of the loop share."""

import contextlib

import jax
import pytest


@pytest.fixture
def compilations():
    """`with compilations() as seen`: the programs that XLA compiles inside, a list that grows."""

    @contextlib.contextmanager
    def listening():
        seen = []

        def listen(event, duration, **_):
            if event == "/jax/core/compile/backend_compile_duration":
                seen.append(duration)

        jax.monitoring.register_event_duration_secs_listener(listen)
        try:
            yield seen
        finally:
            jax.monitoring.unregister_event_duration_listener(listen)

    return listening
