"""The program `drystone`. commands.py lists the commands, options.py declares the arguments and options of each, and each does
its work in a module of its own name. That module is loaded only when the command is called, so the help appears at once.
entry.py turns the outcome of a command into an exit code."""

from drystone.cli.entry import main

__all__ = ["main"]
