"""A worker process of a study, which computes the trials that it is sent, one after another, until the study ends.

`ProcessWorkers` starts it and communicates with it through its standard input and output, which are pipes. The process reads
the task of the study and answers that it is ready. Then it reads one trial at a time, a sample and its key, and answers with
the outcome. An answer is a pair: one of the words below, and an `Outcome` or the text of an error. All messages are pickled.
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
PR_SET_PDEATHSIG = 1  # Linux: the signal that a process receives when the thread that started it ends


def main() -> None:
    """Run the worker; called by the program that `ProcessWorkers` starts. It does not return."""
    if sys.platform == "linux":  # `_read_trials` does the same, but not before the kernel that is running has ended
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output that a trial prints goes to standard error instead of into the answers
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
        except BaseException as error:  # not an error of the case: `run_trial` turns those into failed outcomes
            kind, content = ERROR, _describe_error(error)
        _answer(answers, kind, content)


def _read_trials(trials: SimpleQueue) -> None:
    """Read trials in a thread of its own, so that the process ends with the study even while it computes a trial."""
    try:
        while True:
            trials.put(pickle.load(sys.stdin.buffer))
    finally:
        os._exit(0)


def _answer(answers: BinaryIO, kind: str, content: Any) -> None:
    try:
        pickle.dump((kind, content), answers)
        answers.flush()
    except BrokenPipeError:  # the study has ended
        os._exit(0)


def _describe_error(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
