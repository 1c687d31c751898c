"""Seeds are added to the cells that undecided claims read, and to no others."""

import itertools
from typing import ClassVar

import numpy as np
import pytest
import xarray

from tacit.experiments import Claims, Experiment, Variable, fixed, swept
from tacit.reproduction import reproduce
from tacit.store import Store


class Coins(Experiment):
    """Coins of several shares of heads, thrown once for each seed."""

    id, figure = "mine/coins", "Figure 1"

    share: tuple[float, ...] = swept((0.1, 0.7, 0.95), "share of heads", low=0, high=1)
    side: tuple[str, ...] = swept(("left", "right"), "where it is thrown")
    seed: tuple[int, ...] = swept(range(8), "seed", low=0)
    slow: float = fixed(0.0, "seconds that a batch takes", low=0)

    presets: ClassVar = {"quick": {}}
    batch_by = "share"
    chunk: ClassVar = {"seed": 4}

    def variables(self):
        return {"heads": Variable("heads"), "draw": Variable("the number that was drawn")}

    def cell(self, batch):
        import time

        time.sleep(self.slow)
        draws = np.array(
            [np.random.default_rng([c["seed"], c["side"] == "left"]).random() for c in batch.cells]
        )
        return {"draw": draws, "heads": (draws < batch.column("share")).astype(float)}

    def claims(self, runs):
        claim = Claims("nowhere")
        for share, side in itertools.product(self.share, self.side):
            claim.fraction(
                f"{share:g} {side}",
                runs["heads"].sel(share=share, side=side),
                says="heads come mostly",
                at_least=0.5,
                fails_because="the coin is loaded" if share < 0.5 else "",
            )
        both = runs["heads"].sel(share=0.7, side="left") - runs["heads"].sel(share=0.1, side="left")
        claim.median("pair", both, says="the better coin has more heads", at_least=0.0)
        claim.median(
            "highest", runs["draw"].max(("share", "side")), says="one is high", at_least=0.1
        )
        return claim


def counts(made):
    """How many seeds are stored, by share and side."""
    store = Store.existing(made.path / "store")
    plan = store.plan()
    runs = store.dataset(plan.axes, plan.fixed, plan.variables, plan.coords)
    return runs["present"].sum("seed").to_series().to_dict()


def test_only_the_cells_of_undecided_claims_get_more(tmp_path):
    first = reproduce(Coins, results=tmp_path)
    named = {claim.name: claim for claim in first.claims}
    assert named["0.1 left"].verdict == "fails"
    assert named["0.7 left"].verdict == named["0.7 right"].verdict == "undecided"
    assert first.as_expected is None
    efforts = first.efforts
    assert set(efforts) == {c.name for c in first.claims if c.verdict == "undecided"}
    assert all(e.seeds == named[n].more_seeds and e.seconds >= 0 for n, e in efforts.items())
    assert set(counts(first).values()) == {8}

    made = reproduce(Coins, results=tmp_path, until_decided=True, seeds_at_most=200)
    stored = counts(made)
    decided = {claim.name: claim for claim in made.claims}
    assert made.as_expected is True, [c for c in made.claims if not c.as_expected]
    assert made.efforts == {}
    for (share, side), count in stored.items():
        first_verdict = named[f"{share:g} {side}"].verdict
        pair = share in (0.1, 0.7) and side == "left" and named["pair"].verdict == "undecided"
        assert (count > 8) == (first_verdict == "undecided" or pair)
    # Every claim was made from all the seeds that its cells have, and from no missing one.
    for share, side in itertools.product((0.1, 0.7, 0.95), ("left", "right")):
        claim = decided[f"{share:g} {side}"]
        assert claim.left_out == 0
        if named[claim.name].verdict == "undecided":
            assert claim.samples <= stored[share, side]
        draws = [
            np.random.default_rng([seed, side == "left"]).random() for seed in range(claim.samples)
        ]
        assert claim.satisfied == sum(draw < share for draw in draws)
    assert made.dataset.sizes["seed"] == 8  # the figure and the reference are of the preset
    assert "decided with up to" in made.figure().caption
    zarr = xarray.open_zarr(made.results)
    assert int(zarr["present"].sum()) == sum(stored.values())


def test_it_resumes_and_a_second_run_computes_nothing(tmp_path):
    whole = reproduce(Coins, results=tmp_path / "whole", until_decided=True, seeds_at_most=200)
    part = reproduce(Coins, results=tmp_path / "part", until_decided=True, seeds_at_most=20)
    assert part.as_expected is None
    assert max(counts(part).values()) == 20
    again = reproduce(Coins, results=tmp_path / "part", until_decided=True, seeds_at_most=200)
    assert again.claims == whole.claims
    once_more = reproduce(
        Coins, results=tmp_path / "part", until_decided=True, budget=0, seeds_at_most=200
    )  # what is stored costs nothing
    assert once_more.summary.computed_cells == 0
    assert once_more.claims == whole.claims


class RightCoins(Coins):
    """The same cells, but claims about the right side alone."""

    def claims(self, runs):
        return [claim for claim in super().claims(runs) if claim.name == "0.7 right"]


def test_stored_seeds_are_taken_in_though_other_claims_lack_theirs(tmp_path):
    (right,) = reproduce(RightCoins, results=tmp_path, until_decided=True, seeds_at_most=200).claims
    assert right.verdict == "holds"
    assert right.samples > 8
    made = reproduce(Coins, results=tmp_path, until_decided=True, budget=0, seeds_at_most=200)
    named = {claim.name: claim for claim in made.claims}
    assert made.summary.computed_cells == 0
    assert named["0.7 right"] == right
    assert (named["0.7 left"].verdict, named["0.7 left"].samples) == ("undecided", 8)


@pytest.mark.parametrize("seeds", [3, 4])
def test_nothing_is_foretold_from_very_few_seeds(tmp_path, seeds):
    made = reproduce(Coins(seed=tuple(range(seeds))), results=tmp_path)
    assert made.as_expected is None
    assert bool(made.efforts) == (seeds == 4)


def test_the_budget_ends_it(tmp_path):
    made = reproduce(
        Coins(slow=0.05), results=tmp_path, until_decided=True, budget=0.3, seeds_at_most=100_000
    )
    undecided = [claim for claim in made.claims if claim.verdict == "undecided"]
    stored = counts(made)
    for claim in undecided:
        assert claim.left_out == 0
        assert claim.name in made.efforts
    status = Store.existing(made.path / "store")
    assert status.status(status.plan()).missing == 0  # what was not asked for is not missing
    assert sum(stored.values()) < 6 * 100


def test_a_cell_that_fails_is_left_out_and_does_not_stop_the_rest(tmp_path):
    class Broken(Coins):
        id = "mine/broken"

        def cell(self, batch):
            if 9 in batch.column("seed"):
                raise ArithmeticError("boom")
            return super().cell(batch)

    made = reproduce(Broken, results=tmp_path, until_decided=True, seeds_at_most=60)
    grown = [claim for claim in made.claims if claim.samples + claim.left_out > 10]
    assert grown
    assert all(claim.left_out == 1 for claim in grown if claim.name != "highest")


def test_a_deterministic_experiment_has_nothing_to_add(tmp_path):
    class Ruler(Experiment):
        """The length of a ruler."""

        id, figure = "mine/ruler", "Figure 1"
        length: tuple[float, ...] = swept((1.0, 2.0), "length", low=0)
        presets: ClassVar = {"quick": {}}

        def variables(self):
            return {"measured": Variable("length")}

        def cell(self, batch):
            return {"measured": batch.column("length")}

        def claims(self, runs):
            claim = Claims()
            claim.value("near", runs["measured"].max(), error=1, says="short", at_most=2)
            return claim

    made = reproduce(Ruler, results=tmp_path, until_decided=True)
    assert made.as_expected is None
    assert made.efforts == {}


@pytest.mark.parametrize("preset", ["quick"])
def test_seeds_of_ones_own_are_continued(tmp_path, preset):
    made = reproduce(
        Coins, preset=preset, seed=[1000, 1001, 1002], results=tmp_path, until_decided=True,
        seeds_at_most=30,
    )  # fmt: skip
    plan = Store.existing(made.path / "store").plan()
    assert tuple(plan.axes["seed"][:5]) == (1000, 1001, 1002, 1003, 1004)
