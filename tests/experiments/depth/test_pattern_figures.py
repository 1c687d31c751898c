"""depth/fig4, fig10 and any-pattern at their smallest presets, against other computations."""

import numpy as np
import pytest

from tacit.experiments.depth.any_pattern import AnyPattern
from tacit.experiments.depth.fig4 import KINDS, Fig4
from tacit.experiments.depth.fig10 import Fig10
from tacit.measures import effective_rank
from tacit.problems import Pattern
from tacit.reproduction import ReproductionError, reproduce
from tacit.theory.depth import disconnected_limit

CONNECTED, DISCONNECTED = KINDS["connected"], KINDS["disconnected"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


def test_fig4_has_exactly_the_23_patterns_of_the_paper():
    classes = Pattern.classes(3, 3, least=2, most=8)
    assert {p.name for p in classes} == {*CONNECTED, *DISCONNECTED}
    assert all(Pattern.named(name).is_connected for name in CONNECTED)
    assert not any(Pattern.named(name).is_connected for name in DISCONNECTED)
    paper = Fig4.from_preset("paper")
    assert (len(CONNECTED), len(DISCONNECTED), len(paper.pattern)) == (17, 6, 23)
    assert len(paper.seed) == 10


def test_fig4_at_smoke(folder):
    made = reproduce("depth/fig4", preset="smoke", results=folder)
    data = made.dataset
    assert data.sizes["pattern"] == 8
    trained = data["loss"] <= made.experiment.gate
    assert float(trained.mean()) > 0.95
    rank = data["effective_rank"].where(trained)
    assert ((rank >= 1 - 1e-9) & (rank <= 3)).where(trained, True).all()
    apart = rank.sel(pattern=list(DISCONNECTED[::2]), scale=1e-5).mean(("pattern", "seed"))
    assert float(apart.sel(depth=2)) > 1.2
    assert float(apart.sel(depth=3)) < 1.05
    # A fully disconnected pattern of depth 2 has a closed form: the same draw, the same rank.
    (target,), ((first, second),) = made.experiment.draw_trials(2, [1], [1e-1])
    mask = Pattern.named("001.010.100").mask
    limit = disconnected_limit(second, first, mask, target).product
    ours = data["effective_rank"].sel(pattern="001.010.100", depth=2, scale=1e-1, seed=1)
    np.testing.assert_allclose(float(ours), effective_rank(limit), atol=1e-5)
    assert len(made.figure().panels) == 3
    assert len(made.paper_figure().panels) == 2  # not pattern by pattern


def test_fig10_at_smoke(folder):
    made = reproduce("depth/fig10", preset="smoke", results=folder)
    data = made.dataset
    assert made.outcomes == {"converged": 60}
    assert made.as_expected is not False
    gap = abs(data["effective_rank"] - data["closed_form_rank"])
    assert float(gap.sel(depth=2).max()) < 1e-6
    assert np.isnan(data["closed_form_rank"].sel(depth=3)).all()
    assert (data["family_loss"] < 1e-13).all()
    # The family at depth 2, from the theorem's closed form.
    share = ((2 - 1) / (2 + 3 - 1)) ** 2
    p = np.array([1, share, share]) / (1 + 2 * share)
    wanted = np.exp(-(p * np.log(p)).sum())
    found = data["family_rank"].sel({"depth": 2, "ratio": 2.0}).isel(seed=0)
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    assert len(Fig10.from_preset("paper").seed) == 1000
    assert len(made.figure().panels) == 2


def test_any_pattern_at_smoke(folder):
    made = reproduce("depth/any-pattern", preset="smoke", results=folder)
    data = made.dataset
    trained = data["loss"] <= made.experiment.gate
    assert float(trained.mean()) > 0.9
    assert (data["groups_seen"] == data["groups"]).where(trained, True).all()
    gaussian, identity = (data["groups"].sel(start=s) for s in ("gaussian", "identity"))
    assert (gaussian.sel(depth=2) == data["components"].sel(start="gaussian", depth=2)).all()
    assert (gaussian.sel(depth=3) == 1).all()
    assert (identity.sel(depth=3, pattern=6) == 3).all()  # the diagonal, decoupled at any depth
    rank = data["effective_rank"].sel(scale=1e-5, pattern=6)
    assert float(rank.sel(start="gaussian", depth=3).mean()) < 1.05
    assert float(rank.sel(start="identity", depth=3).mean()) > 1.2
    # The diagonal from a vanishing start, by its own closed form.
    (target,), ((first, second),) = made.experiment.draw_trials(2, [1], [1e-16])
    mask = Pattern.classes(3, 3)[6].mask
    closed = disconnected_limit(second, first, mask, target).product
    lane = data.sel({"start": "gaussian", "depth": 2, "pattern": 6, "seed": 1, "scale": 1e-5})
    for name in ("limit_spectrum", "smaller_spectrum"):
        found = lane[name].values.reshape(-1, 3)
        np.testing.assert_allclose(found, [np.linalg.svd(closed)[1]], atol=1e-5)
    assert np.isnan(data["limit_spectrum"].sel(depth=3)).all()
    small = data.sel({"depth": 2, "smaller": 1e-16})
    assert (small["smaller_loss"] < 1e-10).all()
    assert (small["smaller_spectrum"].max("scale") == small["smaller_spectrum"].min("scale")).all()
    assert len(made.figure().panels) == 3
    assert len(AnyPattern.from_preset("paper").pattern) == len(Pattern.classes(4, 4))
    assert Pattern.classes(3, 3)[6] == Pattern.diagonal(3).canonical()


def test_a_number_out_of_range_says_how_many_patterns_there_are(tmp_path):
    with pytest.raises(ReproductionError, match="there are 25 patterns"):
        reproduce("depth/any-pattern", preset="smoke", results=tmp_path, pattern=25, depth=2)
