"""Parameters: what is taken, in which form, and the sentence for what is not."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.experiments import Experiment, Parameter, UsageError, Variable, fixed, swept


class Small(Experiment):
    """What parameters can be."""

    id, figure = "toy/small", "none"

    width: tuple[int, ...] = swept((40, 100), "width", low=2, high=2000)
    rate: tuple[float, ...] = swept((1e-3,), "rate", low=0)
    method: tuple[str, ...] = swept(("adam",), "m", choices=("adam", "descent"))
    steps: int = fixed(100, "steps", low=1)
    horizons: tuple[int, ...] = fixed((20, 40), "horizons", low=1)
    polish: bool = fixed(False, "polish")
    bound: float = fixed(0.1, "what counts as small", analysis=True)
    seed: tuple[int, ...] = swept((0, 1), "seed", low=0)

    presets = {"smoke": {"width": 40, "seed": range(3)}, "quick": {}}  # noqa: RUF012

    def check(self):
        if self.polish and self.steps > 1000:
            raise UsageError(f"polish: received True with steps = {self.steps}, at most 1000")

    def variables(self):
        return {"error": Variable("error")}

    def cell(self, batch):
        return {"error": np.zeros(len(batch))}


def test_axes_and_constants_share_the_fields_between_them():
    small = Small()
    assert small.axes() == {
        "width": (40, 100),
        "rate": (1e-3,),
        "method": ("adam",),
        "seed": (0, 1),
    }
    assert small.constants() == {"steps": 100, "horizons": (20, 40), "polish": False}
    assert [*Small.parameters()] == [
        "width", "rate", "method", "steps", "horizons", "polish", "bound", "seed",
    ]  # fmt: skip
    assert Small.parameters()["bound"].analysis


def test_an_experiment_is_a_frozen_value():
    assert Small(width=[40, 100]) == Small()
    assert Small(width=40) != Small()
    assert hash(Small(width=40.0)) == hash(Small(width=(40,)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        Small().steps = 3
    with pytest.raises(TypeError, match="widht"):
        Small(widht=40)


def test_fields_are_inherited_in_their_order():
    class Smaller(Small):
        width: tuple[int, ...] = swept((3,), "another width")
        depth: int = fixed(2, "depth")

    assert [*Smaller.parameters()] == [*Small.parameters(), "depth"]
    assert Smaller().width == (3,)
    assert Smaller.parameters()["width"].doc == "another width"
    assert Small().width == (40, 100)


def test_a_subclass_gives_inherited_parameters_other_defaults():
    class Longer(Small):
        width: tuple[int, ...] = (3, 5.0)
        steps = 500
        bound: float = 1

    class Longest(Longer):
        steps = 900
        depth: int = fixed(2, "depth")

    assert Longer.parameters() == Small.parameters()  # same words, ranges, kinds and order
    assert Longer() == Longer(width=(3, 5), steps=500, bound=1.0)
    assert type(Longer().bound) is float
    assert [*Longest.parameters()] == [*Small.parameters(), "depth"]
    assert (Longest().steps, Longest().width, Small().steps) == (900, (3, 5), 100)
    assert Longest.from_preset("smoke").replace(steps=7).steps == 7


@pytest.mark.parametrize(
    ("default", "words"),
    [
        ({"steps": 0}, "Wrong.steps: received 0, allowed is an integer of at least 1"),
        ({"width": 1}, "Wrong.width: received 1, allowed is an integer from 2 to 2000"),
        ({"method": "adm"}, "Wrong.method: received 'adm', .*did you mean 'adam'"),
        ({"steps": lambda self: 3}, "Wrong.steps: received <function"),
    ],
)
def test_another_default_is_checked(default, words):
    with pytest.raises(UsageError, match=words):
        type("Wrong", (Small,), default)


def test_the_summary_is_the_first_line_of_the_docstring():
    class Untold(Small):
        id = "other/untold"

    class Named(Small):
        """RNNs are compared.

        At length.
        """

        id, summary = "other/named", "our own words"

    class Rnns(Small):
        """RNNs are compared."""

    assert Small.summary == "what parameters can be"
    assert Untold.summary == Small.summary
    assert (Small.paper, Untold.paper) == ("toy", "other")
    assert Named.summary == "our own words"
    assert Rnns.summary == "RNNs are compared"


def test_a_paper_that_is_given_is_that_of_subclasses_too():
    class Ours(Small):
        paper = "A book"

    class First(Ours):
        id = "book/first"

    class Second(First):
        id, paper = "book/second", "Another book"

    assert (First.paper, Second.paper, Small.paper) == ("A book", "Another book", "toy")


def test_presets_are_overrides_of_the_defaults():
    smoke = Small.from_preset("smoke")
    assert (smoke.width, smoke.seed, smoke.rate) == ((40,), (0, 1, 2), (1e-3,))
    assert Small.from_preset("quick") == Small()
    other = Small.from_preset("smoke", seeds=5, width=60, steps=7)
    assert (other.width, other.steps, other.seed) == ((60,), 7, (0, 1, 2, 3, 4))
    with pytest.raises(UsageError, match="preset: toy/small has no preset 'quik', did you mean"):
        Small.from_preset("quik")


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
    value = getattr(Small().replace(**overrides), name)
    assert getattr(Small(**overrides), name) == value
    assert value == expected
    first = value[0] if isinstance(value, tuple) else value
    assert type(first) is type(expected[0] if isinstance(expected, tuple) else expected)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"widht": 3}, "widht: there is no such parameter, did you mean 'width'"),
        ({"zzz": 3}, "known: bound, horizons, method, polish, rate, seed, steps, width"),
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
        ({"rate": 10**400}, "rate: received an integer of more than 100 digits"),
        ({"width": 10**400}, "from 2 to 2000"),
        ({"width": math.inf}, "received inf"),
        ({"width": {40}}, r"width: received \{40\}"),
    ],
)
def test_wrong_values_are_one_sentence(overrides, words):
    with pytest.raises(UsageError, match=words) as caught:
        Small().replace(**overrides)
    assert "\n" not in str(caught.value)


def test_seeds_count_from_zero():
    assert Small().replace(seeds=3).seed == (0, 1, 2)
    assert len(Small().replace(seeds=100_000).seed) == 100_000  # in no time, and not in minutes
    assert Small().replace(seeds=range(100, 103)).seed == (100, 101, 102)
    for count in (0, -1, 10**6, True, 2.0):
        with pytest.raises(UsageError, match=f"seeds: received {count}, allowed is an integer"):
            Small().replace(seeds=count)
    with pytest.raises(UsageError, match="give one of the two"):
        Small().replace(seeds=3, seed=[1])

    class Seedless(Small):
        seed: int = fixed(0, "the seed of all")

    with pytest.raises(UsageError, match="no seeds"):
        Seedless().replace(seeds=3)


def test_fields_are_declared_with_swept_or_fixed():
    class Wrong(Small):
        depth: int = 3

    with pytest.raises(ValueError, match=r"Wrong\.depth: declare it with swept\(…\) or fixed"):
        Wrong()
    for default in (None, ("a", 1), (), [1, "a"], {"a": 1}):
        with pytest.raises(ValueError, match="default: received"):
            fixed(default, "nothing")
    for default in (3, "adam", (), ("a", 1)):
        with pytest.raises(ValueError, match="default: received"):
            swept(default, "width")


@pytest.mark.parametrize(
    ("default", "kind", "values"),
    [
        ((1, 0.5), float, (1, 0.5)),
        (range(3), int, (0, 1, 2)),
        ([2, 3], int, (2, 3)),
        ({"a": "words", "b": "more"}, str, ("a", "b")),
        ((True, False), bool, (True, False)),
    ],
)
def test_a_kind_is_that_of_the_values(default, kind, values):
    field = swept(default, "several")
    spec = field.metadata["tacit"]
    assert (field.default, spec.kind, spec.many, spec.swept) == (values, kind, True, True)


def test_the_choices_may_be_the_keys_of_their_words():
    words = {"adam": "Adam", "descent": "gradient descent"}
    spec = swept(words, "method", choices=words).metadata["tacit"]
    assert spec.allowed == "one of adam, descent"
    assert spec.normalised("method", "adam") == ("adam",)


RANGES = st.tuples(st.integers(-50, 50), st.integers(0, 50)).map(lambda r: (r[0], r[0] + r[1]))


@settings(deadline=None)
@given(limits=RANGES, values=st.lists(st.integers(-120, 120), min_size=1, unique=True))
def test_integers_are_taken_in_every_form_or_refused(limits, values):
    low, high = limits
    spec = Parameter("n", int, many=True, swept=True, low=low, high=high)
    forms = [values, tuple(values), np.array(values), [float(v) for v in values]]
    if all(low <= value <= high for value in values):
        for form in forms:
            found = spec.normalised("n", form)
            assert found == tuple(values)
            assert {type(value) for value in found} == {int}
            assert spec.normalised("n", found) == found  # what it holds is taken as it is
    else:
        for form in forms:
            with pytest.raises(UsageError, match=f"from {low} to {high}"):
                spec.normalised("n", form)


@settings(deadline=None)
@given(st.floats() | st.integers() | st.text() | st.booleans() | st.none())
def test_a_number_is_a_number_or_refused(value):
    spec = Parameter("rate", float)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and not math.isnan(value):
        found = spec.normalised("rate", value)
        assert type(found) is float
        assert found == float(value)
    else:
        with pytest.raises(UsageError, match=r"rate: received .*, allowed is a number"):
            spec.normalised("rate", value)


@settings(deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=2))
def test_swept_values_are_distinct(values):
    spec = Parameter("n", int, many=True, swept=True)
    if len(set(values)) == len(values):
        assert spec.normalised("n", values) == tuple(values)
    else:
        with pytest.raises(UsageError, match="twice, values must be distinct"):
            spec.normalised("n", values)
    assert Parameter("n", int, many=True).normalised("n", values) == tuple(values)
