"""A user's own experiment, in NumPy, in a file of its own."""

import textwrap

import pytest

TOY = '''
"""The mean of n throws of a die: its error falls like 1/sqrt(n)."""

from dataclasses import dataclass

import numpy as np

from tacit.claims import claim_about_fraction, claim_about_median
from tacit.experiments import OUTCOME, Config, Experiment, Variable, parameter

@dataclass(frozen=True, kw_only=True)
class DieConfig(Config):
    throws: tuple[int, ...] = parameter((10, 1000), "throws a run", low=1, high=10**6, swept=True)
    sides: int = parameter(6, "sides of the die", low=2, high=100)
    loaded: float = parameter(0.0, "probability of a forced six", low=0, high=1)
    kind: tuple[str, ...] = parameter(("fair",), "kind", choices=("fair", "odd"), swept=True)
    exact: bool = parameter(True, "report the exact mean too")
    horizons: tuple[float, ...] = parameter((0.5, 1.0), "fractions of a run", low=0, high=1)
    bound: float = parameter(0.3, "what counts as small", low=0, analysis=True)
    seed: tuple[int, ...] = parameter(tuple(range(8)), "random seed", low=0, swept=True)


class Die(Experiment):
    id = "toy/die"
    paper = "A book on dice"
    figure = "Figure 1"
    summary = "the error of a mean against the number of throws"
    version = 1
    Config = DieConfig
    presets = {
        "smoke": DieConfig(seed=(0, 1)),
        "quick": DieConfig(),
        "paper": DieConfig(seed=tuple(range(20))),
    }
    batch_by = ("throws",)
    chunk = {"seed": 4}

    def variables(self, config):
        return {
            "error": Variable(("horizon",), "1", "error of the mean"),
            "outcome": OUTCOME,
        }

    def coordinates(self, config):
        return {"horizon": config.horizons}

    def cell(self, batch, config):
        if batch.one("throws") == 13:
            raise RuntimeError("thirteen is unlucky")
        assert config.throws == (batch.one("throws"),)  # the batch's own values, no others
        assert config.bound == 0.3  # of analysis only: the default, whatever the run's
        errors = []
        for cell in batch.cells:
            rng = np.random.default_rng([cell["throws"], cell["seed"]])
            rolls = rng.integers(1, config.sides + 1, size=cell["throws"])
            mean = (config.sides + 1) / 2
            counts = [max(1, int(h * len(rolls))) for h in config.horizons]
            errors.append([abs(rolls[:n].mean() - mean) for n in counts])
        return {"error": np.array(errors), "outcome": ["converged"] * len(batch)}

    def claims(self, dataset, config):
        good = dataset["error"].isel(horizon=-1).where(dataset["outcome"] == "converged")
        most = good.sel(throws=max(config.throws)).values.ravel()
        done = (dataset["outcome"] == "converged").values
        words = {"place": "page 1"}
        return [
            claim_about_median(most[~np.isnan(most)], name="small", statement="it is small",
                               at_most=config.bound, **words),
            claim_about_fraction(done.sum(), done.size, name="all end", statement="runs end",
                                 at_least=0.5, **words),
        ]

    def draw(self, dataset, config, claims):
        from tacit.draw import Axis, Figure, Line, Panel

        medians = dataset["error"].isel(horizon=-1).median("seed").isel(kind=0).values
        axes = Axis("throws", scale="log"), Axis("error")
        line = Line(np.asarray(config.throws), medians, label="median")
        return Figure("dice", [Panel("error", *axes, [line])], caption="Of dice.")
'''


@pytest.fixture(scope="module", autouse=True)
def _in_short(compiled_in_short):
    """For every experiment."""


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "die.py"
    path.write_text(textwrap.dedent(TOY))
    return path
