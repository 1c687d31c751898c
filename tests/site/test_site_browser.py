"""The report in a browser: links, filters and plots, wide and narrow, light and dark.

It needs Playwright and a Chromium of the system (Debian's package `chromium`); nothing is fetched.
"""

import json
import shutil

import pytest

from tacit.site import write_report

api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")

WIDTHS = (1400, 400)
STATE = """() => ({
  overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  paper: getComputedStyle(document.body).backgroundColor,
  images: [...document.images].map(image => [
    image.getAttribute('width'), image.getAttribute('height'), image.alt !== null,
  ]),
  plots: [...document.querySelectorAll('.plot')].map(plot => [
    plot.querySelectorAll('.scatterlayer .trace path, .heatmaplayer image').length,
    plot.getBoundingClientRect().height, plot.getBoundingClientRect().width,
    plot.getAttribute('aria-label').length,
  ]),
  links: [...document.querySelectorAll('a[href]')].map(link => link.href.split('#')[0]),
})"""


@pytest.fixture(scope="module")
def site(tmp_path_factory, make_results):
    folder = tmp_path_factory.mktemp("site")
    results, other = make_results(folder / "results"), make_results(folder / "other")
    failing = {"name": "f", "expected": "fails", "verdict": "fails", "because": "a reason"}
    long = {"name": "long", "statement": "an_unbroken_word" * 40, "verdict": "undecided"}
    results.add("memoryless/fig1", claims=[{}, failing, long])
    results.add("mine/fig2", claims=[{}])
    other.add("mine/fig2", claims=[{"measured": 3.0}])
    (results.folder / "verify").mkdir()
    answer = {"memoryless/lemma3.1": {"verdict": "holds", "worst_margin": 1e-13, "instances": 20}}
    (results.folder / "verify" / "margins.json").write_text(json.dumps(answer))
    return write_report(results.folder, against=other.folder)


@pytest.fixture(scope="module")
def browser():
    with api.sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def page(browser):
    """A page that notes errors of scripts and requests for anything but files."""
    opened = browser.new_context(viewport={"width": WIDTHS[0], "height": 900}).new_page()
    opened.set_default_timeout(120_000)  # a busy machine is slow, not wrong
    wrong = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda told: wrong.append(told.text) if told.type == "error" else None)
    opened.on("requestfailed", lambda request: wrong.append(request.url))
    opened.on(
        "request",
        lambda asked: None if asked.url.startswith(("file:", "data:")) else wrong.append(asked.url),
    )
    yield opened
    assert wrong == []
    opened.context.close()


def test_every_page_wide_and_narrow_light_and_dark(site, page):
    left, seen = [site.as_uri()], set()
    while left:
        address = left.pop()
        seen.add(address)
        page.set_viewport_size({"width": WIDTHS[0], "height": 900})
        page.goto(address)
        for number, width in enumerate(WIDTHS):
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(150)  # Plotly redraws a moment after the window has changed
            state = page.evaluate(STATE)
            assert state["overflow"] <= 0, (address, width)
            assert all(all(image) for image in state["images"]), address
            for shapes, height, wide, words in state["plots"]:
                assert shapes > 0, address
                assert height > 150
                assert 150 < wide <= width
                assert words > 10
            page.click("[data-theme-switch]")
            assert page.evaluate(STATE)["paper"] != state["paper"]
            assert number < 2
        left += [link for link in state["links"] if link not in seen and link not in left]
    names = {address.rpartition("/")[2] for address in seen}
    assert names == {
        "index.html", "claims.html", "statements.html", "errata.html", "compare.html",
        "memoryless-fig1.html", "mine-fig2.html",
    }  # fmt: skip


def test_filters_leave_what_they_name(site, page):
    page.goto(site.as_uri())
    cards = page.locator("li.card:visible")
    assert cards.count() == 2
    for kind, count in (("undecided", 1), ("failure", 1), ("unexpected", 0), ("", 2)):
        page.click(f'[data-kind="{kind}"]')
        assert cards.count() == count
        assert page.get_attribute(f'[data-kind="{kind}"]', "aria-pressed") == "true"
    page.select_option("select[data-paper]", "mine")
    assert cards.all_inner_texts()[0].startswith("mine")
    assert page.inner_text("[data-found]") == "1 of 2"
    page.goto(f"{(site.parent / 'report' / 'claims.html').as_uri()}#paper=memoryless")
    rows = page.locator("tbody tr:visible")
    assert (rows.count(), page.locator("details.group:visible").count()) == (0, 1)
    page.click('[data-kind="failure"]')
    assert rows.count() == 1
    assert "a reason" in rows.first.inner_text()
    page.click('[data-kind=""]')
    page.fill("[data-search]", "unbroken")
    assert rows.count() == 1


def test_a_series_goes_and_comes_by_the_keyboard(site, page):
    page.goto((site.parent / "report" / "mine-fig2.html").as_uri())
    lines = page.locator(".plot .scatterlayer .trace")
    rules = page.locator(".plot .shapelayer path")
    before = lines.count(), rules.count()
    assert before == (5, 2)  # band and line in two panels, a cell without a value in the third
    for label, after in (("loss", (1, 2)), ("half way", (1, 0))):
        button = page.locator(".key button", has_text=label).first
        button.focus()
        page.keyboard.press("Enter")
        assert button.get_attribute("aria-pressed") == "false"
        assert (lines.count(), rules.count()) == after
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    assert (lines.count(), rules.count()) == (1, 2)


def test_a_point_tells_its_seed_and_its_outcome(site, page):
    page.goto((site.parent / "report" / "mine-fig2.html").as_uri())
    assert page.inner_text("figure.main figcaption") == "(b) large start"
    page.evaluate(
        "Plotly.Fx.hover(document.querySelector('.main .plot'), [{curveNumber: 1, pointNumber: 2}])"
    )
    words = page.locator(".main .hoverlayer").text_content() or ""
    assert "seed 2, converged" in " ".join(words.split())
