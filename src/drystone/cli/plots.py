"""The command that draws curves: plot."""

from pathlib import Path
from typing import Annotated

import typer

from drystone.cli.words import Json, app, print_json
from drystone.errors import InputError


@app.command()
def plot(
    folder: Annotated[Path, typer.Argument(help="folder of a run or of a study")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="PNG, SVG or PDF file")] = None,
    what: Annotated[str, typer.Option(help='what to draw, as "energy,blocks=12:14"; the usual if not given')] = "",
    listed: Annotated[bool, typer.Option("--list", help="tell what this run or study has")] = False,
    apart: Annotated[bool, typer.Option("--apart", help="a file for each: plot-energy.pdf, ...")] = False,
    column: Annotated[bool, typer.Option("--column", help="as narrow as a column of a paper")] = False,
    frame: Annotated[int, typer.Option(help="of forces and thrust, from the end if negative; the last if not given")] = -1,
    json: Json = False,
) -> None:
    """Draw curves of a run or a study: histories, energies, domains ..."""
    from drystone.view import panels
    from drystone.view.style import COLUMN, PAGE

    source = panels.open_source(folder, frame)
    if listed:
        there = {name: panels.PANELS[name].words for name in panels.offered(source)}
        return print_json({"what": there}) if json else print("\n".join(f"{name:14}{words}" for name, words in there.items()))
    if out is None:
        raise InputError("give a file: drystone plot out -o plot.pdf, or --list to see what there is")
    asked = panels.read_asked(what, source)
    files = {out: asked}
    if apart:
        files = {out.with_stem(f"{out.stem}-{k}-{each.name}"): [each] for k, each in enumerate(asked, 1)}
    for path, wanted in files.items():
        panels.plot(source, wanted, path, COLUMN if column else PAGE)
    facts = {"plots": [str(path) for path in files], "what": [each.name for each in asked]}
    print_json(facts) if json else print("\n".join(facts["plots"]))
