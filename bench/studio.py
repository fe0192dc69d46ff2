"""The studio: `python -m bench.studio` times the whole way from a slider to the new multiplier, in Chromium."""

import json
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np

from bench.browser import SIZE, chromium
from drystone.show.page.server import Server
from drystone.show.page.studio import Studio

TIMES = 9
SLIDERS: dict[str, tuple[dict[str, Any], str, list[Any]]] = {  # what is built first, the slider, where it goes
    "arch of 30, thickness": ({"structure.blocks": 30}, "structure.thickness", [f"{1.3 + 0.02 * k:g} m" for k in range(TIMES)]),
    "arch of 30, friction": ({"structure.blocks": 30}, "joints.friction", [0.6 + 0.01 * k for k in range(TIMES)]),
    "spandrel arch of 202, ring": ({"structure.generator": "spandrel-arch"}, "structure.ring",
                                   [f"{0.5 + 0.02 * k:g} m" for k in range(TIMES)]),
}  # fmt: skip


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for name, (first, slider, values) in SLIDERS.items():
            print(json.dumps({"slider": name, "milliseconds": round(median(browser, Path(folder), first, slider, values))}))


def median(browser: Any, folder: Path, first: dict[str, Any], slider: str, values: list[Any]) -> float:
    """[ms] of the moves of a slider."""
    site = Studio(folder)
    with Server(site, "studio.html") as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page(viewport=SIZE)
        page.set_default_timeout(300_000)
        page.goto(server.address)
        page.wait_for_function("() => window.studio !== undefined")
        for place, value in first.items():
            _moved(page, place, value)
        taken = [_moved(page, slider, value) for value in values]
        page.close()
        server.shutdown()
    site.close()
    return float(np.median(taken))


def _moved(page: Any, place: str, value: Any) -> float:
    """[ms] from a slider's move to its multiplier."""
    page.evaluate("([place, value]) => studio.set(place, value)", [place, value])
    return page.evaluate("studio.settled().then(() => studio.shown().milliseconds)")


if __name__ == "__main__":
    main()
