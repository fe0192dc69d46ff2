"""The command that opens the studio."""

from pathlib import Path
from typing import Annotated

import typer

from drystone.cli.words import announce_compiling, app, say


@app.command()
def studio(
    source: Annotated[Path | None, typer.Argument(help="case (TOML) or geometry file to begin with")] = None,
    folder: Annotated[Path, typer.Option("--out", "-o", help="folder for saved cases and runs")] = Path(),
    port: Annotated[int, typer.Option(help="0 takes a free one")] = 0,
    browser: Annotated[bool, typer.Option(help="open it in the browser")] = True,
) -> None:
    """Build with sliders and see at once how it stands and fails."""
    from drystone.page.server import serve
    from drystone.page.studio import Studio

    announce_compiling()
    site = Studio(folder, source)
    try:
        serve(site, "studio.html", port=port, open_browser=browser, tell=_tell)
    finally:
        site.close()


def _tell(address: str) -> None:
    say(f"studio: {address} (Ctrl-C ends it)")
