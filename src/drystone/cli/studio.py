"""`drystone studio`: build a structure with sliders in the browser."""

from pathlib import Path

from drystone.cli.compiling_notice import show_compiling_notice
from drystone.cli.output import print_status
from drystone.show.page.server import serve
from drystone.show.page.studio import Studio


def studio(source: Path | None, folder: Path, port: int, browser: bool) -> None:
    show_compiling_notice()
    site = Studio(folder, source)
    try:
        serve(site, "studio.html", port=port, open_browser=browser, announce=_print_address)
    finally:
        site.close()


def _print_address(address: str) -> None:
    print_status(f"studio: {address} (Ctrl-C ends it)")
