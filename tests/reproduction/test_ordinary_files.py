"""Ordinary files of users: none is refused, and each has one fingerprint in every process."""

import importlib
import json
import os
import subprocess
import sys

import pytest

from tacit.reproduction import find_experiment, fingerprint, reproduce

TOY = '''
from tacit.experiments import Experiment, Variable, swept
{head}

class Toy(Experiment):
    """A toy."""
    id, figure = "mine/toy", "ours"
    seed: tuple[int, ...] = swept(range(2), "seed", low=0)
    presets = {{"smoke": {{}}, "quick": {{}}}}

    def variables(self):
        return {{"value": Variable("value")}}
{members}
    def cell(self, batch):
        return {{"value": [float({value}) for x in batch.column("seed").astype(float)]}}
'''
HELPERS = """
import functools
import jax
import numpy as np

SCALE = 2.0
CACHE = {}
calls = 0

@jax.jit
def traced(x):
    return SCALE * x

def f(x):
    global calls
    calls += 1
    return SCALE * x

def remembered(function):
    known = {}
    @functools.wraps(function)
    def inner(x):
        if x not in known:
            known[x] = function(x)
        return known[x]
    return inner

def stored(x):
    CACHE[x] = SCALE * x
    return CACHE[x]
"""
FILES = {
    "jit": ("import jax\n@jax.jit\ndef f(x):\n    return 2 * x", "f(x)"),
    "jit with options": (
        "import functools, jax\n@functools.partial(jax.jit, static_argnames='n')\n"
        "def f(x, n=2):\n    return n * x", "f(x)"),
    "vmap and grad": (
        "import jax, jax.numpy as jnp\nf = jax.vmap(jax.grad(lambda x: x**2))",
        "f(jnp.array([x]))[0]"),
    "wraps": (
        "import functools\ndef twice(g):\n    @functools.wraps(g)\n    def inner(*a, **k):\n"
        "        return 2 * g(*a, **k)\n    return inner\n@twice\ndef f(x):\n    return x", "f(x)"),
    "a partial": ("import functools, operator\nf = functools.partial(operator.mul, 2)", "f(x)"),
    "a dataclass": (
        "import dataclasses\n@dataclasses.dataclass(frozen=True, order=True)\nclass Line:\n"
        "    slope: float = 2.0\n    def at(self, x):\n        return self.slope * x\n"
        "LINE = Line()",
        "LINE.at(x)"),
    "a named tuple": (
        "from typing import NamedTuple\nclass Line(NamedTuple):\n    slope: float = 2.0\n"
        "LINE = Line(3.0)", "LINE.slope * x"),
    "an enum": (
        "import enum\nclass Way(enum.Enum):\n    UP = 1\n    DOWN = -1\nWAY = Way.UP\n"
        "NAMES = {'a', 'b', 'c', 'd'}", "WAY.value * x * len(NAMES)"),
    "a table at the import": (
        "import numpy as np\nNODES, WEIGHTS = np.polynomial.legendre.leggauss(8)",
        "x * WEIGHTS.sum()"),
    "lambdas in a dict": (
        "import numpy as np\nf = {'a': lambda x: x, 'b': lambda x: 2 * x, 'c': np.tanh}",
        "f['b'](x) + f['c'](x)"),
    "reload": ("import importlib, ownhelpers\nimportlib.reload(ownhelpers)", "ownhelpers.f(x)"),
    "methods": (
        "class Line:\n    slope = 2.0\n    def __init__(self):\n        self.shift = 1.0\n"
        "    def __call__(self, x):\n        return self.slope * x + self.shift\n"
        "    @classmethod\n    def of(cls):\n        return cls()\n    @staticmethod\n"
        "    def half(x):\n        return x / 2\n    @property\n    def twice(self):\n"
        "        return 2 * self.slope\nLINE = Line.of()", "LINE(x) * LINE.twice * Line.half(x)"),
    "equinox": (
        "import equinox as eqx, jax\nclass Net(eqx.Module):\n    w: jax.Array\n"
        "    act: object = eqx.field(static=True, default=jax.nn.relu)\n    @eqx.filter_jit\n"
        "    def __call__(self, x):\n        return self.act(self.w * x)\n"
        "NET = Net(jax.numpy.array(2.0))", "NET(x)"),
    "a factory": (
        "def power(n):\n    total = 0\n    def f(x):\n        nonlocal total\n        total += 1\n"
        "        return x**n\n    return f\nsquare, cube = power(2), power(3)", "cube(square(x))"),
    "a cached function": (
        "import functools\n@functools.cache\ndef f(x):\n    return 2 * x\n"
        "@functools.singledispatch\ndef g(x):\n    return f(x)\n@g.register\ndef _(x: int):\n"
        "    return x", "g(x)"),
    "a name of one's own": ("from ownhelpers import f as g, traced", "g(x) + traced(x)"),
    "an import that fails": (
        "try:\n    import no_such_module_here as fast\nexcept ImportError:\n    fast = None",
        "x if fast is None else fast.f(x)"),
    "imports for types": (
        "from __future__ import annotations\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
        "    from ownhelpers import f", "2 * x"),
    "arrays of JAX and keys": (
        "import jax, jax.numpy as jnp\nBIAS = jnp.arange(3.0)\nKEY = jax.random.key(0)",
        "x + BIAS[1] + jax.random.normal(KEY)"),
    "a conditional def": (
        "import sys\nif sys.version_info >= (3, 11):\n    def f(x):\n        return 2 * x\n"
        "else:\n    def f(x):\n        return x + x", "f(x)"),
    "a logger and a path": (
        "import logging, os, pathlib\nLOG = logging.getLogger(__name__)\n"
        "HERE = pathlib.Path(__file__).parent\nDATA = os.path.join(os.path.dirname(__file__), 'd')",
        "x + len(LOG.name) * 0 + len(HERE.parts) * 0 + len(DATA) * 0"),
    "memories of one's own": (
        "from ownhelpers import remembered, stored\n@remembered\ndef f(x):\n    return 2 * x",
        "f(x) + stored(x)"),
    "a memory among the defaults": (
        "def f(x, known={}):\n    known[x] = 2 * x\n    return known[x]", "f(x)"),
    "an optimiser": ("import optax\nOPT = optax.adam(1e-3)", "x + len(OPT)"),
    "an import in a function": ("def f(x):\n    from ownhelpers import f\n    return f(x)", "f(x)"),
    "a frame": ("import pandas as pd\nTABLE = pd.DataFrame({'a': [1.0, 2.0]})", "x * TABLE.a[1]"),
    "a generator": ("import numpy as np\nrng = np.random.default_rng(0)", "x + 0 * rng.normal()"),
}  # fmt: skip
TELL = """
import json, sys
from tacit.reproduction import find_experiment, fingerprint
sys.path.insert(0, sys.argv[1])
print(json.dumps([fingerprint(find_experiment(path)) for path in sys.argv[2:]]))
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The files, and their fingerprints in two processes of other hash seeds, from two folders."""
    told, paths = [], {}
    for seed in ("1", "2"):
        folder = tmp_path_factory.mktemp(f"folder{seed}")
        (folder / "ownhelpers.py").write_text(HELPERS)
        for place, (name, (head, value)) in enumerate(FILES.items()):
            paths[name] = folder / f"toy{place}.py"
            future = "from __future__ import annotations\n"
            text = TOY.format(head=head.replace(future, ""), value=value, members="")
            paths[name].write_text(future * (future in head) + text)
        done = subprocess.run(
            [sys.executable, "-c", TELL, str(folder), *map(str, paths.values())],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        told.append(json.loads(done.stdout.splitlines()[-1]))
    sys.path.insert(0, str(folder))
    sys.modules.pop("ownhelpers", None)
    importlib.invalidate_caches()
    yield paths, [dict(zip(FILES, codes, strict=True)) for codes in told]
    sys.path.remove(str(folder))
    sys.modules.pop("ownhelpers", None)


@pytest.mark.parametrize("name", FILES)
def test_it_runs_and_has_one_fingerprint(written, tmp_path, name):
    paths, (first, second) = written
    kind = find_experiment(str(paths[name]))
    options = {"preset": "smoke", "results": tmp_path}
    assert reproduce(kind, **options).summary.computed_cells == 2
    assert reproduce(kind, **options).summary.skipped_batches == 1
    assert fingerprint(kind) == first[name] == second[name] is not None


def test_they_are_twenty_and_all_differ(written):
    _, (first, _) = written
    assert len(set(first.values())) == len(FILES) >= 20
