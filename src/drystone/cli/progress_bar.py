"""A progress bar on standard error that follows the stages of an analysis."""

from collections.abc import Iterable

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from drystone.analysis.stages import Stage


def show_stage_progress(stages: Iterable[Stage]) -> None:
    with Progress(BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("starting", total=1.0)
        for stage in stages:
            bar.update(task, completed=stage.share, description=stage.words)
