"""The pages of the documentation and the README: their code runs here, with less work."""

import ast
import importlib
import re
from pathlib import Path

import pytest
from IPython.core.formatters import DisplayFormatter

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
}


README = Path(__file__).parents[2] / "README.md"
README_SHORTER = {
    'reproduce("lowdim/fig1a", width=[40, 100])': 'reproduce("lowdim/threshold", preset="smoke")',
    "tacit.reproduce(Fig3b(width=(40, 100)))": "run",  # a dataset is a dataset
    "jax.random.key(0), 100)": "jax.random.key(0), 2)",
    "Stop(15_000, loss=1e-12)": "Stop(20, loss=1e-12)",
    "GaussNewton(), rtol": "rtol",  # a solver that compiles in less time
    "Stop(10_000)": "Stop(20)",
    "Diagonal, 40,": "Diagonal, 6,",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """One folder for all pages: what two of them run is computed once."""
    return tmp_path_factory.mktemp("results")


@pytest.mark.parametrize("page", SHORTER)
def test_the_code_of_a_page_runs(page, results, monkeypatch):
    monkeypatch.setenv("TACIT_RESULTS", str(results))
    monkeypatch.chdir(results)
    text = (DOCS / page).read_text(encoding="utf-8")
    for long, short in SHORTER[page].items():
        assert text.count(long) == 1, long
        text = text.replace(long, short)
    names = {}
    blocks = re.findall(r"```(?:python|\{code-cell\} ipython3)\n(.*?)```", text, re.DOTALL)
    assert blocks
    for block in blocks:
        *before, last = ast.parse(block).body
        exec(compile(ast.Module(before, []), page, "exec"), names)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), page, "eval"), names)
            assert shown is not None
        else:
            exec(compile(ast.Module([last], []), page, "exec"), names)
    if page == "own-parts.md":
        assert names["result"].outcome == "converged"
        assert abs(float(names["result"].model["b"]) + 3) < 1e-6
    if page == "precision.md":
        assert str(names["double"].model.dtype) == "float64"
        assert str(names["single"].model.dtype) == "float32"


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
    assert sum("<table" in page for page in pages) >= 3
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
