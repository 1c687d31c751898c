"""How far the programs of a descent are optimised when they are compiled."""

import jax
import jax.numpy as jnp
import optax
import pytest

from tacit._light_programs import FIRST_LEVEL, wide_options
from tacit.descent import Lanes, Stop, descend
from tacit.descent._programs import run_compiled
from tacit.models import Diagonal, LinearRNN
from tacit.problems import PopulationLoss


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


@pytest.mark.bits  # the options are left to us there
@pytest.mark.parametrize("plain", [True, False])
def test_only_a_plain_loss_has_wide_vectors(plain, monkeypatch):
    """Products of ours are faster with narrow ones, and keep their bits."""
    asked, jit = [], jax.jit

    def noted(*arguments, compiler_options=None, **options):
        asked.append(compiler_options)
        return jit(*arguments, compiler_options=compiler_options, **options)

    model = LinearRNN(Diagonal(jnp.full(3, 0.25)), jnp.ones((3, 1)))
    problem = PopulationLoss(jnp.ones((5, 1, 1)), jnp.ones(5))
    loss = problem.loss if plain else problem
    wide = wide_options()
    monkeypatch.setattr(jax, "jit", noted)
    descend(Lanes.stack([model] * 3), loss, optax.sgd(0.0123), stop=Stop(3), progress=False)
    assert wide["xla_cpu_prefer_vector_width"] == 512
    assert (wide in asked) is plain
    assert (FIRST_LEVEL in asked) is not plain
