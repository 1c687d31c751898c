"""One address, one value: cells have one generator and one precision, whatever is set."""

import json
import os
import subprocess
import sys

CODE = """
import json, sys
if {early}:
    import jax
from tacit.store import Store
from tacit.sweep import Grid, run_sweep

def cell(batch, fixed):
    import jax
    assert jax.numpy.ones(1).dtype == "float32"
    keys = [jax.random.key(int(seed)) for seed in batch.column("seed")]
    return {{"drawn": [float(jax.random.normal(key, (3,))[1]) for key in keys]}}

store = Store(sys.argv[1], experiment="toy/drawn", version=1)
run_sweep(Grid({{"seed": (0, 1)}}), {{}}, cell, store)
part = store.parts()[0]
drawn = store.read(part, ["drawn"])["drawn"].tolist()
import jax
outside = jax.config.jax_default_prng_impl
print(json.dumps([drawn, store.provenance(part)["settings"], outside]))
"""


def drawn(folder, *, early, **environment):
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(early=early), str(folder)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_the_environment_does_not_choose_the_settings(tmp_path):
    other = {
        "JAX_DEFAULT_PRNG_IMPL": "rbg",
        "JAX_THREEFRY_PARTITIONABLE": "0",
        "JAX_DEFAULT_MATMUL_PRECISION": "highest",
        "JAX_ENABLE_X64": "1",
    }
    early, settings, outside = drawn(tmp_path / "a", early=True, **other)
    assert settings == {
        "generator": "threefry2x32",
        "partitionable": True,
        "products": None,
        "x64": False,
    }
    assert outside == "rbg"  # the user's own choice stands outside of cells
    # Of `normal` with the keys 0 and 1: what every run before the pin has stored.
    assert [round(number, 5) for number in early] == [2.02526, 0.08471]
    late, _, _ = drawn(tmp_path / "b", early=False, **other)
    assert late == early
