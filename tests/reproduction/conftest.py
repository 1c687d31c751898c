"""A user's own experiment, in NumPy, in a file of its own."""

import textwrap

import pytest

from tacit.reproduction import reproduce

TOY = '''
"""The mean of n throws of a die: its error falls like 1/sqrt(n)."""

import numpy as np

from tacit.draw import Axis, Figure, Line, Panel
from tacit.experiments import Claims, Experiment, Variable, fixed, swept


class Die(Experiment):
    """The error of a mean against the number of throws."""

    id, figure = "toy/die", "Figure 1"
    paper = "A book on dice"
    version = 1

    throws: tuple[int, ...] = swept((10, 1000), "throws a run", low=1, high=10**6)
    sides: int = fixed(6, "sides of the die", low=2, high=100)
    loaded: float = fixed(0.0, "probability of a forced six", low=0, high=1)
    kind: tuple[str, ...] = swept(("fair",), "kind", choices=("fair", "odd"))
    exact: bool = fixed(True, "report the exact mean too")
    horizons: tuple[float, ...] = fixed((0.5, 1.0), "fractions of a run", low=0, high=1)
    bound: float = fixed(0.3, "what counts as small", low=0, analysis=True)
    seed: tuple[int, ...] = swept(range(8), "random seed", low=0)

    presets = {"smoke": dict(seed=range(2)), "quick": {}, "paper": dict(seed=range(20))}
    batch_by = "throws"
    chunk = {"seed": 4}

    def variables(self):
        return {"error": Variable("error of the mean", "horizon")}

    def coordinates(self):
        return {"horizon": self.horizons}

    def cell(self, batch):
        if batch.one("throws") == 13:
            raise RuntimeError("thirteen is unlucky")
        assert self.throws == (batch.one("throws"),)  # the batch's own values, no others
        assert self.bound == 0.3  # of analysis only: the default, whatever the run's
        errors = []
        for cell in batch.cells:
            rng = np.random.default_rng([cell["throws"], cell["seed"]])
            rolls = rng.integers(1, self.sides + 1, size=cell["throws"])
            mean = (self.sides + 1) / 2
            counts = [max(1, int(h * len(rolls))) for h in self.horizons]
            errors.append([abs(rolls[:n].mean() - mean) for n in counts])
        return {"error": np.array(errors), "outcome": ["converged"] * len(batch)}

    def claims(self, runs):
        claim = Claims("page 1")
        errors = self.counted(runs, "error").isel(horizon=-1)
        most = errors.sel(throws=max(self.throws)).isel(kind=0)
        claim.median("small", most, says="it is small", at_most=self.bound)
        done = (runs["outcome"] == "converged").all(["throws", "kind"])
        claim.fraction("all end", done, says="runs end", at_least=0.5)
        return claim

    def draw(self, runs):
        medians = runs["error"].isel(horizon=-1).median("seed").isel(kind=0).values
        line = Line(np.asarray(self.throws), medians, label="median")
        axes = Axis("throws", scale="log"), Axis("error")
        return Figure("dice", [Panel("error", *axes, [line])], caption="Of dice.")
'''


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "die.py"
    path.write_text(textwrap.dedent(TOY))
    return path


@pytest.fixture
def run(toy, tmp_path):
    """`reproduce` of the toy into a folder of the test's own."""

    def reproduce_toy(preset="quick", **options):
        return reproduce(str(toy), preset=preset, results=tmp_path / "results", **options)

    return reproduce_toy
