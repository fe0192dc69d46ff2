"""The process of court.py: runs commands one after the other within its limits, and writes a line about each.

What turns out to be a valid study is not conducted: what it would compute is not asked here.
"""

import contextlib
import io
import json
import resource
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

MOST = 1_000_000  # [characters] that are told of what a command printed


class TooSlow(BaseException):
    """Not an Exception: no handler of the program takes it for its own."""


def main(orders: str, results: str) -> None:
    from drystone import cli
    from drystone.cli import studies
    from drystone.session import first_facts  # noqa: F401 (what most commands need is loaded before memory is counted)

    told = json.loads(Path(orders).read_text())
    signal.signal(signal.SIGALRM, _too_slow)
    studies._conduct = _valid
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + told["memory"]
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    with open(results, "a", encoding="utf-8") as file:
        for arguments in told["commands"]:
            file.write(json.dumps(_outcome(cli.main, arguments, told["patience"])) + "\n")
            file.flush()


def _outcome(command, arguments, patience):
    out, err, begin = io.StringIO(), io.StringIO(), time.monotonic()
    code = "returned"
    signal.setitimer(signal.ITIMER_REAL, patience)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("always")
            try:
                command(arguments)
            except SystemExit as ended:
                code = ended.code or 0
            except TooSlow:
                code = f"took more than {patience:g} s"
                err.write("\n".join(traceback.format_exc().splitlines()[-12:]))
            except BaseException:
                code = "a traceback"
                err.write(traceback.format_exc())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    seconds = time.monotonic() - begin
    return {"code": code, "out": out.getvalue()[:MOST], "err": err.getvalue()[-MOST:], "seconds": seconds}


def _too_slow(*_):
    raise TooSlow


def _valid(*_):
    print("{}")
    sys.exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
