"""An experiment in a file, cheap, that can be made slow or poisoned; and `tacit` to run it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tacit.cli import run

LAMP = '''
"""How long lamps burn: cells that sleep, and that fail when they are told to."""
import os
import time

import numpy as np

from tacit.draw import Axis, Figure, Line, Panel
from tacit.experiments import Claims, Experiment, Variable, fixed, swept


class Lamp(Experiment):
    """How long lamps burn."""

    id, figure = "mine/lamp", "Figure 1"
    version = 1

    power: tuple[int, ...] = swept((1, 2, 3, 4), "power", low=1, units="W")
    seed: tuple[int, ...] = swept(range(4), "seed", low=0)
    pause: float = fixed(0.0, "how long a batch takes", low=0.0, high=100.0)
    poisoned: int = fixed(-1, "the seed that fails at power 2", low=-1)
    length: int = fixed(3, "numbers kept of each lamp", low=1, high=10_000_000)

    presets = {"smoke": dict(power=1), "quick": {}, "paper": {}}
    batch_by = "power"

    def variables(self):
        return {"burnt": Variable("burning time", "moment", units="h")}

    def coordinates(self):
        return {"moment": np.arange(self.length)}

    def cell(self, batch):
        if "TACIT_TEST_LOG" in os.environ:
            with open(os.environ["TACIT_TEST_LOG"], "ab", buffering=0) as log:
                log.write(f"{batch.one('power')} {os.getpid()}\\n".encode())
        time.sleep(self.pause)
        if batch.one("power") == 2 and self.poisoned in batch.column("seed"):
            raise ArithmeticError("the filament broke")
        burnt = [
            np.random.default_rng([cell["power"], cell["seed"]]).exponential(size=self.length)
            for cell in batch.cells
        ]
        return {
            "outcome": np.where(batch.column("seed") == 3, "diverged", "converged"),
            "burnt": np.array(burnt),
        }

    def claims(self, runs):
        claim = Claims("nowhere")
        claim.value("burns", runs["burnt"].isel(moment=0).min(), says="lamps burn", at_least=0)
        return claim

    def draw(self, runs):
        line = Line(np.array(self.power), runs["burnt"].isel(moment=0).mean("seed").values)
        return Figure("lamps", [Panel("lamps", Axis("power"), Axis("time"), [line])])
'''


class Tacit:
    """The command line in a folder of its own: called in this process, or started as another."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.log = folder / "log"
        self._capsys = capsys

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        self._capsys.readouterr()
        code = run(arguments)
        out, err = self._capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, out, err)

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        """In a process group of its own, as a terminal does it."""
        return subprocess.Popen(
            [sys.executable, "-m", "tacit", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,
        )

    def outside(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def wait_for_parts(self, count: int, process: subprocess.Popen[str]) -> None:
        deadline = time.monotonic() + 60
        while len(self.parts()) < count:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, "nothing is being computed"
            time.sleep(0.02)

    def parts(self) -> list[Path]:
        return sorted((self.folder / "results").glob("*/*/store/parts/*.safetensors"))

    def interrupt(self, process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
        """Ctrl-C, as a terminal sends it: to the whole process group."""
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def computed(self) -> list[int]:
        """The power of each batch that was begun, in order, since the log was last removed."""
        return [int(line.split()[0]) for line in self.log.read_text().splitlines()]


@pytest.fixture(autouse=True)
def interruptible():
    """Children that can be interrupted, also where the tests themselves run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def tacit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Tacit:
    (tmp_path / "lamp.py").write_text(LAMP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TACIT_TEST_LOG", str(tmp_path / "log"))
    monkeypatch.delenv("TACIT_RESULTS", raising=False)
    return Tacit(tmp_path, capsys)
