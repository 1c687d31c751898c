"""What answers without importing anything heavy: the list, the help, the state of a store."""

import json
import os
import subprocess
import sys

HEAVY = (
    "jax", "equinox", "optax", "xarray", "zarr", "pandas", "matplotlib", "plotly", "scipy",
)  # fmt: skip
CODE = f"""
import contextlib, io, json, sys
from tacit.cli import main
answers = []
for arguments in json.loads(sys.argv[1]):
    out, code = io.StringIO(), None
    with contextlib.redirect_stdout(out):
        try:
            main(arguments)
        except SystemExit as end:
            code = end.code
    answers.append([code, [name for name in {HEAVY} if name in sys.modules], out.getvalue()])
print(json.dumps(answers))
"""


def asked(folder, *commands):
    """What a process of its own answers to these commands, one after another.

    None of them imports a heavy library.
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(commands)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    answers = json.loads(done.stdout)
    for command, (code, heavy, answer) in zip(commands, answers, strict=True):
        assert (code, heavy) == (0, []), (command, answer)
    return [answer for _, _, answer in answers]


def test_the_list_and_the_help(tmp_path):
    words = {
        ("list",): "memoryless/fig5",
        ("list", "--json"): '"id": "memoryless/fig5"',
        ("--help",): "reproduce",
        ("reproduce", "--help"): "--preset",
        ("--version",): "tacit 0.",
    }
    for command, answer in zip(words, asked(tmp_path, *words), strict=True):
        assert words[command] in answer, command


def test_the_state_of_a_store(tacit):
    assert tacit("reproduce", "lamp.py", "--set", "poisoned=1").returncode == 1
    targets = (["mine/lamp"], ["results"], [])
    for answer in asked(tacit.folder, *(["status", *target, "--json"] for target in targets)):
        (row,) = json.loads(answer)["stores"]
        assert (row["experiment"], row["cells"], row["done"]) == ("mine/lamp", 16, 15)
        assert row["outcomes"] == {"converged": 11, "diverged": 4}
