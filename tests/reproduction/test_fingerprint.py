"""What counts as other code: the syntax tree behind `cell`, and nothing else."""

import importlib
import signal
import sys
import textwrap

import pytest

from tacit.reproduction import find_experiment, fingerprint

FILE = '''
"""A file of one's own."""
import dataclasses
from typing import ClassVar
import numpy as np
from tacit.draw import Axis, Figure
from tacit.experiments import Claims, Experiment, Variable, fixed, swept

SCALE = 2.0
COLOUR = "red"
TABLE = []

def kept(function):
    TABLE.append(function)
    return function

@kept
def power(x):
    return x**2

@dataclasses.dataclass
class Options:
    slope: float = 0.5

def helper(x):
    return x * SCALE

def shade(x):
    return x

class Base(Experiment):
    def offset(self):
        return 1.0

class Toy(Base):
    """A toy."""
    id, figure = "mine/toy", "ours"
    version = 1
    bound = 0.25
    shift: ClassVar[float] = 0.125
    part: ClassVar[slice] = slice(0, 3)
    seed: tuple[int, ...] = swept(range(4), "seed", low=0)
    steps: int = fixed(3, "steps")
    level: float = fixed(0.5, "level of the line", analysis=True)
    presets = {"smoke": {}, "quick": {}}

    def variables(self):
        return {"value": Variable("value")}

    def cell(self, batch):
        # a comment
        return {"value": helper(batch.column("seed")) + self.offset() * Options().slope}

    def claims(self, runs):
        claim = Claims("nowhere")
        claim.value("a", shade(1.0), says="b", at_least=0)
        return claim

    finding = "it holds"

    @property
    def findings(self):
        return "they hold"

if __name__ == "__main__":
    print("run me")
'''

COUNTS = [
    ('helper(batch.column("seed"))', 'helper(batch.column("seed") + 1)'),
    ("SCALE = 2.0", "SCALE = 2"),
    ("return x * SCALE", "return SCALE * x"),
    ("return 1.0", "return 1.5"),
    ("bound = 0.25", "bound = 0.5"),
    ("import numpy as np\n", "import numpy as np\nnp.seterr(all='ignore')\n"),
    ("def helper(x):", "def helper(x, y=0):"),
    ("shift: ClassVar[float] = 0.125", "shift: ClassVar[float] = 0.25"),
    ("slice(0, 3)", "slice(0, 4)"),
    ("slope: float = 0.5", "slope: float = 0.75"),
    ("return x**2", "return x**3"),
    ("fixed(0.5,", "fixed(0.75,"),
    ('"value": Variable', '"other": Variable'),
]
DOES_NOT = [
    ("# a comment", "# another comment"),
    ('"""A toy."""', '"""Another toy."""'),
    ('"""A file of one\'s own."""', '"""Another."""'),
    ('return {"value": helper(', 'return {\n            "value":    helper('),
    ('COLOUR = "red"', 'COLOUR = "blue"'),
    ("def shade(x):\n    return x", "def shade(x):\n    return 2 * x"),
    ('says="b"', 'says="c"'),
    ("at_least=0", "at_least=3"),
    ("swept(range(4)", "swept(range(9)"),
    ('"smoke": {}', '"smoke": dict(seed=1)'),
    ('"ours"', '"Figure 9"'),
    ('"it holds"', '"it does not"'),
    ('"they hold"', '"they do not"'),
    ('print("run me")', 'print("run me twice")'),
    ("from tacit.draw import Axis, Figure\n", ""),
    ("import Claims, Experiment,", "import Claims, Experiment, Finding,"),
]


def of(tmp_path, text):
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / "toy.py").write_text(text)
    return fingerprint(find_experiment(f"{tmp_path / 'toy.py'}:Toy"))


@pytest.mark.parametrize(("old", "new"), COUNTS)
def test_what_computes_counts(tmp_path, old, new):
    assert old in FILE
    assert of(tmp_path, FILE) != of(tmp_path / "b", FILE.replace(old, new))


@pytest.mark.parametrize(("old", "new"), DOES_NOT)
def test_what_reads_and_what_is_said_does_not(tmp_path, old, new):
    assert old in FILE
    assert of(tmp_path, FILE) == of(tmp_path / "b", FILE.replace(old, new))


def test_a_method_of_claims_counts_where_the_cell_calls_it(tmp_path):
    calls = FILE.replace("+ self.offset()", "+ len(self.claims(None))")
    assert of(tmp_path, calls) != of(tmp_path / "b", calls.replace('says="b"', 'says="c"'))


def test_modules_of_the_users_count_and_installed_ones_do_not(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    package = tmp_path / "mytools_of_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text("def helper(x):\n    from . import deep\n    return x\n")
    (package / "deep.py").write_text("A = 1\n")
    (package / "unused.py").write_text("A = 1\n")
    text = FILE.replace(
        "def helper(x):\n    return x * SCALE", "from mytools_of_test.inner import helper"
    )
    assert "mytools_of_test" in text
    before = of(tmp_path, text)
    (package / "unused.py").write_text("A = 2\n")
    (package / "deep.py").write_text('"""Words."""\nA = 1  # and more\n')
    assert of(tmp_path / "b", text) == before
    (package / "deep.py").write_text("A = 2\n")
    changed = of(tmp_path / "c", text)
    assert changed != before
    (package / "inner.py").write_text("def helper(x):\n    return x\n")
    assert of(tmp_path / "d", text) == changed  # Python has the old one still
    for name in [name for name in sys.modules if name.startswith("mytools_of_test")]:
        monkeypatch.delitem(sys.modules, name)
    importlib.invalidate_caches()
    assert of(tmp_path / "e", text) not in (changed, before)
    for name in [name for name in sys.modules if name.startswith("mytools_of_test")]:
        monkeypatch.delitem(sys.modules, name)


def test_every_name_of_a_module_may_be_used(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "stars_of_test.py").write_text("def helper(x):\n    return x\n")
    text = FILE.replace("def helper(x):\n    return x * SCALE", "from stars_of_test import *")
    before = of(tmp_path, text)
    (tmp_path / "stars_of_test.py").write_text("def helper(x):\n    return 2 * x\n")
    monkeypatch.delitem(sys.modules, "stars_of_test")
    importlib.invalidate_caches()
    assert of(tmp_path / "b", text) != before
    monkeypatch.delitem(sys.modules, "stars_of_test")


def test_it_is_that_of_the_code_that_was_loaded(tmp_path):
    before = of(tmp_path, FILE)
    kind = find_experiment(f"{tmp_path / 'toy.py'}:Toy")
    (tmp_path / "toy.py").write_text(FILE.replace("SCALE = 2.0", "SCALE = 3.0"))
    assert fingerprint(kind) == before
    assert fingerprint(find_experiment(f"{tmp_path / 'toy.py'}:Toy")) != before


def test_a_module_that_was_edited_before_its_first_run_has_the_code_that_was_loaded(
    tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "edited_by_hand.py"
    codes = []
    for old, new in (("", ""), ("return x * SCALE", "return x + SCALE"), ("class Toy", "class T")):
        file.write_text(FILE)
        monkeypatch.delitem(sys.modules, "edited_by_hand", raising=False)
        importlib.invalidate_caches()
        kind = importlib.import_module("edited_by_hand").Toy
        file.write_text(FILE.replace(old, new))
        codes.append(fingerprint(kind))
    assert codes[0] is not None
    assert set(codes) == {codes[0]}


def test_a_module_that_was_edited_before_the_experiment_was_imported_is_refused(
    tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "edited_by_hand.py"
    text = FILE.replace("def helper(x):\n    return x * SCALE", "from edited_by_hand import helper")

    def edited(old, new):
        file.write_text("def helper(x):\n    return x\n")
        monkeypatch.delitem(sys.modules, "edited_by_hand", raising=False)
        importlib.invalidate_caches()
        importlib.import_module("edited_by_hand")
        file.write_text(file.read_text().replace(old, new))
        return of(tmp_path, text)

    with pytest.raises(ValueError, match=r"edited_by_hand.py was edited .*\(helper is another"):
        edited("return x", "return 2 * x")
    assert edited("return x", "return x  # a comment") == edited("", "")


def test_a_class_may_have_the_name_of_its_base(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "bases_of_test.py").write_text(FILE)
    text = "from bases_of_test import Toy\nclass Toy(Toy):\n    id = 'mine/toy'\n"

    def too_long(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(60)
    try:
        assert of(tmp_path, text) is not None
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        monkeypatch.delitem(sys.modules, "bases_of_test")


def test_a_subclass_with_other_claims_alone_has_the_same_code(tmp_path):
    more = (
        FILE
        + """
class Strict(Toy):
    id = "mine/toy"
    def claims(self, runs):
        return ()

class Other(Toy):
    id = "mine/toy"
    def offset(self):
        return 7.0
"""
    )
    before = of(tmp_path, more)
    strict, other = (find_experiment(f"{tmp_path / 'toy.py'}:{n}") for n in ("Strict", "Other"))
    assert fingerprint(strict) == before == of(tmp_path / "b", FILE)
    assert fingerprint(other) != before


def test_a_built_in_one_has_the_version_of_the_package():
    from tacit._version import __version__

    space = {"__name__": "tacit.experiments.paper.figure"}
    exec(FILE, space)
    assert fingerprint(space["Toy"]) == f"tacit {__version__}"


def test_one_without_a_file_has_none():
    space = {"__name__": "nowhere"}
    exec(textwrap.dedent(FILE), space)
    assert fingerprint(space["Toy"]) is None
