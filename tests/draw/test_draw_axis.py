"""Axes: transforms, ranges, ticks; and colours that stay apart.

Ticks and colours are tested by themselves: a drawn page shows them only as text and pixels.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.draw import Axis, Shade
from tacit.draw._axis import linear_ticks, log_ticks, number_text, symlog_ticks
from tacit.draw._palette import CATEGORICAL, channels, hex_of, readable_on

SCALES = ["linear", "log", "symlog"]
sizes = st.floats(1e-9, 1e9)


@given(st.sampled_from(SCALES), sizes, st.floats(1e-3, 1e3), st.booleans())
def test_backward_undoes_forward(scale, value, threshold, negative):
    value = -value if negative and scale != "log" else value
    axis = Axis("x", scale=scale, threshold=threshold)
    assert axis.backward(axis.forward(value)) == pytest.approx(value, rel=1e-9)


@given(st.sampled_from(SCALES), st.lists(sizes, min_size=2, unique=True))
def test_forward_keeps_order(scale, values):
    forward = Axis("x", scale=scale).forward(np.sort(values))
    assert (np.diff(forward) >= 0).all()


@given(st.sampled_from(SCALES), st.lists(sizes, min_size=1, max_size=20))
def test_the_range_holds_the_data_and_some_ticks(scale, values):
    axis = Axis("x", scale=scale)
    low, high = axis.span(np.array(values), padded=True)
    assert low < high
    assert low <= min(values) <= max(values) <= high
    ticks = axis.ticks_within(low, high)
    # Very close to its ends a tick may stand on the end itself.
    slack = 1e-9 * (high - low)
    assert all(low - slack <= tick <= high * (1 + 1e-9) + slack for tick in ticks)
    assert 2 <= len(ticks) <= 12
    assert len(set(ticks.values())) == len(ticks)


def test_limits_win_over_data_also_when_they_exclude_it():
    data = np.array([1.0, 2.0])
    assert Axis("x", limits=(0, 5)).span(data, padded=True) == (0, 5)
    assert Axis("x", limits=(None, 5)).span(data, padded=False) == (1, 5)
    low, high = Axis("x", limits=(7, None)).span(data, padded=False)
    assert low == 7 < high
    low, high = Axis("x", limits=(None, 0)).span(data, padded=False)
    assert low < high == 0


def test_cells_meet_halfway_as_drawn():
    assert Axis("x").edges([0, 1, 3]) == pytest.approx([-0.5, 0.5, 2, 4])
    assert Axis("x", scale="log").edges([1, 100]) == pytest.approx([0.1, 10, 1000])
    assert Axis("x").edges([5]) == pytest.approx([4.5, 5.5])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.25, "0.25"),
        (-3, "−3"),
        (2e-7, "2×10⁻⁷"),
        (1e6, "10⁶"),
        (-1e-9, "−10⁻⁹"),
        (12345, "12345"),
    ],
)
def test_numbers_as_written(value, text):
    assert number_text(value) == text


def test_ticks_are_round():
    assert linear_ticks(0, 1) == {0: "0", 0.2: "0.2", 0.4: "0.4", 0.6: "0.6", 0.8: "0.8", 1: "1"}
    assert list(linear_ticks(0.9, 8.1)) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert next(iter(linear_ticks(1.00001, 1.00003).values())) == "1.00001"
    assert log_ticks(0.5, 2000) == {1: "10⁰", 10: "10¹", 100: "10²", 1000: "10³"}
    assert log_ticks(1, 7) == {1: "1", 2: "2", 5: "5"}
    assert len(log_ticks(1e-30, 1e30)) <= 7
    assert list(symlog_ticks(-150, 20, threshold=1)) == [-100, -10, -1, 0, 1, 10]


def test_chosen_ticks_and_their_words():
    assert Axis("x", ticks=[2, 4]).ticks_within(0, 9) == {2: "2", 4: "4"}
    assert Axis("x", ticks={0: "GRU", 1: "LSTM"}).ticks_within(0, 1) == {0: "GRU", 1: "LSTM"}
    assert Axis("x", ticks=np.arange(2)).ticks_within(0, 1) == {0: "0", 1: "1"}


# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
DEFICIENCIES = {
    "none": np.eye(3),
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
}


def oklab(colour, deficiency):
    linear = (np.array(channels(colour)) / 255) ** 2.2
    linear = np.clip(np.array(deficiency) @ linear, 0, 1)
    cones = np.cbrt(
        np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]])
        @ linear
    )
    return (
        np.array([[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])
        @ cones
    )


@pytest.mark.parametrize("name", DEFICIENCIES)
def test_categorical_colours_stay_apart_for_all_readers(name):
    seen = [oklab(colour, DEFICIENCIES[name]) for colour in CATEGORICAL]
    gaps = [np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)]
    # 0.02 is about the least difference that can be seen side by side.
    assert min(gaps) > 0.06


def test_shades_run_from_dark_to_light():
    lightness = [oklab(hex_of(shade), np.eye(3))[0] for shade in Shade.family(9)]
    assert (np.diff(lightness) > 0).all()
    assert Shade.family(1) == [Shade(0)]
    assert Shade.family(3) == [Shade(0), Shade(0.5), Shade(1)]
    assert [hex_of(0), hex_of(np.int64(1))] == list(CATEGORICAL[:2])
    assert hex_of("ink") != hex_of("warning")


def test_words_on_colours_can_be_read():
    assert readable_on("#FDE725") == hex_of("ink")
    assert readable_on("#440154") == "#FFFFFF"
