"""One browser for all tests of pages."""

import os
from collections.abc import Iterator

import pytest
from playwright import sync_api as playwright

from tests.viz.browser import BROWSER, FLAGS


@pytest.fixture(scope="session")
def browser_context(tmp_path_factory) -> Iterator["playwright.BrowserContext"]:
    """A browser that is opened once."""
    os.environ.setdefault("PLAYWRIGHT_SKIP_VALIDATE_HOST_REQUIREMENTS", "1")
    with playwright.sync_playwright() as driver:
        folder = tmp_path_factory.mktemp("browser")
        opened = driver.chromium.launch_persistent_context(
            folder, executable_path=BROWSER, headless=True, args=list(FLAGS), color_scheme="light"
        )
        yield opened
        opened.close()
