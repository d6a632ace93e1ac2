"""The explorer in a real browser: ask, change, edit, upload, compare, save; a silent console and no foreign request."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import openpyxl
import pytest
from playwright.sync_api import expect

import protgnn
from protgnn.web.app import EDITOR
from protgnn.web.explorer import Explorer
from protgnn.web.server_limits import ServerLimits
from tests.viz.browser import BROWSER, Visit

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no browser is installed: apt-get install chromium")

PARACETAMOL = "CC(=O)Nc1ccc(O)cc1"


@pytest.fixture(scope="module")
def address(mined_run, other_run, served) -> str:
    return served(Explorer.open(mined_run, other_run, ServerLimits(pictured_rows=64)))


@pytest.fixture
def page(browser_context, address) -> Iterator:
    """The page of a new visitor."""
    browser_context.clear_cookies()
    visit = Visit(browser_context, address)
    visit.page.set_default_timeout(60_000)  # a busy machine takes its time
    visit.page.get_by_text("Prediction").wait_for()
    yield visit.page
    visit.page.close()
    assert visit.complaints == [], "the console is not silent"
    strangers = [url for url in visit.requests if urlsplit(url).netloc not in (urlsplit(address).netloc, "")]
    assert strangers == [], "something was asked of another machine"


def asked(page, text: str) -> None:
    """Type a molecule and wait for its answer."""
    page.get_by_label("Molecule, as SMILES").fill(text)
    expect(page.locator(".answer")).to_have_attribute("data-asked", text)


def view(page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()


def test_a_molecule_is_typed_its_reasoning_shown_and_what_a_change_does(page):
    asked(page, "OCC(O)CO")
    assert page.locator("article.evidence").count() >= 1
    assert page.locator("article.evidence .frame svg").first.bounding_box()["height"] > 60
    before = page.locator(".verdict .headline").inner_text()
    asked(page, "c1ccc2ccccc2c1")
    assert page.get_by_label("What changed").is_visible()
    assert page.locator(".verdict .headline").inner_text() != before
    page.get_by_role("button", name="Undo change").click()
    expect(page.locator(".verdict .headline")).to_have_text(before)


def test_the_sums_on_the_page_add_up(page):
    asked(page, PARACETAMOL)
    rows = page.locator(".sums tbody tr")
    cells = [row.locator("td").first.inner_text() for row in rows.all()]
    numbers = [float(text.replace("−", "-")) for text in cells]
    assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=0.021)  # each is rounded


def test_a_sum_over_places_is_shown_as_their_number_times_what_each_has(page):
    shown = "async (row) => (await import('/static/dom.js')).similarity(row)"
    assert page.evaluate(shown, {"similarity": 2.5, "counted": 2}) == "2 × 1.25"
    assert page.evaluate(shown, {"similarity": 2.5, "counted": 1}) == "2.50"


def test_an_atom_is_taken_out_by_a_click_and_by_the_keyboard(page):
    asked(page, "c1ccccc1O")
    page.get_by_role("button", name="Take out atom 6").click()
    expect(page.get_by_label("Molecule, as SMILES")).to_have_value("c1ccccc1")
    page.get_by_label("What changed").wait_for()
    expect(page.get_by_role("button", name="Take out atom 6")).to_have_count(0)  # the picture is that of benzene
    page.get_by_role("button", name="Take out atom 0").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Molecule, as SMILES")).not_to_have_value("c1ccccc1")


@pytest.mark.skipif(not EDITOR.is_file(), reason="no molecule editor: python -m protgnn.web.vendor")
def test_a_molecule_is_drawn(page):
    asked(page, "CCO")
    page.get_by_role("button", name="Draw").click()
    canvas = page.locator(".editor canvas").last
    canvas.wait_for()
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] * 0.8, "y": box["height"] * 0.85})  # a bond where nothing is
    expect(page.get_by_label("Molecule, as SMILES")).to_have_value(re.compile(r"\."))
    page.get_by_label("What changed").wait_for()


def test_what_cannot_be_read_is_said_and_the_last_answer_stays(page):
    asked(page, PARACETAMOL)
    page.get_by_label("Molecule, as SMILES").fill("CC(")
    expect(page.get_by_role("alert")).to_contain_text("SMILES")
    assert page.locator("article.evidence").count() >= 1


def test_a_prototype_is_removed_accuracy_told_and_undone(page):
    view(page, "Prototypes")
    before, known = page.locator("#accuracy").inner_text(), page.locator(".card").count()
    page.locator(".card").first.get_by_role("button", name="Remove").click()
    page.get_by_label("History").wait_for()
    assert "→" in page.locator("#accuracy").inner_text() and page.locator(".card").count() == known - 1
    assert "edited" in page.locator("#run-name").inner_text()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".card")).to_have_count(known)
    assert page.locator("#accuracy").inner_text() == before


def test_a_thousand_rows_are_uploaded_filtered_and_downloaded(page, tmp_path):
    names = protgnn.load("solubility").graphs.names[:1000]
    (tmp_path / "thousand.csv").write_text("smiles\n" + "\n".join(names) + "\n")
    view(page, "Table")
    page.locator("#file").set_input_files(tmp_path / "thousand.csv")
    page.get_by_text("1000 of 1000 rows").wait_for()
    assert page.locator("table.rows tbody tr").count() == 25
    page.locator(".small-picture svg").first.wait_for()
    page.get_by_label("Predicted").select_option(label="high")
    assert "1000 of 1000" not in page.locator("main").inner_text()
    with page.expect_download() as started:
        page.get_by_role("link", name="Download CSV").click()
    assert len(list(csv.DictReader(Path(started.value.path()).read_text().splitlines()))) == 1000
    with page.expect_download() as started:
        page.get_by_role("link", name="Download Excel").click()
    started.value.save_as(tmp_path / "sheet.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "sheet.xlsx").active
    assert sheet.max_row == 1001 and len(sheet._images) == 64, "of many rows the first have pictures"


def test_rows_are_sorted_and_lead_to_their_reasoning(page):
    view(page, "Table")
    page.get_by_role("button", name="probability").click()
    head = page.locator("th", has_text="probability")
    assert head.get_attribute("aria-sort") == "descending"
    column = [float(cell.inner_text()) for cell in page.locator("tbody tr td:nth-child(6)").all()]
    assert column == sorted(column, reverse=True)
    page.locator("tbody tr .name a").first.click()
    page.get_by_text("Prediction").wait_for()


def test_what_is_selected_on_the_map_is_shown_in_the_table(page):
    view(page, "Map")
    page.locator(".plot svg").wait_for()
    box = page.locator(".plot svg").bounding_box()
    page.mouse.move(box["x"] + 1, box["y"] + 1)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] - 2, steps=4)
    page.mouse.up()
    page.get_by_role("button", name="Show in the table").click()
    page.get_by_text("selected on the map").wait_for()


def test_the_map_is_walked_with_the_keyboard(page):
    view(page, "Map")
    plot = page.locator(".plot svg")
    plot.wait_for()
    plot.focus()
    page.keyboard.press("ArrowRight")
    page.get_by_role("link", name="Ask why").wait_for()
    page.keyboard.press("Enter")
    page.get_by_text("Prediction").wait_for()


def test_where_nothing_was_found_no_prototype_is_named(browser_context, base_run, served):
    browser_context.clear_cookies()
    visit = Visit(browser_context, served(Explorer.open(base_run)))
    page = visit.page
    page.set_default_timeout(60_000)
    page.get_by_text("Prediction").wait_for()
    view(page, "Table")
    lines = page.locator("table.rows tbody tr")
    lines.first.wait_for()
    without = page.locator("table.rows tbody tr", has=page.get_by_role("cell", name="nothing found"))
    known, found = without.count(), lines.count()
    assert 0 < known < found
    assert without.first.locator("td").all_inner_texts()[-3:] == ["nothing found", "–", "–"]
    assert without.locator('a[href*="show="]').count() == 0
    page.get_by_role("button", name="decided by").click()
    expect(lines.first).to_contain_text("nothing found")
    page.get_by_label("Decided by").select_option(label="nothing found")
    expect(lines).to_have_count(known)
    row = int(lines.first.get_attribute("data-row"))
    view(page, "Map")
    plot = page.locator(".plot svg")
    plot.wait_for()
    dot = page.locator(f'.dot[data-row="{row}"]')
    dot.scroll_into_view_if_needed()
    box = dot.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".detail")).to_contain_text("nothing found: predicted without any evidence")
    page.close()
    assert visit.complaints == [], "the console is not silent"


def test_two_runs_are_compared_and_a_disagreement_opened(page):
    view(page, "Compare")
    page.get_by_text("They disagree on").wait_for()
    told = re.search(
        r"Only the first is right on (\d+), only the second on (\d+)(.*)", page.locator("main").inner_text()
    )
    assert ("would arise by chance" in told[3]) == (told[1] != "0" or told[2] != "0"), "0 against 0 is no split"
    page.locator("button.linklike").first.click()
    page.locator(".both .verdict").nth(1).wait_for()
    assert page.locator(".both .verdict").count() == 2


USABLE = "button, a[href], input, select, textarea, [role=button], [role=img]"
NAMELESS = """(usable) => [...document.querySelectorAll(usable)]
    .filter((one) => !(one.innerText || one.textContent || one.getAttribute("aria-label") || "").trim()
      && !(one.labels && one.labels.length)).map((one) => one.outerHTML)"""


@pytest.mark.parametrize("name", ["Ask", "Map", "Table", "Prototypes", "Compare"])
def test_a_view_fits_any_window_has_names_for_those_who_listen_and_is_saved(page, browser_context, tmp_path, name):
    view(page, name)
    page.locator("main > .waiting").wait_for(state="detached")
    assert page.evaluate(NAMELESS, USABLE) == []
    for width in (1280, 400):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    with page.expect_download() as started:
        page.get_by_role("button", name="Save page").click()
    saved = tmp_path / "saved.html"
    started.value.save_as(saved)
    visit = Visit(browser_context, saved.as_uri())
    assert visit.complaints == [] and visit.requests == [saved.as_uri()], "it needs something"
    assert visit.page.locator("main").inner_text().strip() and visit.page.locator("script").count() == 0
    visit.page.close()


def test_the_reader_chooses_light_or_dark(page):
    def paper() -> str:
        return page.evaluate("() => getComputedStyle(document.body).backgroundColor")

    light = paper()
    page.get_by_role("button", name="Dark").click()
    assert paper() != light
    page.get_by_role("button", name="Light").click()
    assert paper() == light
