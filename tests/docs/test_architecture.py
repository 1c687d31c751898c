"""The page on how tacit is built: the walk that it describes is the one that a run takes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

# In a process of its own: what other tests have imported or compiled would hide steps.
TRACE = """
import cProfile, sys
from pathlib import Path
import tacit
root = Path(tacit.__file__).parent
within = str(root)
profile = cProfile.Profile(subcalls=False, builtins=False)
from tacit.cli import main
sizes = ["--set", "length=10,11", "--set", "teacher=well-conditioned", "--seeds", "1"]
sizes += ["--set", "method=adam,flow"]
profile.enable()
try:
    main(["reproduce", "lowdim/fig1a", "--preset", "smoke", *sizes, "--results", sys.argv[1]])
except SystemExit as end:
    assert end.code == 3, end.code  # one seed decides nothing
profile.disable()
codes = [entry.code for entry in profile.getstats() if not isinstance(entry.code, str)]
# Class bodies and modules run when they are imported; only functions are part of the walk.
seen = {c.co_filename for c in codes if c.co_flags & 1 and c.co_filename.startswith(within)}
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
