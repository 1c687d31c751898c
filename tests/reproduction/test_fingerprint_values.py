"""The fingerprint is that of the code and the constants that Python has, whatever the files say."""

import importlib
import sys

import pytest

from tacit.reproduction import find_experiment, fingerprint, reproduce

TOOLS = """
import functools
import json
from pathlib import Path
import numpy as np

SCALE = 2.0
LEFT, RIGHT = 1, (2, -3.0)
NODES = [1, 2]
ROOT = np.sqrt(2.0)
calls = 0

def times(factor):
    return lambda function: functools.wraps(function)(lambda x: factor * function(x))

class Options:
    slope = 0.5

    def bent(self, x, *, by=1.5):
        return x * self.slope * by

def shifted(x, by=0.25):
    global calls
    calls += 1
    return x + by

@times(3)
def helper(x):
    return shifted(Options().bent(x * SCALE * RIGHT[0] + NODES[0] * ROOT))
"""
TOY = """
from tacit.experiments import Experiment, Variable, swept
IMPORTS

SHIFT = 0.5
GRID = [1, 2]

class Toy(Experiment):
    '''A toy.'''
    id, figure = "mine/toy", "ours"
    bound = 0.25
    seed: tuple[int, ...] = swept(range(2), "seed", low=0)
    presets = {"smoke": {}, "quick": {}}

    def variables(self):
        return {"value": Variable("value")}

    def cell(self, batch):
        return {"value": CALL(batch.column("seed")) + SHIFT + GRID[0] + self.bound}
"""
MODULE = TOY.replace("IMPORTS", "import toytools").replace("CALL", "toytools.helper")
NAMES = TOY.replace("IMPORTS", "from toytools import helper").replace("CALL", "helper")


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """Write the modules and import the experiment, as a program would that begins now."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two texts of one size in one second

    def forget():
        for name in ("toytools", "toyexperiment"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()

    def load(toy=MODULE, tools=TOOLS, first=None):
        forget()
        (tmp_path / "toytools.py").write_text(tools)
        (tmp_path / "toyexperiment.py").write_text(toy)
        if first is not None:
            importlib.import_module("toytools")
            (tmp_path / "toytools.py").write_text(first)
        return importlib.import_module("toyexperiment").Toy

    load.folder = tmp_path
    yield load
    forget()


IN_TOOLS = [
    ("SCALE = 2.0", "SCALE = 3.0"),
    ("LEFT, RIGHT = 1,", "LEFT, RIGHT = 2,"),
    ("-3.0)", "-4.0)"),
    ("slope = 0.5", "slope = 0.75"),
    ("by=0.25", "by=0.5"),
    ("by=1.5", "by=2.5"),
]
NOT_PLAIN = [
    ("NODES = [1, 2]", "NODES = [3, 2]"),
    ("np.sqrt(2.0)", "np.sqrt(3.0)"),
    ("@times(3)", "@times(4)"),
]


@pytest.mark.parametrize(("old", "new"), IN_TOOLS + NOT_PLAIN)
def test_a_value_of_a_module_counts_and_an_edit_waits_for_the_import(loaded, old, new):
    assert old in TOOLS
    before = fingerprint(loaded())
    edited = TOOLS.replace(old, new)
    kind = loaded()
    (loaded.folder / "toytools.py").write_text(edited)  # before anybody asked for it
    assert fingerprint(kind) == before
    assert fingerprint(loaded(tools=edited)) != before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SHIFT = 0.5", "SHIFT = 0.75"),
        ("GRID = [1,", "GRID = [3,"),
        ("bound = 0.25", "bound = 1.0"),
    ],
)
def test_so_does_one_of_the_experiments_own_file(loaded, old, new):
    before = fingerprint(loaded())
    edited = MODULE.replace(old, new)
    kind = loaded()
    (loaded.folder / "toyexperiment.py").write_text(edited)
    assert fingerprint(kind) == before
    assert fingerprint(loaded(edited)) != before


@pytest.mark.parametrize(("old", "new"), IN_TOOLS)
def test_a_constant_that_was_edited_between_two_imports_is_of_neither_text(loaded, old, new):
    before = fingerprint(loaded())
    after = fingerprint(loaded(tools=TOOLS.replace(old, new)))
    assert fingerprint(loaded(first=TOOLS.replace(old, new))) not in (before, after)


def test_what_a_program_sets_counts(loaded):
    kind = loaded()
    before = fingerprint(kind)
    sys.modules["toytools"].SCALE = 3.0
    assert fingerprint(kind) != before
    sys.modules["toytools"].SCALE = 2.0
    assert fingerprint(kind) == before
    sys.modules["toytools"].calls = 7  # which its functions set, too
    assert fingerprint(kind) == before


def test_old_numbers_are_refused_after_a_program_has_set_a_constant(loaded):
    kind = loaded()
    options = {"preset": "smoke", "results": loaded.folder / "results"}
    reproduce(kind, **options)
    sys.modules["toytools"].SCALE = 3.0
    with pytest.raises(ValueError, match="2 of 2 stored cells were computed by other code"):
        reproduce(kind, **options)
    sys.modules["toytools"].SCALE = 2.0
    assert reproduce(kind, **options).summary.skipped_batches == 1


def test_a_module_that_is_reloaded_is_another_and_a_function_kept_from_before_is_refused(loaded):
    edited = TOOLS.replace("return x + by", "return x - by")
    kind = loaded()
    before = fingerprint(kind)
    (loaded.folder / "toytools.py").write_text(edited)
    importlib.reload(sys.modules["toytools"])
    assert fingerprint(kind) == fingerprint(loaded(tools=edited)) != before
    edited = TOOLS.replace("by=1.5):", "by=1.5):\n        x = 2 * x")
    toy = NAMES.replace("import helper\n", "import Options\n").replace("helper(", "Options().bent(")
    kind = loaded(toy)
    assert fingerprint(kind) is not None
    (loaded.folder / "toytools.py").write_text(edited)
    importlib.reload(sys.modules["toytools"])
    with pytest.raises(ValueError, match=r"toytools.py was edited .*Options.bent is another there"):
        fingerprint(kind)


def test_a_set_in_a_function_is_the_same_in_any_order(loaded):
    """Out of a file of bytecode it comes in another order than out of the text."""
    kind = loaded(tools=TOOLS.replace("return x + by", "return x + by * (3 in {0, 8})"))
    before = fingerprint(kind)
    shifted = sys.modules["toytools"].shifted
    turned = {frozenset([0, 8]): frozenset([8, 0])}
    constants = tuple(turned.get(c, c) for c in shifted.__code__.co_consts)
    assert [repr(c) for c in constants] != [repr(c) for c in shifted.__code__.co_consts]
    shifted.__code__ = shifted.__code__.replace(co_consts=constants)
    assert fingerprint(kind) == before


@pytest.mark.parametrize(
    "reading",
    [
        "SHIFT = float((Path(__file__).parent / 'data.txt').read_text())",
        "def taken(name):\n    return np.loadtxt(Path(__file__).parent / name)\n"
        "SHIFT = taken('data.txt')",
        "with open(Path(__file__).parent / 'data.txt') as file:\n    SHIFT = {'a': [*file]}",
    ],
)
def test_data_that_were_read_at_the_import_count(loaded, reading):
    toy = NAMES.replace("SHIFT = 0.5", f"from pathlib import Path\nimport numpy as np\n{reading}")
    data = loaded.folder / "data.txt"
    codes = []
    for words in ("1.5\n", "2.5\n", "1.5\n"):
        data.write_text(words)
        codes.append(fingerprint(loaded(toy)))
    assert codes[0] == codes[2] != codes[1]
    codes = []
    tools = TOOLS.replace("SCALE = 2.0", reading.replace("SHIFT", "SCALE"))
    for words in ("1.5\n", "2.5\n"):
        data.write_text(words)
        codes.append(fingerprint(loaded(tools=tools)))
    assert codes[0] != codes[1]


def test_data_in_the_body_of_a_class_count_and_those_of_a_later_import_do_not(loaded):
    data = loaded.folder / "data.txt"
    toy = MODULE.replace(
        "bound = 0.25", f"bound = float(__import__('numpy').loadtxt({str(data)!r}))"
    )
    late = TOY.replace("IMPORTS", "").replace("CALL", "__import__('toytools').helper")
    late = late.replace("batch):", "batch):\n        import toytools")
    tools = TOOLS.replace(
        "SCALE = 2.0", f"SCALE = float(__import__('numpy').loadtxt({str(data)!r}))"
    )
    codes = []
    for words in ("1.5", "2.5"):
        data.write_text(words)
        codes.append(fingerprint(loaded(toy)))
    assert codes[0] != codes[1]
    kind = loaded(late, tools)
    before = fingerprint(kind)
    importlib.import_module("toytools")  # as the first cell does
    assert fingerprint(kind) == before


def test_a_module_that_is_imported_for_its_types_alone_does_not_count(loaded):
    head = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from toytools import helper"
    kind = loaded(TOY.replace("IMPORTS", head).replace("CALL", "1.0 * "))
    before = fingerprint(kind)
    importlib.import_module("toytools")  # by somebody else
    assert fingerprint(kind) == before


def test_a_file_of_ones_own_has_the_values_of_its_own_module(loaded):
    file = loaded.folder / "mine.py"
    file.write_text(TOY.replace("IMPORTS", "").replace("CALL", "1.0 * "))
    first = find_experiment(str(file))
    before = fingerprint(first)
    file.write_text(file.read_text().replace("SHIFT = 0.5", "SHIFT = 0.75"))
    second = find_experiment(str(file))
    assert fingerprint(first) == before != fingerprint(second)
