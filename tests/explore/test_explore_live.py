"""The live run, and the explorer in a browser: every slider moved, wide and narrow, and a drag.

Both are in one file, so that they share the compiled program. The browser's test needs Playwright
and a Chromium of the system (Debian's package `chromium`); nothing is fetched.
"""

import shutil

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tacit.explore import SECTIONS, Explorer, _regimes, _training
from tacit.explore._lowdim import teacher

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
STARTS = {slider.name: slider.start for slider in _training.TRAINING.sliders}
WIDTHS = (1400, 400)
STATE = """part => ({
  overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  paper: getComputedStyle(document.body).backgroundColor,
  words: part.querySelector('[data-words]').textContent,
  alarm: part.querySelector('.alarm') !== null,
  call: part.querySelector('[data-call]').textContent,
  plots: [...part.querySelectorAll('.plot')].map(plot => ({
    shapes: plot.querySelectorAll('.scatterlayer .trace path, .heatmaplayer image').length,
    data: JSON.stringify(plot.data) + JSON.stringify(plot.layout.shapes),
    width: plot.getBoundingClientRect().width,
    words: plot.getAttribute('aria-label').length,
    title: plot.closest('figure').querySelector('[data-title]').textContent,
  })),
})"""


def flow(students, length, order, until):
    """λ and B of balanced students, one after the other, by an integrator that is not ours."""
    lags = np.arange(length)
    target = teacher(order)[:length]

    def slope(_, state):
        eigenvalues, weights = np.split(state, 2)
        powers = eigenvalues ** lags[:, None]
        misfit = powers @ weights**2 - target
        lower = lags[:, None] * eigenvalues ** np.maximum(lags - 1, 0)[:, None]
        by_eigenvalue = 2 * misfit @ (lower * weights**2)
        return -np.append(by_eigenvalue, 4 * misfit @ (powers * weights))

    def end(eigenvalues, weights):
        start = np.append(eigenvalues, weights)
        return solve_ivp(slope, (0, until), start, rtol=1e-8, atol=1e-10).y[:, -1]

    return [end(*student) for student in students]


def test_a_run_in_pieces_is_gradient_flow_of_students_of_the_width_that_was_asked_for(monkeypatch):
    """Units beyond the width stay out of it, and a pause between two pieces changes nothing."""
    monkeypatch.setattr(_training, "TIMES", np.array([0.5, 3.0, 8.0]))
    values = {**STARTS, "length": 4, "width": 5, "scale": 0.3, "order": 2}
    begun = _training.Run.begun(**values)
    starting = list(zip(begun.students.transition.diagonal, begun.students.B[..., 0], strict=True))
    assert all(np.count_nonzero(weights) == 5 for _, weights in starting)
    runs, lengths = _training.Runs(), []
    monkeypatch.setattr(_training, "_STEPS", 12)  # too few to reach the next time in one piece
    run = runs.advanced(**values)
    while lengths.append(len(run.trained)) or not run.ended:
        run = runs.advanced(**values)
    assert lengths[0] == 1
    assert len(lengths) > 3
    seen = [(np.array(values)[:5], np.array(weights)[:5]) for values, weights in starting]
    lags = np.arange(_training.LAGS)
    for state, response in zip(flow(seen, 4, 2, 8.0), run.responses, strict=True):
        eigenvalues, weights = np.split(state, 2)
        wanted = (eigenvalues ** lags[:, None]) @ weights**2
        np.testing.assert_allclose(response, wanted, atol=5e-3)
    errors = np.abs(run.responses - teacher(2))
    np.testing.assert_allclose(run.trained[-1], errors[:, :4].max(1))
    np.testing.assert_allclose(run.later[-1], errors[:, 4:].max(1))
    for seed in range(1, 12):  # only a few runs are kept
        runs._kept[(seed,)] = run
    runs.advanced(**values)
    assert len(runs._kept) == _training._RUNS


@pytest.fixture
def explorer(monkeypatch):
    monkeypatch.setattr(_training, "TIMES", np.array([0.01, 0.03]))
    monkeypatch.setattr(_training, "_runs", _training.Runs())
    monkeypatch.setattr(_regimes, "LENGTHS", (3, 4, 5))
    monkeypatch.setattr(_regimes, "SCALES", (0.01, 0.3, 10.0))
    _regimes._map.cache_clear()
    with Explorer() as started:
        yield started
    _regimes._map.cache_clear()


@pytest.fixture
def page(explorer):
    """The page, with a list of errors and of requests for anything but our own address."""
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here")
    with api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": WIDTHS[0], "height": 900})
        opened.set_default_timeout(120_000)  # a busy machine is slow, not wrong
        wrong = []
        opened.on("pageerror", lambda error: wrong.append(str(error)))
        opened.on("console", lambda told: wrong.append(told.text) if told.type == "error" else None)
        opened.on("requestfailed", lambda request: wrong.append(request.url))
        opened.on(
            "request",
            lambda asked: (
                None
                if asked.url.startswith((explorer.address, "data:", "blob:"))
                else wrong.append(asked.url)
            ),
        )
        opened.goto(explorer.address)
        yield opened
        assert wrong == []
        browser.close()


def answered(page, part):
    """The state of a part when all its answers are there."""
    page.locator(f"#{part}[aria-busy=false]").wait_for(timeout=60_000)
    return page.locator(f"#{part}").evaluate(STATE)


def looks(section, state, width):
    """A part as it should look at a width."""
    assert not state["alarm"], state["words"]
    assert state["overflow"] <= 0, (width, section.id)
    assert state["call"]
    for plot in state["plots"]:
        assert plot["shapes"] > 0, (width, section.id)
        assert 150 < plot["width"] <= width
        assert plot["words"] > 10
        assert len(plot["title"]) > 5


def test_every_slider_moves_every_figure_wide_and_narrow(page):
    """Wide, each slider changes the figures. Narrow, all are moved, and the part answers once."""
    for section in SECTIONS:
        page.locator(f"#{section.id}").scroll_into_view_if_needed()
        before = answered(page, section.id)
        for slider in section.sliders:
            page.locator(f"#{section.id}-{slider.name}").press("End")
            state = answered(page, section.id)
            now = [plot["data"] for plot in state["plots"]]
            assert now != [plot["data"] for plot in before["plots"]], (section.id, slider.name)
            before = state
        looks(section, state, WIDTHS[0])
    page.set_viewport_size({"width": WIDTHS[1], "height": 900})
    for section in SECTIONS:
        page.locator(f"#{section.id}").scroll_into_view_if_needed()
        before = answered(page, section.id)
        for slider in section.sliders:
            told = page.locator(f"output[for={section.id}-{slider.name}]")
            was = told.text_content()
            page.locator(f"#{section.id}-{slider.name}").press("ArrowLeft")
            assert told.text_content() != was, (section.id, slider.name)
        state = answered(page, section.id)
        assert [p["data"] for p in state["plots"]] != [p["data"] for p in before["plots"]]
        looks(section, state, WIDTHS[1])
    page.click("[data-theme-switch]")
    assert page.locator("#depth").evaluate(STATE)["paper"] != state["paper"]
    page.locator("#depth [data-reset]").click()
    assert "depth=3" in answered(page, "depth")["call"]

    point = page.locator("#regimes .plot").first
    point.scroll_into_view_if_needed()
    answered(page, "regimes")
    box = point.bounding_box()
    page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 0.3 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.15 * box["height"], steps=3)
    page.mouse.up()
    state = answered(page, "regimes")
    reached = [page.locator(f"#regimes-{name}").input_value() for name in ("length", "gamma0")]
    assert int(reached[0]) >= 2
    assert 9 <= int(reached[1]) <= 30


def test_the_error_at_the_lags_that_are_seen_is_said_first(monkeypatch):
    run = _training.Run(3, 7, None)
    run.trained, run.later = [np.full(6, 2e-3)], [np.full(6, 0.5)]
    monkeypatch.setattr(_training._runs, "advanced", lambda **values: run)
    words = _training.answer(**STARTS).words
    assert "0.002 off at the lags that they see, and 0.5 at those that they do not" in words
