"""The command that shows runs in a browser: view."""

from pathlib import Path
from typing import Annotated

import typer

from drystone.cli.words import Json, app, print_json


@app.command()
def view(
    runs: Annotated[list[Path], typer.Argument(help="folders of runs; several are shown side by side")],
    html: Annotated[Path | None, typer.Option(help="write one file that any browser opens offline, instead")] = None,
    port: Annotated[int, typer.Option(help="of the page; a free one if not given")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="open the page, or only print its address")] = True,
    json: Json = False,
) -> None:
    """Show runs in the browser, also while they are computed. Ctrl-C ends it."""
    if html is not None:
        _write(runs, html)
        size = html.stat().st_size
        return print_json({"html": str(html), "bytes": size}) if json else print(f"{html}: {size / 1e6:.3g} MB")

    from drystone.page.answers import Answers
    from drystone.page.server import serve

    def tell(address: str) -> None:
        print_json({"address": address}) if json else print(f"{address} (Ctrl-C ends it)", flush=True)

    serve(Answers(runs), "index.html", port=port, open_browser=browser, tell=tell)


def _write(runs: list[Path], html: Path) -> None:
    """With a bar on standard error."""
    from rich.console import Console
    from rich.progress import Progress

    from drystone.page.share import write_html

    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task(html.name, total=None)
        for done, of in write_html(runs, html):
            progress.update(task, completed=done, total=of)
