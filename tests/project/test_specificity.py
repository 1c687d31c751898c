"""Claims fail on data without their effect, or say why not (`tools/specificity`)."""

import importlib.util
import json
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pytest
import xarray

from tacit.experiments import Claims, Experiment, Variable, swept
from tacit.reproduction import find_experiment, list_experiments, load_reference

ROOT = Path(__file__).parents[2]
BUILT_IN = [entry.id for entry in list_experiments() if entry.group != "mine"]
AGAIN = "run it again: .venv/bin/python tools/specificity RESULTS {}, where RESULTS holds `quick`"


def _load():
    place = ROOT / "tools" / "specificity" / "__main__.py"
    spec = importlib.util.spec_from_file_location("specificity", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tool = _load()
RECORD = json.loads(tool.RECORD.read_text())


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_claim_that_survives_says_why(name):
    kind = find_experiment(name)
    surviving = {
        claim
        for claim, shares in RECORD.get(name, {"claims": {}})["claims"].items()
        if tool.survives(shares)
    }
    reasons = kind.unspecific
    assert all(isinstance(why, str) and len(why) > 10 for why in reasons.values())
    unnamed = {c for c in surviving if not any(fnmatchcase(c, p) for p in reasons)}
    assert unnamed == set()
    stale = {p for p in reasons if not any(fnmatchcase(c, p) for c in surviving)}
    assert stale == set(), AGAIN.format(name)


@pytest.mark.parametrize("name", sorted(RECORD))
def test_the_record_is_of_the_claims_that_hold(name):
    reference = load_reference(find_experiment(name), RECORD[name]["preset"])
    holding = {claim.name for claim in reference.claims if claim.verdict == "holds"}
    assert set(RECORD[name]["claims"]) == holding, AGAIN.format(name)


class Line(Experiment):
    """A measured line beside its theory."""

    id, figure = "mine/line", "ours"
    from_theory = ("theory",)
    presets = {"quick": {}}  # noqa: RUF012

    x: tuple[int, ...] = swept(range(1, 9), "x", low=0)
    seed: tuple[int, ...] = swept(range(12), "seed", low=0)

    def variables(self):
        return {"seen": Variable("seen"), "theory": Variable("theory")}

    def cell(self, batch):
        raise AssertionError("nothing is computed here")

    def claims(self, runs):
        claim = Claims()
        rest = abs(runs["seen"] - runs["theory"]).max("x")
        claim.median("as theory says", rest, says="near", at_most=0.1)
        claim.median("grows", runs["seen"].sel(x=8) - runs["seen"].sel(x=1), says="y", at_least=1)
        claim.median("is a number", runs["seen"].max("x"), says="it is", at_most=100)
        return claim


@pytest.fixture
def runs():
    x, seed = np.arange(1, 9), np.arange(12)
    noise = np.random.default_rng(0).normal(0, 0.01, (8, 12))
    theory = np.repeat(x[:, None].astype(float), 12, axis=1)
    return xarray.Dataset(
        {
            "seen": (("x", "seed"), theory + noise),
            "theory": (("x", "seed"), theory),
            "outcome": (("x", "seed"), np.full((8, 12), "converged")),
        },
        {"x": x, "seed": seed},
    )


def test_a_null_moves_what_was_measured_and_leaves_the_theory(runs):
    (null,) = [trials for name, trials in tool.nulls(Line(), runs) if name == "permuted x"]
    for made in null:
        assert made["theory"].equals(runs["theory"])
        for seed in runs["seed"]:
            here, there = made["seen"].sel(seed=seed), runs["seen"].sel(seed=seed)
            assert (here.values != there.values).any()
            np.testing.assert_array_equal(np.sort(here), np.sort(there))
    orders = {tuple(np.argsort(null[0]["seen"].values[:, seed])) for seed in range(12)}
    assert len(orders) > 6  # each seed's own
    assert runs["seen"].isel(seed=0).to_numpy().argsort().tolist() == list(range(8))


def test_the_mean_along_an_axis_has_no_effect_left(runs):
    (null,) = [trials for name, trials in tool.nulls(Line(), runs) if name == "mean over x"]
    np.testing.assert_allclose(null[0]["seen"].std("x"), 0, atol=1e-12)
    assert null[0]["theory"].equals(runs["theory"])


def test_a_claim_about_the_effect_falls_and_one_about_anything_survives(runs):
    class Run:
        experiment, dataset = Line(), runs
        claims = Line().claims(runs)

    found = tool.specificity(Run)
    assert {name: tool.survives(shares) for name, shares in found.items()} == {
        "as theory says": False,
        "grows": False,
        "is a number": True,
    }
