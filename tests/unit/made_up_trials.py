"""Trials without mechanics, for the tests of workers; a module of its own, so that worker processes have little to import."""

import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace

from drystone.study.trial_records import STANDING, Outcome


def about_itself(sample, key):
    from drystone.base.kernel.helper_threads import default_threads

    print("what a trial prints does not come between the answers")
    ignores = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    return Outcome(STANDING, key, {"pid": os.getpid(), "cores": default_threads(), "ignores": ignores}, 0.0)


def slow(sample, key):
    time.sleep(sample["seconds"])
    return Outcome(STANDING, key, {}, sample["seconds"])


def endless(sample, key):
    Path(sample["mark"]).touch()
    while True:
        time.sleep(1)


def poisoned(sample, key):
    """A trial that kills its worker, always or the first time only."""
    if sample["kill"] == "always" or (sample["kill"] == "once" and not os.path.exists(sample["mark"])):
        Path(sample["mark"]).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return Outcome(STANDING, "made up", {"number": sample["number"]}, 0.0)


def broken(sample, key):
    raise OSError("the disk is gone")


def given_up_by_dask(sample, key):
    from distributed.scheduler import KilledWorker

    raise KilledWorker("key", SimpleNamespace(address="tcp://127.0.0.1:1"), 2)
