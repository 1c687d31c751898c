"""What the parts of the page answer, and which values they refuse."""

import json
import re

import numpy as np
import pytest

import tacit
from tacit.draw import Heatmap, Line, Points
from tacit.explore import SECTIONS, Slider, _kernel, _lowdim, _regimes
from tacit.explore._numbers import number
from tacit.explore._server import answered
from tacit.theory.depth import limit_effective_rank
from tacit.theory.lowdim import threshold
from tacit.theory.regimes import wide_error

PARTS = {section.id: section for section in SECTIONS}
QUICK = [section for section in SECTIONS if section.id != "training"]


def starts(section, **others):
    return {slider.name: slider.start for slider in section.sliders} | others


@pytest.mark.parametrize("section", QUICK, ids=lambda section: section.id)
def test_every_slider_changes_what_is_drawn_or_said(section):
    for slider in section.sliders:
        low, high = (answered(section, f"{slider.name}={slider.values[end]}") for end in (0, -1))
        assert low != high, slider.name
        for answer in (low, high):
            json.dumps(answer, allow_nan=False)
            assert len(answer["panels"]) == section.panels
            assert all(panel["plot"]["data"] and panel["alt"] for panel in answer["panels"])
            assert answer["words"].endswith(".")


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.id)
def test_what_lies_beyond_the_bounds_is_refused_in_words(section):
    for slider in section.sliders:
        low, high = slider.values[0], slider.values[-1]
        for text in (repr(low - 1e-3), repr(high + 1), "nan", "inf", "", "1; 2", "9" * 400):
            with pytest.raises(ValueError, match=f"^{slider.name}: received .* from {low:g} to"):
                answered(section, f"{slider.name}={text}")
    with pytest.raises(ValueError, match="'depht' is no parameter here, there are "):
        answered(section, "depht=3")
    name = section.sliders[0].name
    with pytest.raises(ValueError, match=f"{name}: received 2 values, it must be one"):
        answered(section, f"{name}=1&{name}=2")


def test_a_whole_number_is_asked_for_where_one_is_meant():
    with pytest.raises(
        ValueError, match=r"depth: received '2\.5', it must be a whole number from 2"
    ):
        answered(PARTS["depth"], "depth=2.5")
    with pytest.raises(ValueError, match="there is nothing to learn"):
        answered(PARTS["connectivity"], "target=0")


@pytest.mark.parametrize(
    ("values", "start", "words"),
    [((1, 1), 1, "^values: .* ascending"), ((1,), 1, "^values"), ((1, 2), 3, "^start: received 3")],
)
def test_a_slider_that_cannot_stand_is_refused(values, start, words):
    with pytest.raises(ValueError, match=words):
        Slider("name", "label", values, start)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.25, "0.25"), (-3, "−3"), (1.94e-5, "1.94×10⁻⁵"), (1e6, "10⁶"), (-2e7, "−2×10⁷")],
)
def test_numbers_in_sentences(value, text):
    assert number(value) == text


def test_the_point_of_the_depth_part_is_on_its_curve():
    values = starts(PARTS["depth"], scale=0.3, depth=4, ratio=40.0, blocks=5)
    spectrum, ranks = PARTS["depth"].answer(**values).figure.panels
    (point,) = [mark for mark in ranks.marks if isinstance(mark, Points)]
    here = limit_effective_rank(**values)
    assert (point.x[0], point.y[0]) == (0.3, pytest.approx(here))
    thick = next(mark for mark in ranks.marks if isinstance(mark, Line) and mark.width == 3)
    assert thick.label == "L = 4"
    assert np.interp(np.log(0.3), np.log(thick.x), thick.y) == pytest.approx(here, rel=1e-2)
    assert spectrum.marks[0].y.sum() == pytest.approx(10)  # the trace that fits: blocks × size


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_nothing_is_left_open_from_the_threshold_on(order):
    def left(length):
        values = starts(PARTS["lowdim"], order=order, length=length)
        return PARTS["lowdim"].answer(**values).words

    assert "Nothing is left open" in left(threshold(order))
    assert "can be anything" in left(threshold(order) - 1)


def test_the_map_fills_in_and_then_has_no_more(monkeypatch):
    monkeypatch.setattr(_regimes, "LENGTHS", (4, 5))
    monkeypatch.setattr(_regimes, "SCALES", (0.1, 10.0))
    monkeypatch.setattr(_regimes, "_SECONDS", 0.0)
    _regimes._map.cache_clear()
    holes, asked, answer = [], 0, None
    while (answer is None or answer.more) and asked < 20:
        answer, asked = _regimes.answer(length=4, gamma0=10.0, nu_w=0.35), asked + 1
        (heat,) = [m for m in answer.figure.panels[0].marks if isinstance(m, Heatmap)]
        holes.append(int(np.isnan(heat.z).sum()))
    _regimes._map.cache_clear()
    assert holes == [3, 2, 1, 0]
    target = _regimes.teacher(5 + _regimes.TAIL)
    assert heat.z[1, 0] == pytest.approx(wide_error(target, 0.1, length=5, nu_w=0.35))


def said(part, **others):
    """The words of an answer, its numbers, and what its line of Python gives."""
    answer = PARTS[part].answer(**starts(PARTS[part], **others))
    numbers = [float(n.replace("−", "-")) for n in re.findall(r"−?\d+\.\d+", answer.words)]

    def run(**names):
        code = answer.call.partition("  #")[0].split("; ")
        for line in code[:-1]:
            exec(line, {"tacit": tacit}, names)
        return eval(code[-1], {"tacit": tacit, **names})

    return answer, numbers, run


@pytest.mark.parametrize("ratio", [1.3, 128.0])
def test_the_line_of_python_of_the_depth_part_gives_its_numbers(ratio):
    answer, numbers, run = said("depth", ratio=ratio, scale=0.5)
    first, others = run()
    assert numbers[:2] == pytest.approx([first, others], rel=1e-3)
    drawn = answer.figure.panels[0].marks[0].y
    np.testing.assert_allclose(drawn, [first, others, others, 0, 0, 0])


def test_the_line_of_python_of_the_lowdim_part_gives_its_numbers():
    answer, numbers, run = said("lowdim", length=4, lag=15)
    assert numbers[:2] == pytest.approx(run(teacher=_lowdim.teacher(3)), rel=1e-3)
    assert numbers[2] == pytest.approx(_lowdim.teacher(3)[15], rel=1e-3)
    assert f"= {threshold(3)} on there is no choice" in answer.words


def test_the_line_of_python_of_the_kernel_part_gives_its_numbers():
    answer, _, run = said("kernel", delay=6, steps=100)
    x = np.random.default_rng(0).standard_normal((6, _kernel.LENGTH, 1))
    y = np.concatenate([np.zeros((6, 6, 1)), x[:, :-6]], axis=1)  # what came six steps before
    curve = run(x=x, y=y)
    left = np.sqrt(np.sum((curve.outputs - y) ** 2) / np.sum(y**2))
    share, error = re.findall(r"(\S+) %", answer.words)
    assert float(error) == pytest.approx(100 * left, rel=2e-2)  # the rate is said in three digits
    weights = answer.figure.panels[0].marks[1].y
    assert float(share) == pytest.approx(100 * weights[6] / np.max(weights), rel=1e-2)
    assert curve.largest_rate / 2 == pytest.approx(
        float(re.search(r"rate=([\d.e-]+)", answer.call)[1]), rel=1e-2
    )


@pytest.mark.parametrize(
    ("gamma0", "verdict"), [(0.01, "does not extrapolate"), (3.0, "extrapolates")]
)
def test_the_line_of_python_of_the_map_gives_its_number(gamma0, verdict, monkeypatch):
    monkeypatch.setattr(_regimes, "_SECONDS", 0.0)
    answer, _, run = said("regimes", gamma0=gamma0)
    error = run(teacher=_regimes.teacher(8 + _regimes.TAIL))
    assert f"relative error of {number(error)} on" in answer.words
    assert answer.words.endswith(f"it {verdict}.")
    assert (error < 0.5) == (verdict == "extrapolates")


def test_the_line_of_python_of_the_connectivity_part_gives_its_numbers(monkeypatch):
    answer, numbers, _ = said("connectivity", target=-3.0)
    call = answer.call.partition(".output(times)")[0]
    curve = eval(call, {"tacit": tacit})
    learnt = curve.learning_time(-3.0)
    first, second = curve.singular_values(learnt, target=-3.0)
    assert "targets=-3)" in call
    assert numbers[:3] == pytest.approx([learnt, first, second], rel=1e-2)
    percent = float(re.search(r"rank one but for (\S+) %", answer.words)[1])
    assert percent == pytest.approx(100 * second / first, rel=5e-2)
