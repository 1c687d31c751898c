"""Other values of an axis than the preset's: what no claim reads, and which claims lose theirs."""

import json

import numpy as np
import pytest

from tacit.experiments import Claims, Experiment, Variable, at, fixed, swept
from tacit.reproduction import reproduce, stored_run


class Springs(Experiment):
    """The stretch of springs, of which some claims read some loads."""

    id, figure = "mine/springs", "Figure 1"

    load: tuple[float, ...] = swept((1.0, 2.0, 4.0), "load", low=0)
    kind: tuple[str, ...] = swept(("steel", "brass"), "kind")
    seed: tuple[int, ...] = swept(range(8), "seed", low=0)
    claimed: bool = fixed(True, "whether anything is claimed", analysis=True)
    named: bool = fixed(False, "whether claims are made for each kind", analysis=True)

    presets = {"quick": {}, "wide": {"load": (1.0, 2.0, 4.0, 8.0)}}  # noqa: RUF012

    def variables(self):
        return {"stretch": Variable("stretch")}

    def cell(self, batch):
        return {"stretch": batch.column("load") * (1 + 0.01 * batch.column("seed"))}

    def claims(self, runs):
        claim = Claims("nowhere")
        if not self.claimed:
            return claim
        small = at(runs["stretch"], load=1.0).mean("kind")
        claim.median("a small load", small, says="it stretches", at_least=0.5)
        large = runs["stretch"].sel(load=[load for load in self.load if load <= 5])
        claim.median(
            "the largest", large.max(["load", "kind"]), says="by less than ten", at_most=10
        )
        for kind in self.kind if self.named else ():
            claim.median(kind, at(runs["stretch"], load=1.0, kind=kind), says="it does", at_least=0)
        return claim


def remarks(tmp_path, **values):
    made = reproduce(Springs, results=tmp_path, **values)
    assert made.to_dict()["remarks"] == list(made.remarks)
    record = json.loads((made.path / "claims.json").read_text())
    assert record["remarks"] == list(made.remarks)
    return made.remarks


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, ()),
        ({"seeds": 12}, ()),
        ({"seeds": range(3, 9)}, ()),
        ({"preset": "wide"}, ()),  # the preset's own values need no remark
        ({"load": [1, 2, 3, 4]}, ()),  # 3 is among those that "the largest" reads
        ({"load": [1, 2, 4, 8, 16]}, ("no claim reads load = 8, 16",)),
        ({"load": [1, 3, 4, 6, 7, 8, 9, 10]}, ("no claim reads load = 6, 7, 8, 9, 10",)),
        ({"load": [4.0, 2.0, 1.0]}, ()),  # the same in another order
        ({"load": [2, 4]}, ("with these values of load these claims have no runs: a small load",)),
        (
            {"load": [2, 8]},
            (
                "no claim reads load = 8",
                "with these values of load these claims have no runs: a small load",
            ),
        ),
        ({"load": [8, 16], "claimed": False}, ()),
    ],
    ids=str,
)
def test_what_is_said(tmp_path, values, words):
    assert remarks(tmp_path, **values) == words


def test_claims_of_the_reference_that_are_not_made_are_named(tmp_path, monkeypatch):
    made = reproduce(Springs, results=tmp_path, named=True)
    path = tmp_path / "reference.json"
    path.write_bytes((made.path / "claims.json").read_bytes())
    monkeypatch.setattr("tacit.reproduction._reference.reference_path", lambda *_: path)
    assert remarks(tmp_path, named=True) == ()
    found = remarks(tmp_path, named=True, kind="steel")
    assert found == ("with these values of kind these claims have no runs: brass",)


def test_a_claim_without_runs_is_no_success(tmp_path):
    made = reproduce(Springs, results=tmp_path, load=2.0)
    lost, kept = made.claims
    assert (lost.samples, lost.left_out, lost.verdict) == (0, 8, "undecided")
    assert lost.as_expected is None
    assert kept.as_expected
    assert made.as_expected is None
    assert made.record()["as_expected"] is None


def test_nothing_claimed_is_no_success(tmp_path):
    made = reproduce(Springs, results=tmp_path, claimed=False)
    assert made.claims == ()
    assert made.as_expected is None


def test_a_stored_run_says_the_same(tmp_path):
    made = reproduce(Springs, results=tmp_path, load=[1, 2, 4, 8])
    again = stored_run(Springs, results=tmp_path, load=[1, 2, 4, 8])
    assert again.remarks == made.remarks != ()
    assert again.record() == made.record()
    np.testing.assert_array_equal(again.dataset["stretch"], made.dataset["stretch"])
