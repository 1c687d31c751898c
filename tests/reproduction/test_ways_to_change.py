"""Ways to change what a cell depends on between two runs: noticed, refused, or said not to be.

`OTHER`: the stored cells are refused, as those of other code or other files. `NAMED`: the run is
refused by the name of a function or a file. `NOT`: docs/guarantees.md says that it is not covered.
Settings of JAX, which are held, are in `tests/sweep/test_settings.py`, losses and checkpoints in
`tests/descent/test_ways_to_change_a_loss.py` and `test_owner.py`.
"""

import functools
import importlib
import operator
import os
import pickle
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from tacit.reproduction import find_experiment, reproduce

OTHER = "stored cells were computed (by other code|from other files)"
NAMED = "is the function|was edited after it was imported|depends_on names the file"
PAGE = " ".join((Path(__file__).parents[2] / "docs/guarantees.md").read_text().split())
TOY = """
import functools, os
from tacit.experiments import Experiment, Variable, swept
import waytools

class Toy(Experiment):
    '''A toy.'''
    id, figure = "mine/toy", "ours"
    seed: tuple[int, ...] = swept(range(2), "seed", low=0)
    presets = {"smoke": {}, "quick": {}}
    depends_on = FILES

    def variables(self):
        return {"value": Variable("value")}

    def cell(self, batch):
        return {"value": [float(VALUE) for x in (1.0, 2.0)]}
"""
F = "def f(x, by=1.0):\n    return x * by\n"
READ = (
    "import io, numpy as np, pandas as pd\nfrom numpy import loadtxt as rd\n"
    "def rd_(path):\n    with io.FileIO(path) as file:\n        return file.read()\n"
)
INTERPOLATED = "from scipy.interpolate import interp1d\nimport numpy as np\n"


def sets(statement):
    """A program that does this before it runs the experiment."""

    def change(folder, load):
        kind = load()
        tools = sys.modules["waytools"]
        space = {"tools": tools, "Toy": kind, "functools": functools, "operator": operator}
        space |= {"np": np, "__name__": "__main__", "old": getattr(tools, "f", None)}
        exec(statement, space)
        return kind

    return change


def writes(text, name="waytools.py", old=""):
    """A file that is written before another process begins."""

    def change(folder, load):
        file = folder / name
        file.write_bytes(
            text if isinstance(text, bytes) else file.read_text().replace(old, text).encode()
        )
        return load()

    return change


def edits_between(old, new):
    """A module that is imported and edited before the experiment is imported."""

    def change(folder, load):
        importlib.import_module("waytools")
        file = folder / "waytools.py"
        file.write_text(file.read_text().replace(old, new))
        return load(again=False)

    return change


def removes(folder, load):
    (folder / "data").unlink()
    return load()


def sets_variable(folder, load):
    os.environ["WAY_OF_TEST"] = "3"
    return load()


NO_OTHER_NUMBERS = ("an edited constant", "a file that is declared afterwards")
ONE, TWO = b"1.0 2.0", b"3.0 2.0"
READS = "def f(x):\n    return x * float(pathlib.Path(PATH).read_text().split()[0])\n"
# What is in waytools.py, what the cell computes, the change between two runs, what comes of it.
WAYS = {
    # Functions in place of others.
    "a lambda of a program": (F, "waytools.f(x)", sets("tools.f = lambda x: 9 * x"), NAMED),
    "a def of a program": (F, "waytools.f(x)", sets("def f(x):\n    return 9\ntools.f = f"), NAMED),
    "a partial": (F, "waytools.f(x)", sets("tools.f = functools.partial(operator.mul, 9)"), OTHER),
    "a partial of a lambda": (
        F, "waytools.f(x)", sets("tools.f = functools.partial(lambda a, x: a * x, 9)"), NAMED),
    "a method": (F, "waytools.f(x)", sets(
        "Toy.cell = lambda self, batch: {'value': [9.0, 9.0]}"), NAMED),
    "a wrapper with the old name": (F, "waytools.f(x)", sets(
        "tools.f = functools.wraps(old)(lambda x: 9 * old(x))"), NAMED),
    "another function of the file": (
        F + "def g(x, by=1.0):\n    return 9 * x\n", "waytools.f(x)",
        sets("tools.f = tools.g"), OTHER),
    "another function in the same wrapper": (
        "import functools\ndef twice(g):\n    @functools.wraps(g)\n    def inner(x):\n"
        "        return 2 * g(x)\n    return inner\ndef one(x):\n    return x\ndef nine(x):\n"
        "    return 9 * x\nf = twice(one)\n", "waytools.f(x)",
        sets("tools.f = tools.twice(tools.nine)"), OTHER),
    "one of an installed package": (F, "waytools.f(x)", sets("tools.f = np.tanh"), OTHER),
    "other code of the same function": (
        F, "waytools.f(x)", sets("tools.f.__code__ = (lambda x, by=1: 9 * x).__code__"), OTHER),
    "other defaults": (F, "waytools.f(x)", sets("tools.f.__defaults__ = (9.0,)"), OTHER),
    "another closure": (
        "def make(by):\n    def f(x):\n        return by * x\n    return f\nf = make(2)\n",
        "waytools.f(x)", sets("tools.f = tools.make(9)"), OTHER),
    "a lambda in a dict": (
        "OPS = {'a': lambda x: x}\n", "waytools.OPS['a'](x)",
        sets("tools.OPS['a'] = lambda x: 9 * x"), NAMED),
    "a name of Python's": (
        "def f(x):\n    return abs(x)\n", "waytools.f(x)", sets("tools.abs = lambda x: 9"), NAMED),
    "a derivative": (
        "import jax\ndef f(x):\n    return x**2\n", "waytools.f(x)",
        sets("import jax\ntools.f = jax.grad(old)"), OTHER),
    # Edits of files.
    "an edited lambda": (
        "f = lambda x: x\n", "waytools.f(x)", edits_between("x: x", "x: 9 * x"), NAMED),
    "an edited def": (F, "waytools.f(x)", edits_between("x * by", "9 * x"), NAMED),
    "an edited constant": (
        "SCALE = 1.0\n", "x * waytools.SCALE", edits_between("1.0", "9.0"), OTHER),
    "an edited module": (F, "waytools.f(x)", writes("9 * x", old="x * by"), OTHER),
    "an edited experiment": (F, "x", writes("float(9 * x)", "waytoy.py", "float(x)"), OTHER),
    "an edited module of a function": (
        "def f(x):\n    import wayinner\n    return wayinner.g(x)\n", "waytools.f(x)",
        writes(b"def g(x):\n    return 9 * x\n", "wayinner.py"), OTHER),
    # Values.
    "a number": ("SCALE = 1.0\n", "x * waytools.SCALE", sets("tools.SCALE = 9.0"), OTHER),
    "a list in place": (
        "NODES = [1.0, 2.0]\n", "x * waytools.NODES[0]", sets("tools.NODES[0] = 9.0"), OTHER),
    "an array in place": (
        "import numpy as np\nNODES = np.ones(2)\n", "x * waytools.NODES[0]",
        sets("tools.NODES[0] = 9.0"), OTHER),
    "an array with the name of what a function has for itself": (
        "import numpy as np\nnodes = np.ones(2)\ndef f(x):\n    nodes = np.zeros(2)\n"
        "    nodes[0] = x\n    return nodes.sum()\n", "waytools.f(x) * waytools.nodes[0]",
        sets("tools.nodes[0] = 9.0"), OTHER),
    "a bound method": (
        "import dataclasses\n@dataclasses.dataclass\nclass Line:\n    slope: float = 1.0\n"
        "    def at(self, x):\n        return x * self.slope\nf = Line().at\n", "waytools.f(x)",
        sets("tools.f = tools.Line(9.0).at"), OTHER),
    "a dict in place": (
        "SCALES = {'a': 1.0}\n", "x * waytools.SCALES['a']",
        sets("tools.SCALES['a'] = 9.0"), OTHER),
    "an attribute of a class": (
        "class Line:\n    slope = 1.0\n", "x * waytools.Line.slope",
        sets("tools.Line.slope = 9.0"), OTHER),
    "an attribute of an object": (
        "import dataclasses\n@dataclasses.dataclass\nclass Line:\n    slope: float = 1.0\n"
        "LINE = Line()\n", "x * waytools.LINE.slope", sets("tools.LINE.slope = 9.0"), OTHER),
    # Data read at the import.
    "data by open": (
        "VALUES = pathlib.Path(PATH).read_text().split()\n",
        "x * float(waytools.VALUES[0])", writes(TWO, "data"), OTHER),
    "data by loadtxt under another name": (
        READ + "V = rd(PATH)\n", "x * waytools.V[0]", writes(TWO, "data"), OTHER),
    "data by memmap": (
        READ + "V = np.memmap(PATH, np.uint8)\n", "x * waytools.V[0]", writes(TWO, "data"), OTHER),
    "data by FileIO": (
        READ + "V = rd_(PATH)\n", "x * float(waytools.V[:3])", writes(TWO, "data"), OTHER),
    "data by read_pickle": (
        READ + "V = pd.read_pickle(PATH)\n", "x * waytools.V.a[0]",
        writes(pickle.dumps(__import__("pandas").DataFrame({"a": [9.0]})), "data"), OTHER),
    "data in an object of a package": (
        INTERPOLATED + "f = interp1d([0, 3], np.loadtxt(PATH))\n", "waytools.f(x)",
        writes(TWO, "data"), "data within objects of installed packages"),
    # Files, the environment and other packages while it runs.
    "a file of depends_on": (
        READS, "waytools.f(x)", writes(TWO, "data"), OTHER),
    "a file that is declared afterwards": (
        READS, "waytools.f(x)", writes("('data',)", "waytoy.py", "()"), OTHER),
    "a file of depends_on that is gone": (
        READS, "waytools.f(x)",
        removes, NAMED),
    "a file that nobody declares": (
        READS, "waytools.f(x)",
        writes(TWO, "data"), "files that a cell reads and `depends_on` does not name"),
    "a variable of the environment": (
        "import os\ndef f(x):\n    return x * float(os.environ['WAY_OF_TEST'])\n", "waytools.f(x)",
        sets_variable, "variables of the environment"),
    "a module by a name made at run time": (
        "import importlib\ndef f(x):\n    return importlib.import_module('way' + 'inner').g(x)\n",
        "waytools.f(x)", writes(b"def g(x):\n    return 9 * x\n", "wayinner.py"),
        "names that are made at run time"),
    "a function of an installed package": (
        "import textwrap\ndef f(x):\n    return len(textwrap.dedent('a' * int(x)))\n",
        "waytools.f(x)", sets("import textwrap\ntextwrap.dedent = lambda text: 'a' * 9"),
        "installed packages"),
    "what the file's own functions change": (
        "calls = 0\ndef f(x):\n    global calls\n    calls += 0\n    return x + calls\n",
        "waytools.f(x)", sets("tools.calls = 9"), "what its own functions change"),
}  # fmt: skip


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Write the files of a way, and load them as a process would that begins now."""
    import textwrap

    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(textwrap, "dedent", textwrap.dedent)
    monkeypatch.setenv("WAY_OF_TEST", "1")
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))  # as at a prompt

    def forget():
        for name in ("waytools", "wayinner", "waytoy"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()

    def load(again=True):
        if again:
            forget()
        return importlib.import_module("waytoy").Toy

    def write(name, tools, value):
        data = tmp_path / "data"
        data.write_bytes(ONE)
        if "read_pickle" in tools:
            data.write_bytes(pickle.dumps(__import__("pandas").DataFrame({"a": [1.0]})))
        files = ("data",) if "depends_on" in name else ()
        (tmp_path / "waytools.py").write_text(f"import pathlib\nPATH = {str(data)!r}\n{tools}")
        (tmp_path / "wayinner.py").write_text("def g(x):\n    return x\n")
        (tmp_path / "waytoy.py").write_text(
            TOY.replace("FILES", repr(files)).replace("VALUE", value)
        )

    yield tmp_path, write, load, forget
    forget()


@pytest.mark.parametrize("name", WAYS)
def test_it_is_noticed_refused_or_said_not_to_be(world, name):
    folder, write, load, forget = world
    tools, value, change, expected = WAYS[name]
    write(name, tools, value)
    options = {"preset": "smoke", "results": folder / "results"}
    first = reproduce(load(), **options).dataset["value"].values
    np.testing.assert_array_equal(reproduce(load(), **options).dataset["value"].values, first)
    forget()
    kind = change(folder, load)
    if expected in (OTHER, NAMED):
        with pytest.raises(ValueError, match=expected):
            reproduce(kind, **options)
    else:
        assert expected in PAGE
        np.testing.assert_array_equal(reproduce(kind, **options).dataset["value"].values, first)
    if expected is not NAMED and name not in NO_OTHER_NUMBERS:  # the change changes the numbers
        other = reproduce(kind, preset="smoke", results=folder / "other").dataset["value"].values
        assert (other != first).any()


def test_they_are_thirty_and_few_are_not_noticed():
    unnoticed = [name for name, way in WAYS.items() if way[-1] not in (OTHER, NAMED)]
    assert len(WAYS) >= 30
    assert len(unnoticed) == 6


def test_what_was_stored_of_a_patched_file_is_not_taken_for_the_plain_one(world):
    folder, write, load, _ = world
    write("", "SCALE = 1.0\n", "x * waytools.SCALE")
    options = {"preset": "smoke", "results": folder / "results"}
    kind = load()
    sys.modules["waytools"].SCALE = 9.0
    reproduce(kind, **options)
    with pytest.raises(ValueError, match=OTHER):
        reproduce(load(), **options)


def test_a_file_of_a_recording_of_a_built_in_experiment_is_told(tmp_path, monkeypatch):
    from tacit.reproduction import fingerprint
    from tacit.reproduction._fingerprint import differs

    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    kind = find_experiment("kernel/fig4")
    s1, plain = kind(recording=("s1",)), kind(recording=("synthetic",))
    (tmp_path / "s1_chowdhury").mkdir()
    codes = [fingerprint(s1)]
    for content in (b"one", b"two"):
        (tmp_path / "s1_chowdhury" / "s1_data_raw.mat").write_bytes(content)
        codes.append(fingerprint(s1))
    without, one, two = codes
    assert differs(one, two)
    assert without == fingerprint(plain) == fingerprint(kind)
    assert not differs(one, without)
