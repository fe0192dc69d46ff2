"""`drystone compile`: all kernels, ahead of their use."""

from drystone.cli.words import cores, print_json, say
from drystone.compile_all import compile_all
from drystone.kernel.store import user_folder


def compile(jobs: int | None, json: bool) -> None:
    total, processes = 0, jobs or cores()
    say(f"compiling what has not been compiled yet; processes that compile: {processes}")
    for words, count in compile_all(processes):
        say(f"{words}: {count} kernels compiled now")
        total += count
    if json:
        print_json({"compiled_now": total, "folder": str(user_folder())})
    else:
        print(f"{total} kernels were compiled now; they are kept in {user_folder()}")
