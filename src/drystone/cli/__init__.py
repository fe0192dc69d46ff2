"""The commands: words to functions, status to exit code (words.py). Rooms are imported by the command that needs them, so that
help is instant."""

# isort: off
from drystone.cli import structures, runs, records, studies, pictures, plots, reports, views, studios  # in help's order
from drystone.cli.words import app, main

__all__ = ["app", "main", "pictures", "plots", "records", "reports", "runs", "structures", "studies", "studios", "views"]
