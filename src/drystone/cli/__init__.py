"""The program `drystone`. commands.py names its commands, options.py says what may stand behind each, and each does its work in
a module of its own name, which is loaded when the command is called: help is there at once. entry.py turns what comes of a
command into an exit code."""

from drystone.cli.entry import main

__all__ = ["main"]
