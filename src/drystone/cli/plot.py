"""`drystone plot`: curves of a run or a study."""

from pathlib import Path

from drystone.cli.words import print_json
from drystone.errors import InputError
from drystone.view import panels
from drystone.view.style import COLUMN, PAGE


def plot(
    folder: Path, out: Path | None, what: str, listed: bool, apart: bool, column: bool, frame: int, json: bool
) -> None:
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
