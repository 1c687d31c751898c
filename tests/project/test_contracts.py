"""The shape of the project: the rooms' import arrows, light imports, no global state."""

import json
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


def test_rooms_import_only_what_stands_below_them():
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_importing_tacit_changes_no_setting_of_jax():
    code = """
import json, jax
before = dict(jax.config.values)
import tacit, tacit.descent, tacit.models, tacit.measures, tacit.problems, tacit.experiments
import tacit.statements
import tacit.experiments.lowdim.fig1a
after = dict(jax.config.values)
print(json.dumps([sorted(k for k in after if repr(after[k]) != repr(before.get(k))), len(before)]))
"""
    changed, count = json.loads(child(code))
    assert changed == []
    assert count > 50  # that many settings were looked at


@pytest.mark.parametrize(
    "statement",
    [
        "import tacit",
        "import tacit.experiments",
        "from tacit.cli import main",
        "import tacit.draw",
        "import tacit.statements; tacit.statements.paper_names()",
    ],
)
def test_light_imports_leave_heavy_libraries_alone(statement):
    heavy = ["jax", "equinox", "optax", "xarray", "matplotlib", "plotly", "scipy", "pandas"]
    code = f"import sys\n{statement}\nprint([name for name in {heavy} if name in sys.modules])"
    assert child(code).strip() == "[]"


def test_metadata_of_every_experiment_comes_without_jax():
    code = """
import sys
from tacit.experiments import list_experiments
for experiment in list_experiments():
    for preset, config in experiment.presets.items():
        experiment.variables(config); experiment.coordinates(config); experiment.grid(config)
print("jax" in sys.modules, len(list_experiments()))
"""
    jax_loaded, count = child(code).split()
    assert jax_loaded == "False"
    assert int(count) >= 1


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
