"""An installed plug-in: its whole package counts, and a worker has the same one or says so."""

import functools
import importlib
import pickle
import sys
from types import SimpleNamespace

import pytest

from tacit.reproduction import _cell as cell_room
from tacit.reproduction import find_experiment, fingerprint
from tacit.reproduction._cell import ExperimentCell
from tacit.sweep import Batch

TOY = """
from tacit.experiments import Experiment, Variable, swept
from ourlab.tools import helper
from .table import kept

@kept
def power(x):
    return x**2

class Toy(Experiment):
    '''A toy.'''
    id, figure = "ourlab/toy", "ours"
    seed: tuple[int, ...] = swept(range(2), "seed", low=0)
    presets = {"smoke": {}, "quick": {}}

    def variables(self):
        return {"value": Variable("value")}

    def cell(self, batch):
        return {"value": helper(batch.column("seed"))}
"""
FILES = {
    "__init__.py": "",
    "toy.py": TOY,
    "tools.py": "SCALE = 2.0\n\n\ndef helper(x):\n    return SCALE * x\n",
    "table.py": "TABLE = []\n\ndef kept(f):\n    TABLE.append(f)\n    return f\n",
}
GROUP = "[tacit.experiments]\nourlab/toy = ourlab.toy:Toy\n"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install the plug-in, with a change, as the only one on this machine, or on another."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    paths = list(sys.path)

    def forget():
        for name in [n for n in sys.modules if n.partition(".")[0] == "ourlab"]:
            del sys.modules[name]
        cell_room._class_at.cache_clear()
        cell_room._code_here.cache_clear()
        importlib.invalidate_caches()

    def install(where, file="tools.py", old="", new=""):
        forget()
        site = tmp_path / where / "site-packages"
        for folder in ("ourlab", "ourlab-1.0.dist-info"):
            (site / folder).mkdir(parents=True)
        for name, text in FILES.items():
            changed = text.replace(old, new) if name == file else text
            (site / "ourlab" / name).write_text(changed)
        (site / "ourlab-1.0.dist-info" / "entry_points.txt").write_text(GROUP)
        (site / "ourlab-1.0.dist-info" / "METADATA").write_text("Name: ourlab\nVersion: 1.0\n")
        monkeypatch.setattr(sys, "path", [str(site), *paths])
        return site

    yield install
    forget()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("tools.py", "SCALE * x", "x * SCALE"),
        ("tools.py", "2.0", "3.0"),
        ("toy.py", 'column("seed"))', 'column("seed") + 1)'),
        ("toy.py", "x**2", "x**3"),  # which a decorator of its own has kept
    ],
)
def test_a_worker_with_another_installation_is_refused(installed, file, old, new):
    assert old in FILES[file]
    installed("here")
    kind = find_experiment("ourlab/toy")
    code = fingerprint(kind)
    values = {"seed": (0, 1)}
    sent = pickle.dumps(ExperimentCell(kind.source, kind.version, values, code))
    batch = Batch(0, ({"seed": 0}, {"seed": 1}))

    installed("there", file, old, new)
    with pytest.raises(ValueError, match="this worker has other code of ourlab/toy than the run"):
        pickle.loads(sent)(batch, values)
    installed("the same")
    assert list(pickle.loads(sent)(batch, values)["value"]) == [0.0, 2.0]


def test_so_is_one_that_cannot_read_its_code(installed, monkeypatch):
    installed("here")
    kind = find_experiment("ourlab/toy")
    cell = ExperimentCell(kind.source, kind.version, {"seed": (0,)}, fingerprint(kind))
    monkeypatch.setattr(cell_room, "_code_here", functools.cache(lambda kind: None))
    with pytest.raises(ValueError, match="or cannot read it: install the same tacit and the same"):
        cell(Batch(0, ({"seed": 0},)), {})


def test_a_worker_that_lives_on_loads_an_edited_file_again(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(TOY.replace("from ourlab.tools import helper\nfrom .table import kept\n", "")
                    .replace("@kept\n", "").replace("helper(", "1.0 * ("))  # fmt: skip
    batch = Batch(0, ({"seed": 1},))
    answers = []
    for old, new in (("", ""), ("1.0 *", "5.0 *")):
        file.write_text(file.read_text().replace(old, new))
        kind = find_experiment(str(file))
        cell = ExperimentCell(kind.source, kind.version, {"seed": (1,)}, fingerprint(kind))
        answers += list(cell(batch, {})["value"])
    assert answers == [1.0, 5.0]


def test_a_class_that_a_worker_imports_is_looked_at_there_too(installed):
    installed("here")
    kind = find_experiment("ourlab/toy")
    cell = ExperimentCell(kind, kind.version, {"seed": (0,)}, "0" * 32)
    batch = Batch(0, ({"seed": 0},))
    assert list(cell(batch, {})["value"]) == [0.0]  # made here, by this very class
    elsewhere = SimpleNamespace(**vars(cell) | {"made_in": "elsewhere"})
    with pytest.raises(ValueError, match="this worker has other code of ourlab/toy"):
        ExperimentCell(**vars(elsewhere))(batch, {})
