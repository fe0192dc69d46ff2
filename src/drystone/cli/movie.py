"""`drystone movie`: make a movie of a run."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TimeRemainingColumn

from drystone.cli.output import print_json
from drystone.cli.picture_options import DEFAULT_SIZE, parse_size, without_none
from drystone.results.store.run_reader import read_run
from drystone.show.pictures import movie as movies


def movie(source: Path, out: Path, size: str | None, json: bool, **options: Any) -> None:
    """`options`: the options of the same name of `drystone.show.pictures.movie.movie`; None means not given."""
    with Progress(BarColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=1.0)
        watch = lambda share: bar.update(task, completed=share)  # noqa: E731
        pixels = parse_size(size or DEFAULT_SIZE)
        count = movies.movie(read_run(source), out, size=pixels, on_progress=watch, **without_none(options))
    print_json({"movie": str(out), "images": count}) if json else print(out)
