"""A store that tacit 0.2.0 wrote: it is read, continued and merged, and never rewritten."""

import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
import xarray

from tacit.store import Store

MADE = Path(__file__).parents[1] / "store" / "store_of_0_2_0"

# The experiment that wrote it.
EXPERIMENT = '''
"""How long lamps burn."""

import numpy as np

from tacit.draw import Axis, Figure, Line, Panel
from tacit.experiments import Claims, Experiment, Variable, fixed, swept


class Lamp(Experiment):
    """How long lamps burn."""

    id, figure = "mine/lamp", "Figure 1"
    version = 1

    power: tuple[int, ...] = swept((1, 2), "power", low=1, units="W")
    seed: tuple[int, ...] = swept(range(2), "seed", low=0)
    length: int = fixed(3, "numbers kept of each lamp", low=1, high=100)

    presets = {"smoke": dict(power=1), "quick": {}, "paper": {}}
    batch_by = "power"

    def variables(self):
        return {
            "burnt": Variable("burning time", "moment", "side", units="h"),
            "tone": Variable("tone", dtype="complex128"),
            "count": Variable("count", dtype="int32"),
            "lit": Variable("whether it is lit", "moment", dtype="bool"),
            "colour": Variable("colour", dtype="str"),
        }

    def coordinates(self):
        return {"moment": np.arange(self.length), "side": np.arange(2)}

    def cell(self, batch):
        cells = np.array([[cell["power"], cell["seed"]] for cell in batch.cells], float)
        power, seed = cells.T
        moments = np.arange(self.length)
        burnt = power[:, None, None] + seed[:, None, None] / 8 + moments[:, None] + [0.0, 0.25]
        return {
            "outcome": np.where(seed == 1, "diverged", "converged"),
            "burnt": np.asfortranarray(burnt),
            "tone": power + 1j * seed,
            "count": (10 * power + seed).astype(np.int32),
            "lit": (moments + power[:, None]) % 2 == 0,
            "colour": np.where(power > 1, "blåvit", "gul"),
        }

    def claims(self, runs):
        claim = Claims("nowhere")
        claim.value("burns", runs["burnt"].min(), says="lamps burn", at_least=0)
        return claim

    def draw(self, runs):
        line = Line(np.array(self.power), runs["burnt"].mean(["moment", "side", "seed"]).values)
        return Figure("lamps", [Panel("lamps", Axis("power"), Axis("time"), [line])])
'''


@pytest.fixture
def old(tacit):
    """The store, where a run would look for it, beside its experiment."""
    (tacit.folder / "lamp.py").write_text(EXPERIMENT)
    store = tacit.folder / "results" / "mine" / "lamp" / "store"
    shutil.copytree(MADE, store)
    return store


def opened(store):
    return xarray.open_zarr(store / "results.zarr").drop_attrs().load()


def fresh(tacit, *options):
    """What the same command computes where nothing is stored."""
    assert tacit("reproduce", "lamp.py", "--results", "fresh", *options).returncode == 0
    return opened(tacit.folder / "fresh" / "mine" / "lamp" / "store")


def test_it_is_read(tacit, old):
    before = {path.name: path.read_bytes() for path in (old / "parts").iterdir()}
    assert len(before) == 2
    (row,) = json.loads(tacit("status", "--json").stdout)["stores"]
    assert (row["cells"], row["done"], row["missing"]) == (4, 4, 0)
    assert row["outcomes"] == {"converged": 2, "diverged": 2}
    done = tacit("reproduce", "lamp.py", "--accept-changed")
    assert done.returncode == 0, done.stderr
    assert "2 of 2 batches were stored already" in done.stdout.replace("\n", " ")
    assert {path.name: path.read_bytes() for path in (old / "parts").iterdir()} == before
    xarray.testing.assert_identical(opened(old), fresh(tacit))


def test_its_arrays_are_in_fortran_order_and_read_so(old):
    name = sorted(path.name for path in (old / "parts").iterdir())[1]
    with zipfile.ZipFile(old / "parts" / name) as archive:
        assert b"'fortran_order': True" in archive.read("burnt.npy")
    found = Store.existing(old, read_only=True).read(name, ["burnt", "colour", "tone", "lit"])
    moments = np.arange(3.0)[:, None]
    for seed in (0, 1):
        np.testing.assert_array_equal(found["burnt"][seed], 2 + seed / 8 + moments + [0, 0.25])
    assert found["colour"].tolist() == ["blåvit", "blåvit"]
    assert found["tone"].tolist() == [2, 2 + 1j]
    assert found["lit"].tolist() == [[True, False, True]] * 2


def test_it_is_continued(tacit, old):
    done = tacit("reproduce", "lamp.py", "--set", "power=1,2,3", "--accept-changed")
    assert done.returncode == 0, done.stderr
    suffixes = sorted(path.suffix for path in (old / "parts").iterdir())
    assert suffixes == [".npz", ".npz", ".safetensors"]
    assert [name[:6] for name in Store.existing(old).parts()] == ["000001", "000002", "000003"]
    xarray.testing.assert_identical(opened(old), fresh(tacit, "--set", "power=1,2,3"))


def test_it_is_merged_in_both_directions(tacit, old):
    assert tacit("reproduce", "lamp.py", "--set", "power=2,3", "--results", "new").returncode == 0
    new = tacit.folder / "new" / "mine" / "lamp" / "store"
    into_new = tacit("merge", str(old), "--into", str(new), "--json")
    assert json.loads(into_new.stdout)["stores"][0]["new_cells"] == 2
    assert json.loads(into_new.stdout)["stores"][0]["warnings"] == []
    into_old = tacit("merge", str(new), "--into", str(old), "--json")
    assert json.loads(into_old.stdout)["stores"][0]["new_cells"] == 2
    for store in (old, new):
        again = Store.existing(store, read_only=True)
        assert again.warnings == []
        assert len(again) == 6
        assert {Path(name).suffix for name in again.parts()} == {".npz", ".safetensors"}


def test_damage_to_it_is_noticed(tacit, old):
    (part, _) = sorted((old / "parts").iterdir())
    data = bytearray(part.read_bytes())
    data[700] ^= 1
    part.write_bytes(bytes(data))
    done = tacit("status")
    assert f"{part.name} is not whole" in done.stderr + done.stdout
    assert "2 done" in done.stdout
