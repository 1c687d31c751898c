"""The linear experiments at their smallest preset, and their analysis on stored curves."""

import numpy as np
import pytest

from tacit.experiments import find_experiment, reproduce
from tacit.experiments.connectivity._linear_draw import series_gap

IDS = ("connectivity/fig3", "connectivity/figs3", "connectivity/fig4", "connectivity/exact")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.mark.parametrize("name", IDS)
def test_smoke(name, results):
    run = reproduce(name, preset="smoke", results=results)
    assert set(np.unique(run.dataset["outcome"].values)) == {"converged"}
    assert len({claim.name for claim in run.claims}) == len(run.claims)
    assert (run.path / "figure.png").stat().st_size > 10_000
    verdicts = {claim.name: claim.verdict for claim in run.claims}
    if name == "connectivity/fig3":
        assert verdicts["conservation laws"] == "holds"
        assert verdicts["exact flow, ẑ = 0.5, g = 0"] == "holds"
        gap, _ = series_gap(run.dataset.sel({"target": 2.0, "g": 0.6}), "limit_loss", 0.05)
        assert gap > 0.1
        # A network's own flow is nearer to it than the limit of large ones.
        data = run.dataset
        own, limit = (np.abs(data["loss"] - data[kind]) for kind in ("flow_loss", "limit_loss"))
        assert float(own.mean()) < 0.2 * float(limit.mean())
    if name == "connectivity/figs3":
        assert verdicts["rank two, ẑ = 2, g = 0"] == "holds"
    if name == "connectivity/exact":
        assert all(v == "holds" for k, v in verdicts.items() if k.startswith("radius"))
        assert verdicts["divergence without connectivity"] == "holds"
    if name == "connectivity/fig4":
        weak, strong = (run.dataset["shuffled_loss"].sel({"g": g}).mean() for g in (0.0, 0.5))
        assert float(weak) < 1e-4 < float(strong)


@pytest.mark.parametrize("name", IDS)
def test_presets_are_of_their_config(name):
    experiment = find_experiment(name)
    assert {"smoke", "quick", "paper"} <= experiment.presets.keys()
    assert experiment.presets["paper"].width == 1024
