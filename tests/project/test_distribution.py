"""What the package is called where people install it."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
# `pip install tacit` and `tacit[report]` are the package of somebody else.
FOREIGN = re.compile(r"pip install\s+(-\S+\s+)*['\"]?tacit(?!-lab)\b|\btacit\[[a-z]+\]")


def test_nothing_tells_anybody_to_install_the_package_of_somebody_else():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == "tacit-lab"
    texts = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    for folder, ending in (("docs", "*.md"), ("docs", "*.ipynb"), ("src", "*.py"), ("tools", "*")):
        texts += [file for file in (ROOT / folder).rglob(ending) if file.is_file()]
    assert len(texts) > 600
    found = {}
    for file in texts:
        if "_build" not in file.parts and file.suffix != ".pyc":
            found[file.name] = [m.group() for m in FOREIGN.finditer(file.read_text())]
    assert {name: words for name, words in found.items() if words} == {}


def test_the_pattern_finds_what_it_is_for():
    for words in (
        "pip install tacit",
        "pip install 'tacit[torch]'",
        "pip install -U tacit",
        "tacit[all]",
    ):
        assert FOREIGN.search(words), words
    for words in ("pip install tacit-lab", "pip install '.[report]'", "tacit [papers]"):
        assert not FOREIGN.search(words), words
