"""`drystone plot`: plot curves of a run or a study."""

from pathlib import Path

from drystone.base.errors import InputError
from drystone.cli.output import print_json
from drystone.show.plots import panels
from drystone.show.plots.style import COLUMN_WIDTH, PAGE_WIDTH


def plot(folder: Path, out: Path | None, what: str, listed: bool, apart: bool, column: bool, frame: int, json: bool) -> None:
    source = panels.open_source(folder, frame)
    if listed:
        available = {name: panels.PANELS[name].description for name in panels.available_panels(source)}
        lines = [f"{name:14}{words}" for name, words in available.items()]
        return print_json({"what": available}) if json else print("\n".join(lines))
    if out is None:
        raise InputError("give a file: drystone plot out -o plot.pdf, or --list to see what can be plotted")
    chosen = panels.read_requests(what, source)
    files = {out: chosen}
    if apart:
        files = {out.with_stem(f"{out.stem}-{k}-{each.name}"): [each] for k, each in enumerate(chosen, 1)}
    for path, selected in files.items():
        panels.plot(source, selected, path, COLUMN_WIDTH if column else PAGE_WIDTH)
    summary = {"plots": [str(path) for path in files], "what": [each.name for each in chosen]}
    print_json(summary) if json else print("\n".join(summary["plots"]))
