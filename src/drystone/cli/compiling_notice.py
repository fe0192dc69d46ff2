"""The notice that a command prints before kernels are compiled."""

from drystone.base import kernel
from drystone.cli.output import print_status


def show_compiling_notice() -> None:
    """Print a notice if and when a kernel is about to be compiled."""
    kernel.announce_compiling(lambda: print_status("compiling kernels, once on this machine: a minute or two ..."))
