"""A real Chromium, headless, that draws without graphics hardware; without it these tests are skipped."""

import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench import browser
from drystone.show.page.answers import RunAnswers
from drystone.show.page.bundle_files import BUNDLE
from drystone.show.page.server import Server

PATIENCE = 60_000  # [ms] on a machine that does much else


@pytest.fixture(scope="session")
def chromium():
    if browser.found() is None:
        pytest.skip("no Chromium on this machine")
    if not (BUNDLE / "index.html").exists():
        pytest.skip("the page is not built: make page")
    pytest.importorskip("playwright.sync_api", reason="playwright, of the dev group, drives the browser")
    with browser.chromium() as opened:
        yield opened


class Watched:
    """A page, what it asked for and what went wrong in it."""

    def __init__(self, page):
        self.page, self.asked, self.wrong = page, [], []
        page.set_default_timeout(PATIENCE)
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("requestfailed", lambda request: self.wrong.append(f"{request.url} failed"))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda message: self.wrong.append(message.text) if message.type == "error" else None)

    def open(self, address):
        self.page.goto(address)
        self.page.wait_for_selector("body[data-ready=true]")

    def do(self, words):
        """What `window.drystone` answers."""
        return self.page.evaluate(f"drystone.{words}")

    def scene(self):
        """(H, W, 3) the pixels of the first scene."""
        import io

        import numpy as np
        from PIL import Image

        shot = self.page.locator("canvas.stage").first.screenshot()
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)


@contextmanager
def pages(chromium):
    """Makes pages; offline: without any network."""
    contexts = []

    def make(offline=False):
        contexts.append(chromium.new_context(viewport=browser.SIZE, offline=offline))
        return Watched(contexts[-1].new_page())

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def watched(chromium):
    with pages(chromium) as make:
        yield make


@contextmanager
def served(*folders: Path):
    """The address at which runs are served, and the server."""
    with Server(RunAnswers(folders), "index.html") as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.05], daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
