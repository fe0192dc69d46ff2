"""Screenshots of page and studio: `python docs/screens.py RUN BLOCK AZIMUTH` writes images/page.png, the last frame of a run
with a block picked, and images/studio.png."""

import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.browser import SIZE, chromium
from drystone.show.page.answers import RunAnswers
from drystone.show.page.reply import Site
from drystone.show.page.server import Server
from drystone.show.page.studio import Studio

IMAGES = Path(__file__).parent / "images"


def main(run: str, block: str, azimuth: str = "28") -> None:
    with chromium() as browser:
        answers = RunAnswers([run])
        names = [stone.name for stone in answers.runs[0].run.model.blocks]
        with served(browser, answers, "index.html") as page:
            page.wait_for_selector("body[data-ready=true]")
            page.wait_for_function("() => drystone.stats().loaded[0] === drystone.stats().frames[0]")
            page.evaluate(f"drystone.look({azimuth}, 18)")
            page.evaluate(f"drystone.pick({names.index(block)})")
            page.evaluate(f"drystone.seek({len(answers.runs[0].frames) - 1})")
            page.wait_for_timeout(1000)
            page.screenshot(path=IMAGES / "page.png")
        with tempfile.TemporaryDirectory() as folder, served(browser, Studio(Path(folder)), "studio.html") as page:
            page.emulate_media(reduced_motion="reduce")
            page.wait_for_function("() => window.studio !== undefined")
            page.evaluate("studio.set('structure.blocks', 24)")
            page.evaluate("studio.settled()")
            page.wait_for_timeout(2000)
            page.screenshot(path=IMAGES / "studio.png")


@contextmanager
def served(browser: Any, site: Site, name: str) -> Iterator[Any]:
    """Open the page of a site."""
    with Server(site, name) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page(viewport=SIZE)
        page.set_default_timeout(300_000)
        page.goto(server.address)
        yield page
        page.close()
        server.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
