"""What commands say before they compute for the first time."""

from drystone.cli.words import say
from drystone.compiled import is_compiled


def announce_compiling() -> None:
    if not is_compiled():
        say("compiling kernels, once on this machine: a minute or two ...")
