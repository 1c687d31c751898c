"""Where experiments are found, and the sentence when they are not."""

import os
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from tacit.experiments import UsageError
from tacit.reproduction import experiment_ids, find_experiment, list_experiments

GROUP = "tacit.experiments"  # the group of entry points, as the documentation has it


def test_a_file_of_the_users_own(toy):
    experiment = find_experiment(str(toy))
    assert (experiment.id, experiment.source) == ("toy/die", f"{toy}:Die")
    assert find_experiment(f"{toy}:Die").id == "toy/die"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lowdim/fig1", "experiment: 'lowdim/fig1' is not known, did you mean 'lowdim/fig1a'"),
        ("", "experiment: '' is not known, known: .*connectivity/fig1, "),
        ("nowhere.py", "there is no file 'nowhere.py'"),
        ("nowhere.py:Die", "there is no file 'nowhere.py'"),
    ],
)
def test_unknown_names(name, words):
    with pytest.raises(UsageError, match=words):
        find_experiment(name)


@pytest.mark.parametrize(
    ("text", "suffix", "words"),
    [
        ("x = 1", "", "must define one Experiment, it has none with an id"),
        ("x = (", "", "could not be loaded: SyntaxError"),
        ("import no_such_module", "", "could not be loaded: ModuleNotFoundError"),
        ("TOY", ":Dye", "has no experiment 'Dye', did you mean 'Die'"),
        ("TOY\nclass Other(Die):\n    id = 'toy/other'", "", r"several \(Die, Other\): write"),
        ("TOY\nDie.id = 'Not An Id'", "", "the form is 'paper/figure'"),
        ("TOY\nDie.id = '../up'", "", "the form is 'paper/figure'"),
        ("TOY\nDie.version = 0", "", "version is 0"),
        ("TOY\nDie.at_once = 0", "", "at_once is 0, it must be a whole number from 1 on"),
        ("TOY\nDie.at_once = True", "", "at_once is True"),
        ("TOY\nDie.summary = ''", "", r"lacks the class attributes \['summary'\]"),
        ("TOY\nDie.presets = {'quick': 3}", "", r"presets\['quick'\] is 3, give a dict"),
        ("TOY\nDie.presets = {'quick': {'sids': 3}}", "", r"presets\['quick'\] names \['sids'\]"),
        (
            "TOY\nDie.presets = {'quick': {'sides': 1}}",
            "",
            r"^Die\.presets\['quick'\]: sides: received 1, allowed is",
        ),
        ("TOY\nDie.chunk = {'depth': 4}", "", r"^Die\.chunk: \['depth'\] are not axes"),
        ("TOY\nDie.batch_by = ('depth',)", "", r"^Die\.batch_by: \['depth'\] are not axes"),
        (
            "TOY\nclass Mine(Die):\n    id = 'toy/mine'\n    gain: float = fixed(1, 'gain')",
            ":Mine",
            r"Mine\.gain is annotated as float, but its default 1 is int: write 1\.0",
        ),
        (
            "TOY\nclass Mine(Die):\n    id = 'toy/mine'\n"
            "    rate: 'tuple[float, ...]' = swept((1, 2), 'rate')",
            ":Mine",
            r"default \(1, 2\) is tuple\[int, \.\.\.\]: write \(1\.0, 2\.0\)",
        ),
        (
            "TOY\nclass Mine(Die):\n    id = 'toy/mine'\n    throws: int = 10",
            ":Mine",
            r"is annotated as int, .*: annotate it as tuple\[int, \.\.\.\]",
        ),
        ("TOY\nclass Half(Experiment): pass", ":Half", "has no experiment 'Half', known: Die"),
    ],
)
def test_files_that_do_not_hold_an_experiment(toy, text, suffix, words):
    toy.write_text(text.replace("TOY", toy.read_text()))
    with pytest.raises(UsageError, match=words) as caught:
        find_experiment(f"{toy}{suffix}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ("None", r"toy/die: variables\(\) returned None, give a dict"),
        ("{'error': 'the error'}", "has 'the error' for 'error', give a Variable"),
        ("{'sides': Variable('sides')}", r"\['sides'\] are used twice among the names of param"),
    ],
)
def test_what_is_stored_is_checked_with_the_class(toy, variables, words):
    mine = f"class Mine(Die):\n    id = 'toy/die'\n    def variables(self): return {variables}"
    toy.write_text(f"{toy.read_text()}\n{mine}")
    with pytest.raises(UsageError, match=f"^toy/die: .*{words.removeprefix('toy/die: ')}"):
        find_experiment(f"{toy}:Mine")
    # Without its data it may not know what it stores.
    toy.write_text(f"{toy.read_text()}\n    def missing(self): return 'there are no dice'")
    assert find_experiment(f"{toy}:Mine").id == "toy/die"


def test_a_missing_method_is_named(toy):
    toy.write_text(toy.read_text().replace("def cell(", "def sell("))
    with pytest.raises(UsageError, match=r"abstract.* '?cell"):
        find_experiment(str(toy))


@pytest.mark.parametrize(
    "name",
    ["preset", "missing", "counts", "parameters", "check", "id", "figure", "version", "source"],
)
def test_names_that_tacit_keeps(toy, name):
    field = f'    {name}: float = fixed(0.5, "of no use")\n'
    toy.write_text(toy.read_text().replace("    sides: int", f"{field}    sides: int", 1))
    with pytest.raises(UsageError, match=rf"Die has fields \['{name}'\]: tacit uses these names"):
        find_experiment(str(toy))


def test_a_subclass_is_not_found_where_its_base_is(toy):
    found = find_experiment(str(toy))

    class Mine(found):
        id = "toy/mine"

    assert found.source is not None
    assert Mine.source is None  # a worker that looked there would run the base's cell


def test_entry_points(toy, monkeypatch):
    monkeypatch.syspath_prepend(str(toy.parent))
    points = [
        EntryPoint("toy/die", "die:Die", GROUP),
        EntryPoint("toy/broken", "no_such_module:X", GROUP),
        EntryPoint("toy/dice", "die:Die", GROUP),  # under another name
        EntryPoint("lowdim/fig1a", "die:Die", GROUP),  # cannot take over
    ]
    built_in = [entry.id for entry in list_experiments()]
    monkeypatch.setattr(
        "tacit.reproduction._listing.entry_points",
        lambda group: points if group == GROUP else [],
    )
    assert experiment_ids() == [*built_in, "toy/broken", "toy/dice", "toy/die"]
    assert find_experiment("toy/die").source == "toy/die"
    with pytest.raises(UsageError, match="'toy/broken' from no_such_module:X could not be loaded"):
        find_experiment("toy/broken")
    with pytest.raises(UsageError, match="'toy/dice' from die:Die has the id 'toy/die'"):
        find_experiment("toy/dice")
    with pytest.warns(RuntimeWarning, match="toy/") as caught:
        found = list_experiments()[len(built_in) :]
    assert len(caught) == 2  # the broken one and the one under another name
    (entry,) = found
    assert (entry.id, entry.at, entry.figure) == ("toy/die", "die:Die", "Figure 1")
    assert entry.summary == "the error of a mean against the number of throws"


def test_the_list_of_experiments_needs_nothing_heavy():
    code = """
import sys
import tacit.claims, tacit.experiments, tacit.store, tacit.sweep
from tacit.reproduction import experiment_ids, list_experiments
assert len(list_experiments()) == len(experiment_ids()) > 50
heavy = {"jax", "jaxtyping", "equinox", "xarray", "zarr", "pandas", "matplotlib", "plotly", "scipy"}
assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
