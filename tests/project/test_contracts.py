"""The shape of the project: the rooms' import arrows, light imports, no global state."""

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def child(code: str) -> str:
    """What a fresh interpreter prints, with JAX's defaults."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# What each room may import of the others: the table of the design.
ENGINE = {"measures", "theory", "models", "problems", "descent", "claims", "store", "sweep", "draw"}
LOWEST = {
    "_types", "_errors", "_files", "_version", "_notebook", "_signatures", "_phases",
    "_own_modules", "_light_programs",
}  # fmt: skip
BASE = LOWEST | {"_doors", "_progress_bar", "_tensors"}
TOP = {"reproduction", "estimators", "checkpoints", "site", "explore"}
ARROWS = {
    **{name: set() for name in LOWEST},
    "_doors": LOWEST,
    "_progress_bar": LOWEST,
    "_tensors": LOWEST,
    "measures": BASE,
    "theory": BASE | {"measures"},
    "models": BASE | {"measures"},
    "problems": BASE | {"measures", "theory", "models"},
    **dict.fromkeys(("descent", "claims", "store", "draw", "data"), BASE),
    "sweep": BASE | {"store"},
    "experiments": BASE | ENGINE | {"data"},
    "statements": BASE | {"measures", "theory", "models", "problems", "descent", "claims"},
    "reproduction": BASE | ENGINE | {"data", "experiments", "statements"},
    "estimators": BASE | ENGINE | {"data", "experiments", "statements"},
    "checkpoints": BASE | ENGINE | {"data", "experiments", "statements"},
    "site": BASE | ENGINE | {"data", "experiments", "statements", *TOP} - {"site", "explore"},
    "explore": BASE | ENGINE | {"data", "experiments", "statements", *TOP} - {"explore"},
    "cli": BASE | ENGINE | {"data", "experiments", "statements", *TOP},
    "__main__": BASE | ENGINE | {"data", "experiments", "statements", *TOP, "cli"},
}


def lint_imports(source: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of pyproject.toml on the package in a folder."""
    return subprocess.run(
        [
            Path(sys.executable).with_name("lint-imports"),
            "--no-cache",
            "--config",
            ROOT / "pyproject.toml",
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=source,
        env={**os.environ, "PYTHONPATH": str(source), "COLUMNS": "200"},
    )


def test_rooms_import_only_what_stands_below_them():
    done = lint_imports(ROOT / "src")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_the_contracts_have_no_gaps(tmp_path):
    """A package of empty rooms in which every room imports all others: which arrows are refused?"""
    package = tmp_path / "tacit"
    package.mkdir()
    (package / "__init__.py").touch()
    for room in ARROWS:
        text = "".join(f"import tacit.{other}\n" for other in ARROWS if other != room)
        (package / f"{room}.py").write_text(text)
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    refused = set(re.findall(r"tacit\.(\w+) is not allowed to import tacit\.(\w+)", done.stdout))
    pairs = set(itertools.permutations(ARROWS, 2))
    assert refused == {(room, other) for room, other in pairs if other not in ARROWS[room]}


def test_every_room_is_in_a_layer(tmp_path):
    """A room without a layer is refused, though it imports nothing and nobody imports it."""
    package = tmp_path / "tacit"
    package.mkdir()
    for room in ("__init__", *ARROWS):
        (package / f"{room}.py").touch()
    assert lint_imports(tmp_path).returncode == 0
    (package / "cellar.py").touch()
    done = lint_imports(tmp_path)
    assert done.returncode == 1
    assert "tacit.cellar" in done.stdout + done.stderr


def test_importing_tacit_changes_no_setting_of_jax():
    code = """
import json, jax
before = dict(jax.config.values)
import tacit, tacit.descent, tacit.models, tacit.measures, tacit.problems, tacit.experiments
import tacit.reproduction, tacit.statements
import tacit.experiments.lowdim.fig1a
after = dict(jax.config.values)
print(json.dumps([sorted(k for k in after if repr(after[k]) != repr(before.get(k))), len(before)]))
"""
    changed, count = json.loads(child(code))
    assert changed == []
    assert count > 50  # that many settings were looked at


def test_light_imports_leave_heavy_libraries_alone():
    """One after another in one process; the command line's answers are tested in its own room."""
    light = [
        "import tacit",
        "import tacit.experiments, tacit.reproduction",
        "import tacit.draw",
        "import tacit.statements; tacit.statements.paper_names()",
    ]
    heavy = ["jax", "equinox", "optax", "xarray", "matplotlib", "plotly", "scipy", "pandas"]
    code = f"""
import sys
for statement in {light}:
    exec(statement)
    print(statement, [name for name in {heavy} if name in sys.modules])
"""
    assert child(code).splitlines() == [f"{statement} []" for statement in light]


def test_the_repository_speaks_of_the_project_alone():
    tracked = subprocess.run(
        ["git", "ls-files"], capture_output=True, text=True, check=False, cwd=ROOT
    ).stdout.split()
    if not tracked:
        pytest.skip("not a git checkout")
    forbidden = ["/" + "work/", "/" + "root/"]
    for name in tracked:
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".yaml", ".cff", ".json"} and path.exists():
            text = path.read_text(encoding="utf-8")
            assert not [word for word in forbidden if word in text], name
