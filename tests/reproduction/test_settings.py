"""Settings from the command line: what is taken, and the sentence for what is not."""

import pytest

from tacit.experiments import UsageError
from tacit.reproduction import find_experiment, parse_seeds, parse_setting, parse_settings


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("throws=10", "throws", (10,)),
        ("throws=5:8", "throws", (5, 6, 7, 8)),
        ("throws=5..8,20", "throws", (5, 6, 7, 8, 20)),
        ("throws=1e3", "throws", (1000,)),
        ("throws= 10 , 20 ", "throws", (10, 20)),
        ("sides=8", "sides", 8),
        ("loaded=0.25", "loaded", 0.25),
        ("loaded=1", "loaded", 1.0),
        ("exact=no", "exact", False),
        ("exact=TRUE", "exact", True),
        ("kind=odd,fair", "kind", ("odd", "fair")),
        ("horizons=0.25,.5,1", "horizons", (0.25, 0.5, 1.0)),
    ],
)
def test_settings(toy, text, name, value):
    assert parse_setting(find_experiment(str(toy)), text) == (name, value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("throws", "the form is name=value"),
        ("throws=", "the form is name=value"),
        ("=3", "the form is name=value"),
        ("throw=3", "throw: there is no such parameter, did you mean 'throws'"),
        ("throws=ten", "throws: received 'ten', allowed is an integer from 1 to 1000000"),
        ("throws=10,", "received ''"),
        ("throws=0", "received 0"),
        ("throws=2.5", "received 2.5"),
        ("throws=8:5", "the range '8:5', it must go upwards"),
        ("throws=1:1000000000", "at most 100000"),
        ("throws=5:8,6", "received 6 twice"),
        ("sides=5:8", "it takes one value"),
        ("loaded=1:2", "loaded: received '1:2', allowed is a number from 0 to 1"),
        ("loaded=nan", "received nan"),
        ("exact=perhaps", "allowed is true or false"),
        ("kind=fare", "did you mean 'fair'"),
    ],
)
def test_wrong_settings_are_one_sentence(toy, text, words):
    with pytest.raises(UsageError, match=words) as caught:
        parse_setting(find_experiment(str(toy)), text)
    assert "\n" not in str(caught.value)


def test_a_parameter_is_set_once(toy):
    experiment = find_experiment(str(toy))
    both = parse_settings(experiment, ["throws=10,20", "sides=8"])
    assert both == {"throws": (10, 20), "sides": 8}
    with pytest.raises(UsageError, match="throws: received twice"):
        parse_settings(experiment, ["throws=10", "throws=20"])


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        (None, None),
        ("60", 60),
        (" 7 ", 7),
        ("100..159", range(100, 160)),
        ("3:5", range(3, 6)),
        ("4..4", range(4, 5)),
    ],
)
def test_seeds_are_a_number_or_a_range(text, seeds):
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("many", "seeds: received 'many', allowed is an integer N .* or a range A..B"),
        ("", "seeds: received ''"),
        ("1.5", "seeds: received '1.5'"),
        ("1,2", "seeds: received '1,2'"),
        ("5..", "seeds: received '5..'"),
        ("159..100", "seeds: received the range '159..100', it must go upwards"),
        ("0..1000000", "at most 100000 values"),
    ],
)
def test_wrong_seeds_are_one_sentence(text, words):
    with pytest.raises(UsageError, match=words) as caught:
        parse_seeds(text)
    assert "\n" not in str(caught.value)


def test_ranges_of_seeds_are_those_of_an_experiment(toy):
    experiment = find_experiment(str(toy))
    assert experiment.from_preset("quick", seeds=range(100, 103)).seed == (100, 101, 102)
    assert parse_setting(experiment, "seed=100..102,7") == ("seed", (100, 101, 102, 7))
    with pytest.raises(UsageError, match="seed: received -3, allowed is an integer of at least 0"):
        experiment.from_preset("quick", seeds=parse_seeds("-3..2"))
