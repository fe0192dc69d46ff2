"""`drystone view`: show runs in the browser."""

from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from drystone.cli.output import print_json
from drystone.show.page.answers import RunAnswers
from drystone.show.page.server import serve
from drystone.show.page.shared_file import write_html


def view(runs: list[Path], html: Path | None, port: int, browser: bool, json: bool) -> None:
    if html is not None:
        _write(runs, html)
        size = html.stat().st_size
        return print_json({"html": str(html), "bytes": size}) if json else print(f"{html}: {size / 1e6:.3g} MB")

    def print_address(address: str) -> None:
        print_json({"address": address}) if json else print(f"{address} (Ctrl-C ends it)", flush=True)

    serve(RunAnswers(runs), "index.html", port=port, open_browser=browser, announce=print_address)


def _write(runs: list[Path], html: Path) -> None:
    """Write the page into one file, with a progress bar on standard error."""
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task(html.name, total=None)
        for done, total in write_html(runs, html):
            progress.update(task, completed=done, total=total)
