"""The committed references of all experiments: readable, complete, and what they say in all."""

import pytest

from tacit.claims import decide_all
from tacit.reproduction import find_experiment, list_experiments, load_reference

IDS = [entry.id for entry in list_experiments() if entry.group != "mine"]


@pytest.fixture(scope="module", params=["quick", "gpu", "paper"])
def preset(request):
    return request.param


@pytest.fixture(scope="module")
def committed(preset):
    """Every reference of a preset, by id."""
    kinds = {name: find_experiment(name) for name in IDS}
    found = {name: load_reference(kind, preset) for name, kind in kinds.items()
             if preset in kind.presets}  # fmt: skip
    return {name: reference for name, reference in found.items() if reference is not None}


def claims_of(committed):
    return [(name, claim) for name, found in committed.items() for claim in found.claims]


NOT_YET = {
    "quick": set(),
    "gpu": set(),
    "paper": {"depth/fig18-29"},  # 240 large networks take a GPU for days
}


def test_every_experiment_has_one(preset, committed):
    having = {name for name in IDS if preset in find_experiment(name).presets}
    assert having - committed.keys() <= NOT_YET[preset]


def test_it_is_of_the_present_format_and_preset(preset, committed):
    for name, found in committed.items():
        assert found.digest, f"{name} at {preset}"
        assert found.rounding, f"{name} at {preset}"
        experiment = find_experiment(name)
        if experiment.from_preset(preset).missing() is None:
            assert set(found.parameters) == set(experiment.parameters()), f"{name} at {preset}"


def test_no_claim_contradicts_its_expectation(committed):
    wrong = [(n, claim.name) for n, claim in claims_of(committed) if claim.as_expected is False]
    assert wrong == []


def test_nearly_all_are_decided_or_say_why_not(preset, committed):
    every = claims_of(committed)
    if preset == "quick":
        open_ones = [claim for _, claim in every if claim.verdict == "undecided"]
        assert len(open_ones) <= 0.05 * len(every)
    else:
        open_ones = [c for _, c in every if c.as_expected is None and not c.because]
        assert len(open_ones) <= 0.03 * len(every)


def test_nearly_all_that_is_decided_stands_as_part_of_the_whole(committed):
    every = [claim for _, claim in claims_of(committed)]
    decided = [stands for claim, stands in zip(every, decide_all(every), strict=True)
               if claim.as_expected is not None]  # fmt: skip
    assert sum(decided) >= 0.98 * len(decided)
