"""The commands: words to functions, status to exit code (words.py). Rooms are imported by the command that needs them, so that
help is instant."""

# isort: off
from drystone.cli import structures, runs, records, studies, views, studios, pictures, exports  # in the order of the help
from drystone.cli.words import app, main

__all__ = ["app", "exports", "main", "pictures", "records", "runs", "structures", "studies", "studios", "views"]
