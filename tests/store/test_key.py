"""Content addresses: what is one cell and what is another."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.store import Plan, Store, StoreError, Variable, _key, cell_key

scalars = st.one_of(
    st.booleans(),
    st.none(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.text(max_size=5),
)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3), max_leaves=6)
params = st.dictionaries(st.text(max_size=4), values, max_size=4)


def key(**parameters):
    return cell_key("toy/one", 1, parameters)


@settings(deadline=None, max_examples=50)
@given(params)
def test_order_and_kind_of_sequence_do_not_count(cell):
    def as_tuples(value):
        return tuple(as_tuples(item) for item in value) if isinstance(value, list) else value

    other = {name: as_tuples(cell[name]) for name in reversed(cell)}
    assert cell_key("a/b", 1, cell) == cell_key("a/b", 1, other)


@settings(deadline=None)
@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_floats_are_one_exactly_when_equal(a, b):
    assert (key(x=a) == key(x=b)) == (a == b)


@settings(deadline=None)
@given(st.integers(-(2**60), 2**60))
def test_integers_and_floats_are_one_exactly_when_equal(number):
    assert (key(x=number) == key(x=float(number))) == (number == float(number))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (0.0, -0.0),
        (np.int32(3), 3),
        (np.float64(0.1), 0.1),
        (np.float32(0.5), 0.5),
        ((1, 2), [1.0, 2.0]),
        (np.array([1, 2]), [1, 2]),
        (np.str_("adam"), "adam"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ],
)
def test_the_same_cell(a, b):
    assert key(x=a) == key(x=b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, True),
        (0, False),
        (1, "1"),
        (None, "null"),
        (math.inf, "inf"),
        (math.inf, -math.inf),
        (np.float32(0.1), 0.1),
        ([1, 2], [2, 1]),
        ([[1], 2], [1, [2]]),
        (0.1 + 0.2, 0.3),
    ],
)
def test_another_cell(a, b):
    assert key(x=a) != key(x=b)


def test_experiment_version_and_names_count():
    keys = {
        cell_key("toy/one", 1, {"x": 1}),
        cell_key("toy/two", 1, {"x": 1}),
        cell_key("toy/one", 2, {"x": 1}),
        cell_key("toy/one", 1, {"y": 1}),
        cell_key("toy/one", 1, {"x": 1, "y": None}),
    }
    assert len(keys) == 5


def test_the_address_stays_what_it_was():
    # Stores on people's disks are found by it: if this changes, raise the schema.
    assert key(width=40, rate=1e-3, teacher="even", seed=0) == "ff5c17dde36e31c688f98fafd4f7436e"


@pytest.mark.parametrize("value", [math.nan, object(), {1, 2}])
def test_what_cannot_be_a_parameter(value):
    with pytest.raises(ValueError, match="cannot be the parameter of a cell"):
        key(x=value)


def test_the_addresses_of_a_plan_are_hashed_once(tmp_path, monkeypatch):
    plan = Plan({"seed": (0, 1, 2), "w": (0.5, np.inf)}, {"steps": 3}, {"error": Variable("error")})
    cells = [{**plan.fixed, **cell} for cell in plan.cells()]
    store = Store(tmp_path, experiment="toy/keys", version=1)
    store.add(cells, {"error": np.ones(6)}, {})
    count, address = [], _key._address
    monkeypatch.setattr(_key, "_address", lambda *a: count.append(a) or address(*a))
    store.fit(plan)
    assert store.status(plan).done == 6
    assert store.codes(plan) == {None: 6}
    assert len(count) == 6
    assert store.keys_of_plan(plan) == [cell_key("toy/keys", 1, cell) for cell in cells]


@pytest.mark.parametrize("name", ["../evil", "paper/..", "./figure", "paper/.hidden"])
def test_a_name_leads_nowhere_else(tmp_path, name):
    with pytest.raises(StoreError, match="the form is 'paper/figure'"):
        Store(tmp_path / "store", experiment=name, version=1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "value", [{1: 2, "1": 3}, {True: 1}, {None: 1}, {"__float__": "inf"}, [{"__float__": "-inf"}]]
)
def test_a_mapping_with_the_form_of_something_else_is_refused(value, tmp_path):
    with pytest.raises(ValueError, match="cannot be the parameter of a cell"):
        key(x=value)
    store = Store(tmp_path, experiment="toy/one", version=1)
    with pytest.raises(ValueError, match="cannot be the parameter of a cell"):
        store.add([{"x": value}], {"y": [1.0]}, {})


def test_other_mappings_keep_their_addresses():
    assert key(x={1: 2, 2: 3}) == key(x={"1": 2, "2": 3}) != key(x={"1": 2})
    assert key(x=math.inf) != key(x=-math.inf)
