"""The report in a real browser, at desktop and phone width."""

import shutil
from pathlib import Path

import pytest

from bpgnn.experiments.store import Store
from bpgnn.report.registry import SECTIONS
from bpgnn.report.source import Source
from bpgnn.report.write import write_report

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Write the report of the runs that are kept with the code."""
    folder = tmp_path_factory.mktemp("report")
    source = Source(Store(Path(__file__).parents[2] / "results" / "runs.jsonl").read())
    page = write_report(folder, [make(source) for make in SECTIONS.values()], "", fast=False)
    return page.as_uri()


@pytest.mark.parametrize("width", [1200, 390])
def test_the_page_opens_without_network_errors_or_overflow(address, width):
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 800})
        said, fetched = [], []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: fetched.append(request.url))
        page.goto(address)
        assert fetched == [address]
        assert page.locator("section").count() == len(SECTIONS)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        # A cell can be read without scrolling, whatever the width.
        first = page.locator("#results td").first.bounding_box()
        assert first["x"] + first["width"] < width
        page.get_by_role("link", name="robustness").click()
        assert page.url.endswith("#robustness")
        assert page.locator("#robustness figure svg").is_visible()
        summary = page.locator("#results details summary")
        summary.click()
        assert page.locator("#results details code").first.is_visible()
        assert said == []
        browser.close()
