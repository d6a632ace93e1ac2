"""A browser for the tests, and what a page did in it."""

import shutil

from playwright import sync_api as playwright

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


class Visit:
    """A page, and everything it complained about or asked for."""

    def __init__(self, context: "playwright.BrowserContext", address: str) -> None:
        self.page = context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)

    def shown(self, kind: str) -> int:
        return self.page.locator(f'[data-kind="{kind}"]:visible').count()
