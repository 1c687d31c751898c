"""Write down the version of each built-in experiment beside the digest of its cell's text.

    python tools/cells.py

`tests/reproduction/test_cell_versions.py` compares them with the code. Run it after a change that
moves no number, or after the experiment's `version` was raised.
"""

import json
from pathlib import Path

from tacit.reproduction import experiment_ids, find_experiment
from tacit.reproduction._fingerprint import text_digest

FILE = Path(__file__).resolve().parents[1] / "tests/reproduction/cells.json"


def found() -> dict[str, list[int | str]]:
    """Version and digest of each experiment, by its id."""
    kinds = {name: find_experiment(name) for name in sorted(experiment_ids())}
    return {name: [kind.version, text_digest(kind)] for name, kind in kinds.items()}


if __name__ == "__main__":
    FILE.write_text(json.dumps(found(), indent=1) + "\n")
