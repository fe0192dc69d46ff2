"""A worker process of a study: it computes the trials that it is sent, one after another, for as long as the study lives.

`ProcessWorkers` starts it and talks to it through its standard input and output, which are pipes between the two. The process
reads the task of the study and answers that it is ready; then it reads one trial at a time, a sample and its key, and answers
with what came of it. An answer is a pair: one of the words below, and an `Outcome` or the text of an error; all is pickled.
"""

import ctypes
import os
import pickle
import signal
import sys
import threading
from queue import SimpleQueue
from typing import Any, BinaryIO

READY, OUTCOME, ERROR = "ready", "outcome", "error"
PR_SET_PDEATHSIG = 1  # of Linux: the signal that a process gets when the thread that started it has ended


def main() -> None:
    """Called by the program that `ProcessWorkers` starts; does not return."""
    if sys.platform == "linux":  # `_read_trials` does the same, but not before the kernel that is running has ended
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a trial may print goes to standard error, and not between the answers
    try:
        compute = pickle.loads(pickle.load(sys.stdin.buffer))
    except EOFError:
        os._exit(0)
    except BaseException as error:
        _answer(answers, ERROR, _describe_error(error))
        os._exit(1)
    _answer(answers, READY, None)
    _compute_trials(compute, answers)


def _compute_trials(compute: Any, answers: BinaryIO) -> None:
    trials: SimpleQueue = SimpleQueue()
    threading.Thread(target=_read_trials, args=(trials,), daemon=True).start()
    while True:
        sample, key = trials.get()
        try:
            kind, content = OUTCOME, compute(sample, key)
        except BaseException as error:  # none of a trial, which makes them failed outcomes
            kind, content = ERROR, _describe_error(error)
        _answer(answers, kind, content)


def _read_trials(trials: SimpleQueue) -> None:
    """In a thread of its own, so that the process ends with the study also while it computes a trial."""
    try:
        while True:
            trials.put(pickle.load(sys.stdin.buffer))
    finally:
        os._exit(0)


def _answer(answers: BinaryIO, kind: str, content: Any) -> None:
    try:
        pickle.dump((kind, content), answers)
        answers.flush()
    except BrokenPipeError:  # there is no study any more
        os._exit(0)


def _describe_error(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
