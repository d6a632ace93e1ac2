"""Takes the picture of the explorer: ``python docs/explorer_picture.py RUN docs/explorer.png``.

A run of molecules is served on a free port, and Chromium is asked about a chlorohexylbenzene, of which then the
chlorine is taken out.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
from pathlib import Path

import uvicorn
from playwright.sync_api import sync_playwright

from protgnn.web.app import make_app
from protgnn.web.explorer import Explorer
from protgnn.web.server import bind

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def main(run: Path, picture: Path) -> None:
    address = bind("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(make_app(Explorer.open(run), address.access), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [address.listening]}, daemon=True)
    thread.start()
    os.environ.setdefault("PLAYWRIGHT_SKIP_VALIDATE_HOST_REQUIREMENTS", "1")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
        page.goto(f"{address.url}#ask?text=CCCCCCc1ccc(Cl)cc1")
        page.get_by_role("button", name="Take out atom 10").click(timeout=60_000)
        page.get_by_label("What changed").wait_for()
        page.mouse.move(5, 5)
        page.screenshot(path=picture)
        browser.close()
    server.should_exit = True
    thread.join(timeout=10)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
