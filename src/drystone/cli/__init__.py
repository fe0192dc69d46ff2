"""The commands: words to functions, status to exit code (words.py). Rooms are imported by the command that needs them, so that
help is instant."""

# isort: off
from drystone.cli import (  # noqa: F401 (each adds its commands, in the order of the help)
    structures, runs, records, studies, views, studios, pictures, plots, reports, exports, validations,
)  # fmt: skip
from drystone.cli.words import app, main

__all__ = ["app", "main"]
