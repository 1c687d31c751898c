"""How far the programs of a descent are optimised when they are compiled."""

import jax
import jax.numpy as jnp
import pytest

from tacit.descent._programs import run_compiled


@pytest.mark.parametrize(("least", "wanted"), [(False, {"xla_backend_optimization_level": 1}),
                                               (True, None)])  # fmt: skip
def test_who_asks_jax_for_least_gets_least(least, wanted, monkeypatch):
    asked, jit = [], jax.jit

    def noted(*arguments, compiler_options, **options):
        asked.append(compiler_options)
        return jit(*arguments, compiler_options=compiler_options, **options)

    monkeypatch.setattr(jax, "jit", noted)
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", least)
    try:
        # The same program both times: what was asked for is part of what tells programs apart.
        found = run_compiled(_add, "test_programs", jnp.ones(3), jnp.ones(3))
    finally:
        jax.config.update("jax_disable_most_optimizations", before)
    assert found.tolist() == [2, 2, 2]
    assert asked == [wanted]


def _add(fixed, reused):
    return fixed + reused
