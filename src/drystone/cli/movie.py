"""`drystone movie`: a movie of a run."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TimeRemainingColumn

from drystone.cli.looks import SIZE, given, pixels
from drystone.cli.words import print_json
from drystone.record import read_run
from drystone.view import movie as making


def movie(source: Path, out: Path, size: str | None, json: bool, **options: Any) -> None:
    """`options`: those of the same name of `drystone.view.movie.movie`; None is not given."""
    with Progress(BarColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=1.0)
        watch = lambda share: bar.update(task, completed=share)  # noqa: E731
        count = making.movie(read_run(source), out, size=pixels(size or SIZE), watch=watch, **given(options))
    print_json({"movie": str(out), "images": count}) if json else print(out)
