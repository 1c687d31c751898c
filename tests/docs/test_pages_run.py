"""The pages of the documentation and the README: their code runs here, with less work."""

import ast
import importlib
import re
import sys
import types
from pathlib import Path

import jax
import numpy as np
import pytest
import xarray
from IPython.core.formatters import DisplayFormatter

import tacit
from tacit.claims import Claims
from tacit.models import DeepFactorisation

DOCS = Path(__file__).parents[2] / "docs"
# The same code with less work; each must be there once.
SHORTER = {
    "tour.md": {"jax.random.key(0), 100)": "jax.random.key(0), 2)", "Stop(2_000)": "Stop(5)"},
    "notebooks/threshold.md": {
        "seed=range(15))": "seed=range(2))",
        "(len(lengths), 15)": "(len(lengths), 2)",
        "Stop(10_000, loss=1e-12)": "Stop(5, loss=1e-12)",
    },
    "notebooks/own-rnn.md": {
        "jax.random.key(1), 100)": "jax.random.key(1), 2)",
        "steps = 600": "steps = 50",
    },
    "notebooks/matrix.md": {
        "(2, 3, 4)": "(2,)",
        "jax.random.key(depth), 10)": "jax.random.key(depth), 2)",
        "Stop(20_000, loss=1e-8)": "Stop(20, loss=1e-8)",
    },
    "own-parts.md": {},
    "precision.md": {},
    "checkpoints.md": {},
    "claims.md": {},
    "complete.md": {"size=(30, 2)": "size=(8, 2)", "size=(2, 20)": "size=(2, 7)",
                    "DeepMatrixCompleter()": "DeepMatrixCompleter(depth=2, weight_decay=0.0)"},
    "connectivity.md": {"random(256,": "random(6,",
                        "jax.random.key(1), 5)": "jax.random.key(1), 2)", "batch=32": "batch=2",
                        "Stop(1000)": "Stop(2)", "large_n(0.6, targets=2.0)": "exact_g0(0.5)"},
    "flow.md": {},
    "identify.md": {"size=(600, 1)": "size=(120, 1)", "size=600": "size=120", ":400], ": ":80], ",
                    ":400])": ":80])", "[400:]": "[80:]", "held_out=0.25": "held_out=0.2",
                    "LinearSystemIdentifier()": "LinearSystemIdentifier(order=3)"},
    "kernel.md": {"(50, 10, 1)), np": "(4, 5, 1)), np", "size=(50, 10, 1))\n": "size=(4, 5, 1))\n",
                  "lag_weights(10,": "lag_weights(5,", "random(1000,": "random(8,",
                  "Stop(100)": "Stop(3)"},
    "regimes.md": {},
    "running.md": {
        '("results/lowdim/fig1a/store/results.zarr")': "(store)",
        '("results/lowdim/fig1a/store/results.zarr", group': "(store, group",
    },
    "schedules.md": {"(100, 100, counts=(2000, 3000)": "(6, 6, counts=(18, 24)",
                     "Stop(100_000, loss=1e-10)": "Stop(20, loss=1e-10)"},
    "ssm.md": {"0.999), 16,": "0.999), 2,", "12, longest=36": "3, longest=5"},
    "verify.md": {},
}  # fmt: skip


def assumed(page, results):
    """What a page takes for granted: names that its words introduce, not its code."""
    rng = np.random.default_rng(0)
    W0, change = rng.normal(size=(2, 12, 12)) / 12**0.5
    if page == "claims.md":
        axes = {"seed": range(9), "length": [9, 11]}
        errors = xarray.DataArray(rng.random((9, 2)), axes)
        return {"errors": errors, "reached": errors < 0.5, "claim": Claims("nowhere")}
    if page == "connectivity.md":
        return {
            "W0": W0, "W": W0 + 0.1 * change,
            "loss": lambda W: float(np.sum((W - W0 - 0.1 * change) ** 2)),
            "initial_loss": 1.0, "g": 1.0, "loss_curve": np.exp(-np.arange(60.0)),
            "w": rng.normal(size=12), "m": rng.normal(size=12),
        }  # fmt: skip
    if page == "flow.md":
        return {"model": {"a": np.ones(2)}, "problem": lambda model: (model["a"] ** 2).sum()}
    if page == "running.md":
        tacit.reproduce("lowdim/threshold", preset="smoke", results=results)
        return {"store": results / "lowdim" / "threshold" / "store" / "results.zarr"}
    if page == "schedules.md":
        key = jax.random.key(0)
        model = DeepFactorisation.random((6, 6, 6), scale=0.1, key=key)
        return {"model": model, "key": key, "target": rng.normal(size=(6, 6))}
    if page == "verify.md":
        names = ("_nearly_fitted", "_with_negative")
        return {name: lambda rng: {"width": 4, "target": 1.3} for name in names}
    return {}


SILENT = ("claims.md", "complete.md", "identify.md")  # they end with what is saved or noted
README = Path(__file__).parents[2] / "README.md"
README_SHORTER = {
    "order=[2, 8]": 'preset="smoke"',
    "jax.random.key(0), 100)": "jax.random.key(0), 2)",
    "Stop(15_000, loss=1e-12)": "Stop(20, loss=1e-12)",
    "Diagonal, 40,": "Diagonal, 6,",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """One folder for all pages: what two of them run is computed once."""
    return tmp_path_factory.mktemp("results")


@pytest.mark.parametrize("page", SHORTER)
def test_the_code_of_a_page_runs(page, results, tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_RESULTS", str(results))
    monkeypatch.chdir(tmp_path)
    # The page's cluster is nobody's here; what needs it stands behind `if __name__ == …`.
    cluster = types.SimpleNamespace(SLURMCluster=None)
    monkeypatch.setitem(sys.modules, "dask_jobqueue", cluster)
    # The statement that a page shows is one of ours: there it has the registry for itself.
    monkeypatch.setattr("tacit.statements._statement.REGISTERED", {})
    text = (DOCS / page).read_text(encoding="utf-8")
    for long, short in SHORTER[page].items():
        assert text.count(long) == 1, long
        text = text.replace(long, short)
    names = assumed(page, results) | {"__name__": "page"}
    blocks = re.findall(r"```(?:python|\{code-cell\} ipython3)\n(.*?)```", text, re.DOTALL)
    assert blocks
    for block in blocks:
        *before, last = ast.parse(block).body
        exec(compile(ast.Module(before, []), page, "exec"), names)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), page, "eval"), names)
            assert shown is not None or page in SILENT
        else:
            exec(compile(ast.Module([last], []), page, "exec"), names)
    if page == "own-parts.md":
        assert names["result"].outcome == "converged"
        assert abs(float(names["result"].model["b"]) + 3) < 1e-6
    if page == "precision.md":
        assert str(names["double"].model.dtype) == "float64"
        assert str(names["single"].model.dtype) == "float32"
    if page == "complete.md":
        assert (tmp_path / "completion.png").is_file()
    if page == "schedules.md":
        assert list(names["result"]) == ["pre", "warm", "cold"]


def test_every_page_with_code_is_run():
    elsewhere = {"descend.md", "own-experiment.md"}  # in tests of their own
    pages = {
        page.relative_to(DOCS).as_posix()
        for page in DOCS.rglob("*.md")
        if re.search(r"^```(python|\{code-cell\})", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {page for page in pages if not page.startswith(("_build", "api/"))} == (
        SHORTER.keys() | elsewhere
    )


@pytest.mark.parametrize("page", sorted(p.name for p in DOCS.glob("*.md")))
def test_names_that_a_page_imports_are_there(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tacit"):
                module = importlib.import_module(node.module)
                for alias in node.names:
                    assert hasattr(module, alias.name), f"{node.module}.{alias.name}"


def test_every_page_is_in_the_contents():
    listed = set(re.findall(r"^([\w/-]+)$", (DOCS / "index.md").read_text(), re.MULTILINE))
    pages = {p.relative_to(DOCS).with_suffix("").as_posix() for p in DOCS.rglob("*.md")}
    pages = {p for p in pages if not p.startswith(("_build", "api/"))} - {"index"}
    assert pages <= listed


@pytest.fixture(scope="module")
def shown(results):
    """What a notebook shows below each block: the last value by kind, and what was printed."""
    text = README.read_text(encoding="utf-8")
    for long, short in README_SHORTER.items():
        assert text.count(long) == 1, long
        text = text.replace(long, short)
    names, formatter, found = {}, DisplayFormatter(), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TACIT_RESULTS", str(results))
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            *before, last = ast.parse(block).body
            assert isinstance(last, ast.Expr), "a block ends with what it shows"
            exec(compile(ast.Module(before, []), str(README), "exec"), names)
            value = eval(compile(ast.Expression(last.value), str(README), "eval"), names)
            found.append(formatter.format(value)[0])
    return found


def test_pictures_and_tables_and_few_lines_of_text(shown):
    pages = [kinds.get("text/html", "") for kinds in shown]
    assert sum("<img" in page for page in pages) >= 2
    assert sum("<table" in page for page in pages) >= 2
    bare = [k["text/plain"] for k in shown if not k.keys() & {"text/html", "image/png"}]
    assert sum(len(text.splitlines()) for text in bare) <= 60
    assert sum("image/png" in kinds for kinds in shown) == 1
    assert next(k for k in shown if "image/png" in k)["image/png"].startswith(b"\x89PNG")


def test_objects_of_ours_say_what_they_are_in_ten_lines(shown):
    texts = [k["text/plain"] for k in shown if "xarray.Dataset" not in k["text/plain"]]
    assert [text for text in texts if len(text.splitlines()) > 10] == []
    assert max(len(line) for text in texts for line in text.splitlines()) <= 100
    assert texts[0].startswith("lowdim/threshold at smoke")
    assert texts[-1].startswith("DescentResult: ")
