"""What answers without importing anything heavy: the list, the help, the state of a store."""

import json
import os
import subprocess
import sys

import pytest

HEAVY = (
    "jax", "equinox", "optax", "xarray", "zarr", "pandas", "matplotlib", "plotly", "scipy",
)  # fmt: skip
CODE = f"""
import contextlib, io, sys
from tacit.cli import main
out = io.StringIO()
with contextlib.redirect_stdout(out):
    try:
        main(sys.argv[1:])
    except SystemExit as end:
        code = end.code
print(code, [name for name in {HEAVY} if name in sys.modules])
print(out.getvalue())
"""


def asked(folder, *arguments):
    """What a process of its own answers, and which heavy libraries it imported for it."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-c", CODE, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    first, _, answer = done.stdout.partition("\n")
    assert first == "0 []", done.stdout
    return answer


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["list"], "memoryless/fig5"),
        (["list", "--json"], '"id": "memoryless/fig5"'),
        (["--help"], "reproduce"),
        (["reproduce", "--help"], "--preset"),
        (["--version"], "tacit 0."),
    ],
)
def test_the_list_and_the_help(tmp_path, arguments, words):
    assert words in asked(tmp_path, *arguments)


def test_the_state_of_a_store(tacit):
    assert tacit("reproduce", "lamp.py", "--set", "poisoned=1").returncode == 1
    for target in (["mine/lamp"], ["results"], []):
        record = json.loads(asked(tacit.folder, "status", *target, "--json"))
        (row,) = record["stores"]
        assert (row["experiment"], row["cells"], row["done"]) == ("mine/lamp", 16, 15)
        assert row["outcomes"] == {"converged": 11, "diverged": 4}
