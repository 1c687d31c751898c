"""The page on how tacit is built: the walk that it describes is the one that a run takes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

# In a process of its own: what other tests have imported or compiled would hide steps. Functions of
# ours note their file when they are called; a profiler would see all of JAX too, and takes longer.
TRACE = """
import ast, builtins, importlib.machinery, sys
from pathlib import Path

seen = builtins._files_of_the_walk = set()
note = ast.parse("_files_of_the_walk.add(__file__)").body

class Noting(importlib.machinery.SourceFileLoader):
    def get_code(self, name):
        tree = ast.parse(self.get_source(name))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                first = int(ast.get_docstring(node) is not None)
                node.body[first:first] = note
        return compile(ast.fix_missing_locations(tree), self.path, "exec")

class Finder(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] != "tacit":
            return None
        spec = super().find_spec(name, path, target)
        spec.loader = Noting(name, spec.origin)
        return spec

sys.meta_path.insert(0, Finder)
import tacit
from tacit.cli import main
root = Path(tacit.__file__).parent
sizes = ["--set", "length=10,11", "--set", "teacher=well-conditioned", "--seeds", "1"]
sizes += ["--set", "method=adam,flow"]
seen.clear()  # of what decorators have called
try:
    main(["reproduce", "lowdim/fig1a", "--preset", "smoke", *sizes, "--results", sys.argv[1]])
except SystemExit as end:
    assert end.code == 3, end.code  # one seed decides nothing
print("\\n".join(sorted(Path(file).relative_to(root).as_posix() for file in seen)))
"""


@pytest.fixture(scope="module")
def walk():
    """The files that the page names on the walk."""
    section = PAGE.split("## One run")[1].split("\n## ")[0]
    return set(re.findall(r"`([a-z]+/[\w/]+\.py)`", section))


def test_the_walk_has_at_most_45_files(walk):
    assert len(walk) <= 45


def test_a_run_passes_through_every_file_of_the_walk_and_no_other_of_an_experiment(
    walk, tmp_path, environment_in_short
):
    environment = environment_in_short | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", TRACE, str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    run = {line for line in done.stdout.splitlines() if re.fullmatch(r"[\w/]+\.py", line)}
    assert walk <= run, f"not on the way: {sorted(walk - run)}"
    own = {file for file in run if file.startswith("experiments/lowdim/")}
    assert own <= walk, f"missing on the page: {sorted(own - walk)}"


def test_every_room_is_on_the_page():
    rooms = {path.parent.name for path in (ROOT / "src" / "tacit").glob("*/__init__.py")}
    assert rooms == set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
