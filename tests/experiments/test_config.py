"""Configs and settings: what is taken, in which form, and the sentence for what is not."""

from dataclasses import dataclass

import numpy as np
import pytest

from tacit.experiments import (
    Config,
    UsageError,
    find_experiment,
    parameter,
    parse_setting,
    parse_settings,
)


@dataclass(frozen=True, kw_only=True)
class Small(Config):
    width: tuple[int, ...] = parameter((40, 100), "width", low=2, high=2000, swept=True)
    rate: tuple[float, ...] = parameter((1e-3,), "rate", low=0, swept=True)
    method: tuple[str, ...] = parameter(("adam",), "m", choices=("adam", "descent"), swept=True)
    steps: int = parameter(100, "steps", low=1)
    horizons: tuple[int, ...] = parameter((20, 40), "horizons", low=1)
    polish: bool = parameter(False, "polish")
    seed: tuple[int, ...] = parameter((0, 1), "seed", low=0, swept=True)

    def check(self):
        if self.polish and self.steps > 1000:
            raise UsageError(f"polish: received True with steps = {self.steps}, at most 1000")


def test_axes_and_fixed_share_the_fields_between_them():
    config = Small()
    assert config.axes() == {
        "width": (40, 100),
        "rate": (1e-3,),
        "method": ("adam",),
        "seed": (0, 1),
    }
    assert config.fixed() == {"steps": 100, "horizons": (20, 40), "polish": False}


@pytest.mark.parametrize(
    ("overrides", "name", "expected"),
    [
        ({"width": [40, 60]}, "width", (40, 60)),
        ({"width": 60}, "width", (60,)),
        ({"width": range(5, 8)}, "width", (5, 6, 7)),
        ({"width": np.array([40, 60])}, "width", (40, 60)),
        ({"width": np.int64(60)}, "width", (60,)),
        ({"width": 60.0}, "width", (60,)),
        ({"rate": 1}, "rate", (1.0,)),
        ({"steps": [7]}, "steps", 7),
        ({"horizons": [5, 5]}, "horizons", (5, 5)),
        ({"polish": True}, "polish", True),
        ({"method": "descent"}, "method", ("descent",)),
    ],
)
def test_values_are_brought_to_their_kind(overrides, name, expected):
    value = getattr(Small().with_overrides(overrides), name)
    assert value == expected
    first = value[0] if isinstance(value, tuple) else value
    assert type(first) is type(expected[0] if isinstance(expected, tuple) else expected)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"widht": 3}, "widht: there is no such parameter, did you mean 'width'"),
        ({"zzz": 3}, "known: horizons, method, polish, rate, seed, steps, width"),
        ({"width": 1}, "width: received 1, allowed is an integer from 2 to 2000"),
        ({"width": 2001}, "from 2 to 2000"),
        ({"width": [40, 40]}, "width: received 40 twice"),
        ({"width": []}, "no values"),
        ({"width": 40.5}, "received 40.5"),
        ({"width": "40"}, "received '40'"),
        ({"width": True}, "received True"),
        ({"width": None}, "received None"),
        ({"rate": float("nan")}, "received nan"),
        ({"rate": -1.0}, "rate: received -1.0, allowed is a number of at least 0"),
        ({"method": "adm"}, "allowed is one of adam, descent .did you mean 'adam'"),
        ({"steps": [1, 2]}, "it takes one value: an integer of at least 1"),
        ({"polish": 1}, "polish: received 1, allowed is true or false"),
        ({"polish": True, "steps": 5000}, "polish: received True with steps = 5000"),
        ({"horizons": 0}, "horizons: received 0"),
    ],
)
def test_wrong_values_are_one_sentence(overrides, words):
    with pytest.raises(UsageError, match=words) as caught:
        Small().with_overrides(overrides)
    assert "\n" not in str(caught.value)


def test_seeds_count_from_zero():
    assert Small().with_seeds(3).seed == (0, 1, 2)
    for count in (0, -1, 10**6):
        with pytest.raises(UsageError, match=f"seeds: received {count}, allowed is an integer"):
            Small().with_seeds(count)

    @dataclass(frozen=True, kw_only=True)
    class Seedless(Config):
        width: tuple[int, ...] = parameter((1,), "width", swept=True)

    with pytest.raises(UsageError, match="no seeds"):
        Seedless().with_seeds(3)


def test_fields_are_made_with_parameter():
    @dataclass(frozen=True, kw_only=True)
    class Wrong(Config):
        width: int = 3

    with pytest.raises(ValueError, match=r"Wrong\.width must be made with parameter"):
        Wrong()
    for default in (None, ("a", 1), ()):
        with pytest.raises(ValueError, match="default"):
            parameter(default, "nothing")
    with pytest.raises(ValueError, match="analysis"):
        parameter((3,), "width", swept=True, analysis=True)
    with pytest.raises(ValueError, match="needs a tuple"):
        parameter(3, "width", swept=True)
    assert parameter((1, 0.5), "rate").metadata["tacit"].kind is float


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
