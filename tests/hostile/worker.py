"""The process of court.py: reads a command a line, runs it within its limits, and writes a line about it.

What turns out to be a valid study is not conducted, and a valid run ends soon: what would come of them is not asked here.
"""

import contextlib
import io
import itertools
import json
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

STEPS = 40  # of a run, at most
MOST = 1_000_000  # [characters] that are told of what a command printed


class TooSlow(BaseException):
    """Not an Exception: no handler of the program takes it for its own."""


def main(memory: int) -> None:
    from drystone import cli  # what most commands need is loaded before memory is counted
    from drystone.analysis import dynamics
    from drystone.cli import study

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # a C library may print what it likes
    signal.signal(signal.SIGPROF, _too_slow)
    study._run_or_resume = _valid
    simulated = dynamics.simulate_case
    dynamics.simulate_case = lambda *case: itertools.islice(simulated(*case), STEPS)
    limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for line in sys.stdin:
        answers.write(json.dumps(_outcome(cli.main, **json.loads(line))) + "\n")
        answers.flush()


def _outcome(command, arguments, patience):
    out, err, begin = io.StringIO(), io.StringIO(), time.process_time()
    code = "returned"
    signal.setitimer(signal.ITIMER_PROF, patience)
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
        signal.setitimer(signal.ITIMER_PROF, 0)
    seconds = time.process_time() - begin
    return {"code": code, "out": out.getvalue()[:MOST], "err": err.getvalue()[-MOST:], "seconds": seconds}


def _too_slow(*_):
    raise TooSlow


def _valid(*_):
    print("{}")
    sys.exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
