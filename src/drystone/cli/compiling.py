"""What commands say when they compute for the first time."""

from drystone import kernel
from drystone.cli.words import say


def announce_compiling() -> None:
    """Have it said if and when a kernel is about to be compiled."""
    kernel.announce_compiling(lambda: say("compiling kernels, once on this machine: a minute or two ..."))
