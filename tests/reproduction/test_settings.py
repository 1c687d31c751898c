"""Settings from the command line: what is taken, and the sentence for what is not."""

import pytest

from tacit.experiments import UsageError
from tacit.reproduction import find_experiment, parse_setting, parse_settings


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
