"""Notebooks whose data are not part of the project: what they show is stored, and is still so."""

import ast
import json
from pathlib import Path

import pytest

from tacit.data import DAISY, JESTER

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
# The same code with less work; each must be there once.
SHORTER = {
    "hair-dryer": {"(step=dryer.step)": "(step=dryer.step, max_order=2, width=0)"},
    "jokes": {
        "= jester()": "= jester()[:100]",
        "Completer()": "Completer(depth=2)",
    },
}
SOURCES = {"hair-dryer": DAISY, "jokes": JESTER}


def code_cells(name):
    stored = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    return [cell for cell in stored["cells"] if cell["cell_type"] == "code"]


def test_every_stored_notebook_is_known_and_in_the_contents():
    assert {file.stem for file in FOLDER.glob("*.ipynb")} == set(SHORTER)
    contents = (FOLDER.parent / "index.md").read_text(encoding="utf-8")
    assert all(f"notebooks/{name}\n" in contents for name in SHORTER)


@pytest.mark.parametrize("name", SHORTER)
def test_every_cell_shows_what_it_came_to(name):
    kinds = []
    for cell in code_cells(name):
        assert cell["execution_count"] is not None
        (output,) = cell["outputs"]
        assert output["output_type"] == "execute_result"
        kinds.append(output["data"].keys())
    assert sum("text/html" in some or "image/png" in some for some in kinds) >= 3
    assert sum("text/markdown" in some for some in kinds) == 1


@pytest.mark.parametrize("name", SHORTER)
def test_the_code_runs_where_the_data_are_at_hand(name):
    if (sentence := SOURCES[name].missing()) is not None:
        pytest.skip(sentence)
    blocks = ["".join(cell["source"]) for cell in code_cells(name)]
    for long, short in SHORTER[name].items():
        assert sum(block.count(long) for block in blocks) == 1, long
        blocks = [block.replace(long, short) for block in blocks]
    names = {}
    for block in blocks:
        *before, last = ast.parse(block).body
        exec(compile(ast.Module(before, []), name, "exec"), names)
        assert eval(compile(ast.Expression(last.value), name, "eval"), names) is not None
