"""`drystone compile`: all kernels, ahead of their use."""

from drystone import kernel
from drystone.cli.words import print_json, say
from drystone.compile_all import compile_all
from drystone.kernel.store import user_folder


def compile(json: bool) -> None:
    for words in compile_all():
        say(f"compiling, where it was not yet: {words}")
    if json:
        print_json({"compiled_now": kernel.compilations(), "folder": str(user_folder())})
    else:
        print(f"{kernel.compilations()} kernels were compiled now; they are kept in {user_folder()}")
