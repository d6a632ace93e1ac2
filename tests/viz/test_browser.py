"""The report in a real browser: it filters, searches, opens, and keeps to itself."""

from collections.abc import Iterator

import pytest

from protgnn.cli.main import main
from tests.viz.browser import BROWSER, Visit

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no browser is installed: apt-get install chromium")


@pytest.fixture(scope="module")
def report(prototype_run, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    with pytest.raises(SystemExit) as end:
        main(["report", str(prototype_run), "-o", str(path)])
    assert not end.value.code
    return path.as_uri()


@pytest.fixture
def visit(browser_context, report) -> Iterator[Visit]:
    visit = Visit(browser_context, report)
    yield visit
    visit.page.close()
    assert visit.complaints == [], "the console is not silent"
    assert visit.requests == [report], "something was asked of a network"


def test_a_class_can_be_chosen(visit):
    assert visit.shown("prototypes") == 6
    visit.page.get_by_role("button", name="medium").click()
    assert visit.shown("prototypes") == 2
    assert visit.page.get_by_role("button", name="medium").get_attribute("aria-pressed") == "true"
    assert "2 of 6 prototypes" in visit.page.locator("#found").inner_text()
    visit.page.get_by_role("button", name="All classes").click()
    assert visit.shown("prototypes") == 6 and visit.page.locator("#found").inner_text() == ""


def test_a_word_can_be_searched(visit):
    visit.page.get_by_label("Find").fill("prototype 3")
    assert visit.shown("prototypes") == 1 and visit.page.locator("#prototype-3").is_visible()
    visit.page.get_by_label("Find").fill("no such thing")
    assert visit.shown("prototypes") == visit.shown("explanations") == visit.shown("test molecules") == 0
    visit.page.get_by_label("Find").fill("")
    assert visit.shown("test molecules") == 9


def test_a_reasoning_opens_with_the_keyboard_and_shows_its_figure(visit):
    reasoning = visit.page.locator("details.why").first
    figure = reasoning.locator("svg[aria-label^='Explanation of']")
    assert not figure.is_visible()
    reasoning.locator("summary").first.focus()
    visit.page.keyboard.press("Enter")
    assert figure.is_visible() and figure.bounding_box()["height"] > 300
    table = reasoning.locator("details summary")
    table.click()
    assert reasoning.locator("tbody tr:has(td.formula)").count() == 6
    assert "sum (logit)" in reasoning.locator("tbody tr").last.inner_text()


def test_a_link_opens_what_it_points_to(visit):
    link = visit.page.locator("a[href^='#why-']").first
    target = link.get_attribute("href")
    link.click()
    visit.page.wait_for_function("(id) => document.querySelector(id).open", arg=target)


def test_the_reader_chooses_light_or_dark(visit):
    def paper() -> str:
        return visit.page.evaluate("getComputedStyle(document.body).backgroundColor")

    light = paper()
    visit.page.get_by_role("button", name="Dark").click()
    assert paper() != light
    visit.page.get_by_role("button", name="Light").click()
    assert paper() == light


def test_pictures_are_drawn_in_the_colours_of_the_page(visit):
    """A `<use>` whose body is missing, or a variable that is not defined, would leave a picture empty."""
    missing = visit.page.evaluate(
        "[...document.querySelectorAll('use')].filter((use) => !document.querySelector(use.href.baseVal)).length"
    )
    assert missing == 0
    inks = visit.page.evaluate(
        "[...new Set([...document.querySelectorAll('defs path[stroke]')].map((one) => getComputedStyle(one).stroke))]"
    )
    assert inks and "none" not in inks


def test_nothing_is_wider_than_a_telephone(browser_context, report):
    visit = Visit(browser_context, report)
    visit.page.set_viewport_size({"width": 390, "height": 800})
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
    visit.page.close()


def test_on_paper_everything_is_open(visit):
    visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert visit.page.locator("details:not([open])").count() == 0
    visit.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert visit.page.locator("details[open]").count() == 0
