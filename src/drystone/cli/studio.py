"""`drystone studio`: build with sliders."""

from pathlib import Path

from drystone.cli.compiling import announce_compiling
from drystone.cli.words import say
from drystone.page.server import serve
from drystone.page.studio import Studio


def studio(source: Path | None, folder: Path, port: int, browser: bool) -> None:
    announce_compiling()
    site = Studio(folder, source)
    try:
        serve(site, "studio.html", port=port, open_browser=browser, tell=_tell)
    finally:
        site.close()


def _tell(address: str) -> None:
    say(f"studio: {address} (Ctrl-C ends it)")
